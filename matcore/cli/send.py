"""`mat send`: a message from the human to a role."""

from __future__ import annotations

import sys
import time

import click

from matcore.cli.common import echo_json, echo_said, json_option, live_book, places, role_of
from matcore.engine import heartbeat
from matcore.engine.jobs import places_of
from matcore.errors import Refused
from matcore.said import human_relay

TAKE_UP_S = 5.0


@click.command()
@click.argument("session")
@click.argument("role")
@click.argument("text")
@json_option
def command(session: str, role: str, text: str, as_json: bool) -> None:
    """A message from you to a role; TEXT `-` reads it from standard input.

    It sets an open episode back to its first rung, and it is no progress: only a handoff or a cycle's end is."""
    state = places()
    book = live_book(state, session)
    role_of(book, role)
    root = places_of(book.ledger).root
    book.close()
    body = sys.stdin.read() if text == "-" else text
    if not body.strip():
        raise Refused("the message is empty; nothing sent")
    message, seq = human_relay(str(root), str(state.spool), session, role, body)
    until = time.monotonic() + TAKE_UP_S
    waits = True
    while waits and heartbeat.alive(state) and time.monotonic() < until:
        waits = any((state.spool / "new").glob("*.json"))
        time.sleep(0.02)
    if as_json:
        echo_json({"message": message, "seq": seq, "to": role, "taken_up": not waits})
    else:
        echo_said(not waits, f"sent {message} to {role} (#{seq})")
