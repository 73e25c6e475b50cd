"""`mat send`: a message from the human to a role."""

from __future__ import annotations

import sys
import time

import click

from matcore.cli.common import CHECK_S, TAKE_UP_S, echo_json, echo_said, json_option, live_book, places, role_of
from matcore.cli.naming import role_argument, session_argument
from matcore.errors import Refused
from matcore.places import StatePlaces


@click.command()
@session_argument()
@role_argument()
@click.argument("text")
@json_option
def command(session: str, role: str, text: str, as_json: bool) -> None:
    """A message from you to a role; TEXT `-` reads it from standard input.

    It sets an open episode back to its first rung, and it is no progress: only a handoff or a cycle's end is."""
    from matcore.said import human_relay

    state = places()
    book = live_book(state, session)
    with book.journal:
        role_of(book, role)
    body = _stdin() if text == "-" else text
    if not body.strip():
        raise Refused("the message is empty; nothing sent")
    message, seq = human_relay(str(book.ledger.places.root), str(state.spool), session, role, body)
    taken = taken_up(state, session, book.seq, seq)
    if as_json:
        echo_json({"message": message, "seq": seq, "to": role, "taken_up": taken})
    else:
        echo_said(taken, f"sent {message} to {role} (#{seq})")


def _stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise Refused(f"the message is not UTF-8 (byte {error.start + 1}); nothing sent") from error


def taken_up(state: StatePlaces, session: str, after: int, seq: int) -> bool:
    """Whether the relay of that number stands in the journal in a few seconds; without a supervisor at once."""
    from matcore.engine import heartbeat
    from matcore.engine.journal import Journal

    until = time.monotonic() + TAKE_UP_S
    with Journal.read(state.journal(session)) as journal:
        while True:
            if any(e.data.get("seq") == seq for e in journal.entries(after=after, names=["relay.sent"])):
                return True
            if not heartbeat.alive(state) or time.monotonic() > until:
                return False
            time.sleep(CHECK_S)
