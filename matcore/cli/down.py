"""`mat down`: ends a session."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from matcore.cli.common import book_of, echo_json, echo_lines, journal_of, json_option, live_book, places, say
from matcore.cli.naming import session_argument
from matcore.errors import Refused, Unavailable
from matcore.places import StatePlaces
from matcore.show.text import plain, short
from matcore.words import again

if TYPE_CHECKING:
    from matcore.engine.ledger import Ledger, Relay

ENDS_WITHIN_S = 20.0
_MOST = 120


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
    book = book_of(state, session)
    book.close()
    if as_json:
        ledger = book.ledger
        left = [relay.id for relay in _not_delivered(ledger)]
        echo_json({"session": session, "ended": True, "cycle": ledger.cycle, "not_delivered": left})
    else:
        click.echo(f"{session} has ended; its journal stays: mat log {session}")
        echo_lines(_left_open(book.ledger))


def _left_open(ledger: Ledger) -> Iterator[str]:
    """What had not come to its end, and how it goes on."""
    if ledger.cycle is not None:
        yield f"Left open: {plain(ledger.cycle)}{f', {short(ledger.goal, _MOST)}' if ledger.goal else ''}"
    ways = [f"{relay.id} from {relay.sender} to {relay.to}" for relay in _not_delivered(ledger)]
    if ways:
        yield f"Not delivered: {plain(', '.join(ways))}"
    yield f"Start anew, with fresh agents: {plain(again.up(ledger.workdir))}"


def _not_delivered(ledger: Ledger) -> list[Relay]:
    return [relay for relay in ledger.relays.values() if relay.status in ("pending", "undeliverable")]


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
