"""`mat pause`: holds the ladder."""

from __future__ import annotations

import click

from matcore.cli.common import echo_said, live_book, places, say, session_argument


@click.command()
@session_argument()
@click.option("--for", "for_", metavar="DURATION", help="Resume by itself after that long, for example 2h.")
def command(session: str, for_: str | None) -> None:
    """Hold the ladder: nobody is woken until `mat resume`, or until the time given with --for is over.

    A pause without an end is asked about once, after three windows in which the ladder would have acted."""
    from matcore.engine.configchecks import duration_s

    state = places()
    live_book(state, session).close()
    record: dict[str, object] = {"session": session, "fact": "human.paused"}
    if for_ is not None:
        record["for_s"] = duration_s(for_)
    taken = say(state, record)
    echo_said(taken, f"{session} is paused" + (f" for {for_}" if for_ else f" until: mat resume {session}"))
