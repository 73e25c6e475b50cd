"""`mat attach`: shows a session to a person; nothing is typed by it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

import click

from matcore.cli.common import live_book, places, role_of
from matcore.cli.naming import role_argument, session_argument, the_only
from matcore.errors import Unavailable
from matcore.places import StatePlaces


@click.command()
@session_argument(required=False)
@role_argument(required=False)
@click.option("--print", "only_print", is_flag=True, help="Print the command instead of running it.")
def command(session: str | None, role: str | None, only_print: bool) -> None:
    """Show a session's windows (a role's first), one key apart: Ctrl-b n for the next, Ctrl-b d to leave them alone."""
    name = session or the_only(places())
    if only_print:
        click.echo(shlex.join(attach_argv(places(), name, role)))
    else:
        attach(places(), name, role)


def attach(state: StatePlaces, session: str, role: str | None) -> None:
    """Become the program that shows the session."""
    argv = attach_argv(state, session, role)
    try:
        os.execvp(argv[0], list(argv))
    except OSError as error:
        raise Unavailable(f"{argv[0]} can't be started: {error.strerror}; see: mat doctor") from error


def attach_argv(state: StatePlaces, session: str, role: str | None) -> Sequence[str]:
    """The command that shows the session. Raises `Refused` for a session or role that is not there."""
    from matcore.engine.drivers import make
    from matcore.engine.registry import spec_of

    book = live_book(state, session)
    if role is not None:
        role_of(book, role)
    spec = spec_of(book.ledger)
    driver = make(book.ledger.config["driver"], spec.options)
    driver.adopt(spec, {name: seat.identity for name, seat in book.ledger.seats.items()})
    book.close()
    return driver.attach(session, role)
