"""`mat attach`: shows a session to a person; nothing is typed by it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

import click

from matcore.cli.common import echo_json, live_book, places, role_of
from matcore.cli.naming import role_argument, session_argument, the_only
from matcore.errors import BadConfig, Unavailable
from matcore.places import StatePlaces
from matcore.show.text import plain

FOLLOW = "--follow"
"""What `baton.follow` takes, too."""
ON_A_TERMINAL = ("tmux",)
"""Drivers whose windows can't be shown anywhere else; the logs of others can."""


@click.command()
@session_argument(required=False)
@role_argument(required=False)
@click.option("-f", FOLLOW, is_flag=True, help="Follow the logs of headless turns without a terminal, too.")
@click.option("--print", "only_print", is_flag=True, help="Print the command instead of running it.")
@click.option("--json", "as_json", is_flag=True, help="With --print: one JSON object, keys as in docs/json.md.")
def command(session: str | None, role: str | None, follow: bool, only_print: bool, as_json: bool) -> None:
    """Show a session's windows (a role's first), one key apart: Ctrl-b n for the next, Ctrl-b d to leave them alone.

    Of headless roles (driver: baton) the logs of their turns: on a terminal, or with -f, until Ctrl-C or the end
    of the session; else the newest turn of each as it is."""
    if as_json and not only_print:
        raise BadConfig(["--json goes with --print: without it this becomes the program that shows the session"])
    state = places()
    name = session or the_only(state, ended_too=False)
    driver, argv = attach_argv(state, name, role)
    if follow and driver not in ON_A_TERMINAL:
        argv = [*argv, FOLLOW]
    if as_json:
        echo_json({"session": name, "driver": driver, "argv": list(argv)})
    elif only_print:
        click.echo(shlex.join(argv))
    else:
        need_terminal(driver, name)
        _become(argv)


def attach(state: StatePlaces, session: str, role: str | None) -> None:
    """Become the program that shows the session."""
    driver, argv = attach_argv(state, session, role)
    need_terminal(driver, session)
    _become(argv)


def need_terminal(driver: str, session: str) -> None:
    """Raises `BadConfig` where that driver's windows can't be shown."""
    if driver in ON_A_TERMINAL and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadConfig(
            [
                f"the windows of {plain(session)} are shown on a terminal, and this is none; "
                f"the command for one: mat attach {plain(session)} --print; what happens: mat log {plain(session)} -f"
            ]
        )


def _become(argv: Sequence[str]) -> None:
    try:
        os.execvp(argv[0], list(argv))
    except OSError as error:
        raise Unavailable(f"{argv[0]} can't be started: {error.strerror}; see: mat doctor") from error


def attach_argv(state: StatePlaces, session: str, role: str | None) -> tuple[str, Sequence[str]]:
    """The session's driver, and the command that shows it. Raises `Refused` for a session or role that is not there."""
    from matcore.engine.drivers import make
    from matcore.engine.registry import spec_of

    book = live_book(state, session)
    if role is not None:
        role_of(book, role)
    spec = spec_of(book.ledger)
    name = book.ledger.config["driver"]
    driver = make(name, spec.options)
    driver.adopt(spec, {name: seat.identity for name, seat in book.ledger.seats.items()})
    book.close()
    return name, driver.attach(session, role)
