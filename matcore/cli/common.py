"""What several commands share: finding sessions, reading them, and saying something that the loop takes up.

Imports little, for `mat COMMAND --help` and a shell that completes a name wait for it.
"""

from __future__ import annotations

import difflib
import os
import shutil
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from matcore.errors import Refused, Unavailable
from matcore.places import StatePlaces, state_dir
from matcore.show.text import folded, json_line, plain
from matcore.words import again

if TYPE_CHECKING:
    from matcore.engine.book import Book
    from matcore.engine.journal import Journal

TAKE_UP_S = 5.0
CHECK_S = 0.02
SHOWN = 8
MOST_ENTRIES = 10**9
"""How many can be asked for at once; a number of any length is none that can be counted to."""


def places() -> StatePlaces:
    """The user's state folder. Raises `Unavailable` where this user has no home and names none, or a file is there."""
    try:
        state = StatePlaces(state_dir())
    except RuntimeError as error:
        raise Unavailable("this user has no home directory; name a state folder with XDG_STATE_HOME") from error
    stands = nearest(state.root)
    if not os.path.isdir(stands):  # noqa: PTH112 - `Path.is_dir` raises where a folder above can't be looked into
        raise Unavailable(
            f"{stands} is no folder, so {state.root} can't be; move it away, or name another with XDG_STATE_HOME"
        )
    return state


def nearest(path: Path) -> Path:
    """The path, or of what is above it the nearest that is there."""
    return next((each for each in (path, *path.parents) if os.path.lexists(each)), path)


def known(state: StatePlaces) -> list[str]:
    """The sessions that have a journal, put-aside ones (`name@1`) included. Raises `Unavailable`."""
    try:
        return sorted(path.parent.name for path in state.sessions.glob("*/journal.db"))
    except OSError as error:
        raise Unavailable(f"{state.sessions} can't be read: {error.strerror}; see: mat doctor") from error


def running(state: StatePlaces) -> list[str]:
    """Those of `known` that have not ended, ones that can't be read included; put-aside ones are over."""
    return [name for name in known(state) if "@" not in name and not _has_ended(state, name)]


def _has_ended(state: StatePlaces, session: str) -> bool:
    try:
        with journal_of(state, session) as journal:
            return any(entry.name == "engine.down" for entry in journal.tail(1, names=["engine.down"]))
    except (Refused, Unavailable):
        return False


def exists(state: StatePlaces, session: str) -> str:
    """`session`, if there is one of that name. Raises `Refused` otherwise, with the nearest name."""
    names = known(state)
    if session not in names:
        raise Refused(f'there is no session "{plain(session)}"; {_instead(state, session, names)}')
    return session


def _instead(state: StatePlaces, session: str, names: list[str]) -> str:
    """What else may have been meant."""
    if close := difflib.get_close_matches(session, names, n=1):
        return f'did you mean "{plain(close[0])}"?'
    up = running(state)
    if up:
        return f"there is {', '.join(map(plain, up[:SHOWN]))}{'; more: mat status' if len(up) > SHOWN else ''}"
    return "none is up; ended ones: mat status --all" if names else "start one: mat up"


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
        raise Refused(plain(again.ended(session, book.ledger.workdir)))
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
    from matcore.engine import heartbeat

    if taken:
        click.echo(plain(done))
    elif heartbeat.alive(places()):
        click.echo(plain(f"{done}: noted; a supervisor runs and has not taken it up yet, see: mat doctor"))
    elif heartbeat.guarded(places()):
        click.echo(plain(f"{done}: noted; the supervisor has ended and is being started again, and takes it up then"))
    else:
        click.echo(
            plain(f"{done}: noted; no supervisor runs that could take it up, start one: mat up, or mat supervise")
        )


def echo_lines(lines: Iterable[str]) -> None:
    """Folded between words where a person reads; elsewhere each is one line."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in lines:
        click.echo("\n".join(folded(line, width)) if width else line)


def echo_json(data: object) -> None:
    """One JSON object on one line of stdout."""
    click.echo(json_line(data))


json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line, keys as in docs/json.md.")
json_always = click.option("--json", is_flag=True, expose_value=False, help="As always: stdout is JSON.")
