"""`mat cycle` by a human, who names the session. An agent's call is answered by `matcore.said_cycle`, without click."""

from __future__ import annotations

import click

from matcore.cli.common import echo_json, live_book, places, say
from matcore.cli.naming import SessionName
from matcore.errors import Refused

_SESSION = click.option(
    "--session",
    type=SessionName(),
    metavar="SESSION",
    required=True,
    help="The session; an agent's own is known from its environment.",
)


@click.group()
def command() -> None:
    """Open, complete or block a cycle: one unit of work. stdout is one compact JSON object.

    In an agent's shell the session is known; elsewhere name it with --session. A goal that is opened with --goal is
    told to nobody: say it with mat send."""


@command.command("open")
@_SESSION
@click.option("--goal", help="What this cycle is to reach.")
def open_(session: str, goal: str | None) -> None:
    """Open a cycle; one that is open ends by that, with all its debts."""
    _say(session, "cycle.opened", goal=goal)


@command.command()
@_SESSION
@click.option("--reason", help="What was reached.")
def complete(session: str, reason: str | None) -> None:
    """End the open cycle: its goal is reached. By a human no wrap-up is asked for."""
    _say(session, "cycle.completed", reason=reason)


@command.command()
@_SESSION
@click.option("--reason", help="What stands in the way.")
def blocked(session: str, reason: str | None) -> None:
    """End the open cycle: it can't go on."""
    _say(session, "cycle.blocked", reason=reason)


def _say(session: str, event: str, **said: str | None) -> None:
    state = places()
    book = live_book(state, session)
    cycle = book.ledger.cycle
    book.close()
    about: dict[str, str] = {key: value for key, value in said.items() if value is not None}
    if event != "cycle.opened":
        if cycle is None:
            raise Refused(f"no cycle is open in {session}; open one: mat cycle open --session {session} --goal TEXT")
        about["cycle"] = cycle
    taken = say(state, {"session": session, "fact": event, **about})
    waits = {} if taken else {"waits_for": "supervisor"}
    echo_json({"event": event, "by": "human", **about, **waits})
