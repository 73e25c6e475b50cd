"""`mat down`: ends a session."""

from __future__ import annotations

import time

import click

from matcore.cli.common import echo_json, journal_of, json_option, live_book, places, say
from matcore.cli.naming import session_argument
from matcore.errors import Refused, Unavailable
from matcore.places import StatePlaces

ENDS_WITHIN_S = 20.0


@click.command()
@session_argument()
@click.option("--now", is_flag=True, help="Also while a turn runs.")
@json_option
def command(session: str, now: bool, as_json: bool) -> None:
    """End a session: its agents, its windows, its watch. Its journal and its handoffs stay.

    Refuses while a turn runs, unless --now."""
    state = places()
    book = live_book(state, session)
    busy = [role for role, seen in book.ledger.roles.items() if seen.status == "busy"]
    book.close()
    if busy and not now:
        raise Refused(f"{', '.join(busy)} is in the middle of a turn; wait, or: mat down {session} --now")
    down(state, session)
    if as_json:
        echo_json({"session": session, "ended": True})
    else:
        click.echo(f"{session} has ended; its journal stays: mat log {session}")


def down(state: StatePlaces, session: str) -> None:
    """End a session and wait until the journal says so. Raises `Unavailable` when that takes too long."""
    from matcore.engine import guard

    with journal_of(state, session) as journal:
        seq = journal.last_seq
    guard.start(state)
    say(state, {"session": session, "request": "down"})
    until = time.monotonic() + ENDS_WITHIN_S
    while True:
        guard.start(state)
        with journal_of(state, session) as journal:
            if any(journal.entries(after=seq, names=["engine.down"])):
                return
        if time.monotonic() > until:
            raise Unavailable(
                f"{session} has not ended after {ENDS_WITHIN_S:g} s; it is asked for, and done once the supervisor "
                f"answers; see: mat doctor, and {state.log}"
            )
        time.sleep(0.05)
