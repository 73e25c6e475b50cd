"""`mat cycle` by a human, who names the session. An agent's call is answered by `matcore.said_cycle`, without click."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from matcore.cli.common import echo_json, journal_of, json_always, live_book, places, role_of, say
from matcore.cli.naming import RoleName, SessionName
from matcore.errors import BadConfig, Refused
from matcore.places import StatePlaces
from matcore.rules import view
from matcore.show.text import plain

if TYPE_CHECKING:
    from matcore.engine.book import Book

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

    In an agent's shell the session is known; elsewhere name it with --session. A goal that you open with --goal is said
    to a role, one that an agent opens to nobody."""


@command.command("open")
@_SESSION
@click.option("--goal", help="What this cycle is to reach. It is said to a role as a message from you.")
@click.option("--to", "to", type=RoleName(), metavar="ROLE", help="Whom it is said to.")
@json_always
def open_(session: str, goal: str | None, to: str | None) -> None:
    """Open a cycle; one that is open ends by that, with all its debts.

    The goal is said to the role that held the baton, else to the first one, unless --to names another; without --goal
    nobody is told anything, and the cycle has no goal. An agent's own opening tells nobody either: it knows its
    goal. Which cycle was replaced is said."""
    state = places()
    book = live_book(state, session)
    with book.journal:
        told = _begins(book, to)
    if goal is None:
        if to is not None:
            raise BadConfig(["--to names whom the goal is said to; say the goal: --goal TEXT"])
        example = f"mat send {session} {told} TEXT"
        click.echo(f"note: no goal was named, so nobody is told what to do; say it: {plain(example)}", err=True)
        _say(session, "cycle.opened")
    elif not goal.strip():
        raise BadConfig(["--goal is empty; say what is to be reached"])
    else:
        _say(session, "cycle.opened", goal=goal, tell=told)


def _begins(book: Book, to: str | None) -> str:
    """The role that a new goal is said to. Raises `Refused` for a name that is none."""
    if to is not None:
        return role_of(book, to)
    debt = view.debt(book.state)
    return debt.role if debt is not None else next(iter(book.ledger.config["roles"]))


@command.command()
@_SESSION
@click.option("--reason", help="What was reached.")
@json_always
def complete(session: str, reason: str | None) -> None:
    """End the open cycle: its goal is reached. By a human no wrap-up is asked for."""
    _say(session, "cycle.completed", reason=reason)


@command.command()
@_SESSION
@click.option("--reason", help="What stands in the way.")
@json_always
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
    told = {"told": about.pop("tell")} if "tell" in about else {}
    waits = {} if taken else {"waits_for": "supervisor"}
    replaced = _replaced(state, session, cycle, taken) if event == "cycle.opened" else {}
    echo_json({"event": event, "by": "human", **about, **replaced, **told, **waits})


def _replaced(state: StatePlaces, session: str, before: str | None, taken: bool) -> dict[str, str]:
    """`cycle`: the new one, once it is taken up; `replaced`: the one that was open until then, which is said, too."""
    opened = {}
    if taken:
        with journal_of(state, session) as journal:
            [newest] = journal.tail(1, names=["cycle.opened"])
        opened = {"cycle": str(newest.data["cycle"])}
    if before is None:
        return opened
    how = f"was replaced by {plain(opened['cycle'])}" if opened else "is replaced as soon as this is taken up"
    click.echo(f"note: {plain(before)} {how}; nothing of it is owed any more", err=True)
    return {**opened, "replaced": before}
