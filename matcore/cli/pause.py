"""`mat pause`: holds the ladder."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from matcore.cli.common import echo_json, echo_said, json_option, live_book, places, say
from matcore.cli.naming import session_argument

if TYPE_CHECKING:
    from matcore.engine.journal import Journal


@click.command()
@session_argument()
@click.option("--for", "for_", metavar="DURATION", help="Resume by itself after that long, for example 2h.")
@json_option
def command(session: str, for_: str | None, as_json: bool) -> None:
    """Hold the ladder: nobody is woken until `mat resume`, or until the time given with --for is over.

    A pause without an end is asked about once, after three windows in which the ladder would have acted."""
    from matcore.engine.configchecks import duration_s

    state = places()
    book = live_book(state, session)
    with book.journal as journal:
        already = is_paused(journal)
    for_s = None if for_ is None else duration_s(for_)
    taken = say(state, {"session": session, "fact": "human.paused", **({} if for_s is None else {"for_s": for_s})})
    if as_json:
        said = {"session": session, "paused": True, "was_paused": already, "for_s": for_s, "taken_up": taken}
        echo_json(said)
    else:
        before = " was paused already; it is now" if already else " is"
        echo_said(taken, f"{session}{before} paused" + (f" for {for_}" if for_ else f" until: mat resume {session}"))


def is_paused(journal: Journal) -> bool:
    """Whether the newest word on it is a pause, and its end, if it names one, is not over."""
    said = journal.tail(1, names=["human.paused", "human.resumed"])
    if not said or said[0].name != "human.paused":
        return False
    until, at = said[0].data.get("until"), said[0].at
    return not isinstance(until, int | float) or time.time() - said[0].wall < until - at
