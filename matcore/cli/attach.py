"""`mat attach`: shows a session to a person; nothing is typed by it."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from matcore.cli.common import live_book, places, role_of
from matcore.engine.drivers import make
from matcore.engine.registry import spec_of
from matcore.places import StatePlaces


@click.command()
@click.argument("session")
@click.argument("role", required=False)
@click.option("--print", "only_print", is_flag=True, help="Print the command instead of running it.")
def command(session: str, role: str | None, only_print: bool) -> None:
    """Show a session's windows (a role's first), one key apart."""
    if only_print:
        click.echo(" ".join(attach_argv(places(), session, role)))
    else:
        attach(places(), session, role)


def attach(state: StatePlaces, session: str, role: str | None) -> None:
    """Become the program that shows the session."""
    argv = attach_argv(state, session, role)
    os.execvp(argv[0], list(argv))


def attach_argv(state: StatePlaces, session: str, role: str | None) -> Sequence[str]:
    """The command that shows the session. Raises `Refused` for a session or role that is not there."""
    book = live_book(state, session)
    if role is not None:
        role_of(book, role)
    spec = spec_of(book.ledger)
    driver = make(book.ledger.config["driver"], spec.options)
    driver.adopt(spec, {name: seat.identity for name, seat in book.ledger.seats.items()})
    book.close()
    return driver.attach(session, role)
