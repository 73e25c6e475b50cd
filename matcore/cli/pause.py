"""`mat pause`: holds the ladder."""

from __future__ import annotations

import click

from matcore.cli.common import echo_json, echo_said, json_option, live_book, places, say
from matcore.cli.naming import session_argument


@click.command()
@session_argument()
@click.option("--for", "for_", metavar="DURATION", help="Resume by itself after that long, for example 2h.")
@json_option
def command(session: str, for_: str | None, as_json: bool) -> None:
    """Hold the ladder: nobody is woken until `mat resume`, or until the time given with --for is over.

    A pause without an end is asked about once, after three windows in which the ladder would have acted."""
    from matcore.engine.configchecks import duration_s

    state = places()
    live_book(state, session).close()
    for_s = None if for_ is None else duration_s(for_)
    taken = say(state, {"session": session, "fact": "human.paused", **({} if for_s is None else {"for_s": for_s})})
    if as_json:
        echo_json({"session": session, "paused": True, "for_s": for_s, "taken_up": taken})
    else:
        echo_said(taken, f"{session} is paused" + (f" for {for_}" if for_ else f" until: mat resume {session}"))
