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
    """End what runs in a role's seat, a turn too, and start its agent again in the same agent session.

    Where there is nothing to resume it begins a new one, and says so. It is an act of yours, as a message is."""
    from matcore.engine import guard

    state = places()
    book = live_book(state, session)
    role_of(book, role)
    seat, seq = book.ledger.seats.get(role), book.journal.last_seq
    before = seat.agent_session if seat is not None else None
    guard.start(state)
    say(state, {"session": session, "request": "restart", "role": role})
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        guard.start(state)
        for entry in book.journal.entries(after=seq, names=["engine.seat", "engine.restart_failed"]):
            if entry.data.get("role") == role:
                if entry.name == "engine.restart_failed":
                    raise Refused(plain(f"{role} could not be started: {entry.data.get('reason')}; see: mat doctor"))
                seated = entry.data.get("seat")
                now = seated.get("agent_session") if isinstance(seated, dict) else None
                _say(session, role, str(now) if now else None, resumed=bool(now) and now == before, as_json=as_json)
                return
        time.sleep(0.05)
    raise Unavailable(
        f"{role} was not restarted within {WITHIN_S:g} s; it is asked for, and done once the supervisor answers; "
        f"see: mat doctor, and {state.log}"
    )


def _say(session: str, role: str, agent_session: str | None, *, resumed: bool, as_json: bool) -> None:
    if as_json:
        about = {"resumed": resumed, "agent_session": agent_session}
        echo_json({"session": session, "role": role, "restarted": True, **about})
    elif resumed:
        click.echo(f"{role} was restarted and goes on in its agent session {plain(agent_session)}")
    else:
        named = f" {plain(agent_session)}" if agent_session else ""
        click.echo(
            f"{role} was restarted in a new agent session{named}, for there was nothing to resume; "
            f"say what is to be done: mat send {session} {role} TEXT"
        )
