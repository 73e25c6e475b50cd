"""What several commands share: finding sessions, reading them, and saying something that the loop takes up.

Imports little, for `mat COMMAND --help` and a shell that completes a name wait for it.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from matcore.errors import Refused, Unavailable
from matcore.places import StatePlaces, state_dir
from matcore.show.text import json_line, plain

if TYPE_CHECKING:
    from matcore.engine.book import Book
    from matcore.engine.journal import Journal

TAKE_UP_S = 5.0
CHECK_S = 0.02


def places() -> StatePlaces:
    """The user's state folder. Raises `Unavailable` where this user has no home and names none."""
    try:
        return StatePlaces(state_dir())
    except RuntimeError as error:
        raise Unavailable("this user has no home directory; name a state folder with XDG_STATE_HOME") from error


def known(state: StatePlaces) -> list[str]:
    """The sessions that have a journal, put-aside ones (`name@1`) included. Raises `Unavailable`."""
    try:
        return sorted(path.parent.name for path in state.sessions.glob("*/journal.db"))
    except OSError as error:
        raise Unavailable(f"{state.sessions} can't be read: {error.strerror}; see: mat doctor") from error


def exists(state: StatePlaces, session: str) -> str:
    """`session`, if there is one of that name. Raises `Refused` otherwise, with the nearest name."""
    names = known(state)
    if session not in names:
        close = difflib.get_close_matches(session, names, n=1)
        hint = (
            f'; did you mean "{plain(close[0])}"?' if close else "; see: mat status" if names else "; start one: mat up"
        )
        raise Refused(f'there is no session "{plain(session)}"{hint}')
    return session


def the_only(state: StatePlaces) -> str:
    """The one session there is, or the one that has not ended. Raises `Refused` when it has to be named."""
    names = known(state)
    if len(names) > 1:
        names = [name for name in names if "@" not in name and not _has_ended(state, name)] or names
    if len(names) != 1:
        raise Refused(
            f"which session? There are: {', '.join(map(plain, names))}"
            if names
            else "there is no session; start one: mat up"
        )
    return names[0]


def _has_ended(state: StatePlaces, session: str) -> bool:
    with journal_of(state, session) as journal:
        return any(entry.name == "engine.down" for entry in journal.tail(1, names=["engine.down"]))


def journal_of(state: StatePlaces, session: str) -> Journal:
    """A session's journal, read-only, unfolded. Raises `Refused` when there is none of that name, `Unavailable`."""
    from matcore.engine.journal import Journal

    return Journal.read(state.journal(exists(state, session)))


def book_of(state: StatePlaces, session: str) -> Book:
    """A session's journal, read-only, folded. Raises `Refused` when there is none of that name, `Unavailable`."""
    from matcore.engine.book import Book

    return Book.read(state.journal(exists(state, session)))


def live_book(state: StatePlaces, session: str) -> Book:
    """As `book_of`, for sessions that have not ended."""
    book = book_of(state, session)
    if book.ledger.ended:
        book.close()
        raise Refused(f'session "{session}" has ended; start it again: mat up')
    return book


def role_of(book: Book, role: str) -> str:
    """`role`, if the session has it. Raises `Refused` otherwise."""
    roles = list(book.ledger.config.get("roles", {}))
    if role not in roles:
        session = plain(book.ledger.session)
        raise Refused(f'session "{session}" has no role "{plain(role)}"; its roles: {", ".join(map(plain, roles))}')
    return role


def say(state: StatePlaces, record: Mapping[str, Any]) -> bool:
    """Put a record into the user's spool. Returns whether a supervisor took it up within a few seconds; without one
    it stays there and is taken up when the next one starts. Raises `Refused` when it was set aside, with the reason."""
    from matcore import spoolfile

    try:
        record_id = spoolfile.write(str(state.spool), dict(record))
    except OSError as error:
        raise Unavailable(f"{state.spool} can't be written: {error.strerror}; see: mat doctor") from error
    return taken_up(state, record_id)


def taken_up(state: StatePlaces, record_id: str) -> bool:
    """Whether a supervisor takes up that record of the user's spool within a few seconds. Raises `Refused`."""
    from matcore.engine import heartbeat

    name = f"*-{record_id}.json"
    until = time.monotonic() + TAKE_UP_S
    while heartbeat.alive(state) and time.monotonic() < until:
        if not any((state.spool / "new").glob(name)):
            _refused(state.spool / "aside", record_id)
            return True
        time.sleep(CHECK_S)
    return False


def _refused(aside: Path, record_id: str) -> None:
    for reason in aside.glob(f"*-{record_id}.json.reason"):
        raise Refused(plain(reason.read_text(encoding="utf-8").strip()))


def backends(workdir: Path) -> list[str]:
    """The agent programs that have a profile: the project's, the user's and those that come with mat."""
    from matcore.words import prompts

    return sorted({path.stem for folder in prompts.folders(workdir) for path in folder.glob("backends/*.yaml")})


def echo_said(taken: bool, done: str) -> None:
    """Say what became of a record."""
    click.echo(
        plain(done if taken else f"{done}: noted; no supervisor takes it up yet, start one: mat up, or mat supervise")
    )


def echo_json(data: object) -> None:
    """One JSON object on one line of stdout."""
    click.echo(json_line(data))


json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line, keys as in docs/json.md.")


class SessionName(click.types.StringParamType):
    """A session's name; the shell completes it from those that have a journal."""

    name = "session"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        return [CompletionItem(name) for name in known(places()) if name.startswith(incomplete)]


class RoleName(click.types.StringParamType):
    """A role of the session that was named before it."""

    name = "role"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        session = ctx.params.get("session")
        if not session:
            return []
        try:
            book = book_of(places(), session)
        except (Refused, Unavailable):
            return []
        with book.journal:
            return [CompletionItem(role) for role in book.ledger.config.get("roles", {}) if role.startswith(incomplete)]


def session_argument(*, required: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The argument SESSION, completed by the shell."""
    return click.argument("session", type=SessionName(), required=required)


def role_argument(*, required: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The argument ROLE, completed by the shell."""
    return click.argument("role", type=RoleName(), required=required)
