"""`mat restart`: starts one role's agent anew."""

from __future__ import annotations

import time

import click

from matcore.cli.common import echo_json, json_option, live_book, places, role_of, say
from matcore.cli.naming import role_argument, session_argument
from matcore.errors import Refused, Unavailable
from matcore.show.text import plain

WITHIN_S = 30.0


@click.command()
@session_argument()
@role_argument()
@json_option
def command(session: str, role: str, as_json: bool) -> None:
    """End what runs in a role's seat and start its agent anew, resuming its agent session where the program can."""
    from matcore.engine import guard

    state = places()
    book = live_book(state, session)
    role_of(book, role)
    seq = book.journal.last_seq
    guard.start(state)
    say(state, {"session": session, "request": "restart", "role": role})
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        guard.start(state)
        for entry in book.journal.entries(after=seq, names=["engine.seat", "engine.restart_failed"]):
            if entry.data.get("role") == role:
                if entry.name == "engine.restart_failed":
                    raise Refused(plain(f"{role} could not be started: {entry.data.get('reason')}; see: mat doctor"))
                _say(session, role, as_json)
                return
        time.sleep(0.05)
    raise Unavailable(f"{role} was not started within {WITHIN_S:g} s; see {state.log}")


def _say(session: str, role: str, as_json: bool) -> None:
    if as_json:
        echo_json({"session": session, "role": role, "restarted": True})
    else:
        click.echo(f"{role} was started anew")
