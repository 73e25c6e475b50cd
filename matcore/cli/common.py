"""What several commands share: finding sessions, reading them, and saying something that the loop takes up."""

from __future__ import annotations

import difflib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from matcore import spoolfile
from matcore.engine import heartbeat
from matcore.engine.book import Book
from matcore.errors import Refused
from matcore.places import StatePlaces, state_dir
from matcore.words import prompts

TAKE_UP_S = 5.0


def places() -> StatePlaces:
    return StatePlaces(state_dir())


def known(state: StatePlaces) -> list[str]:
    """The sessions that have a journal, put-aside ones (`name@1`) included."""
    return sorted(path.parent.name for path in state.sessions.glob("*/journal.db"))


def book_of(state: StatePlaces, session: str) -> Book:
    """A session's journal, read-only. Raises `Refused` when there is none of that name."""
    names = known(state)
    if session not in names:
        close = difflib.get_close_matches(session, names, n=1)
        hint = f'; did you mean "{close[0]}"?' if close else "; see: mat status" if names else "; start one: mat up"
        raise Refused(f'there is no session "{session}"{hint}')
    return Book.read(state.journal(session))


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
        raise Refused(f'session "{book.ledger.session}" has no role "{role}"; its roles: {", ".join(roles)}')
    return role


def say(state: StatePlaces, record: Mapping[str, Any]) -> bool:
    """Put a record into the user's spool. Returns whether a supervisor took it up within a few seconds; without one
    it stays there and is taken up when the next one starts. Raises `Refused` when it was set aside, with the reason."""
    record_id = spoolfile.write(str(state.spool), dict(record))
    name = f"*-{record_id}.json"
    until = time.monotonic() + TAKE_UP_S
    while heartbeat.alive(state) and time.monotonic() < until:
        if not any((state.spool / "new").glob(name)):
            _refused(state.spool / "aside", record_id)
            return True
        time.sleep(0.02)
    return False


def _refused(aside: Path, record_id: str) -> None:
    for reason in aside.glob(f"*-{record_id}.json.reason"):
        raise Refused(reason.read_text(encoding="utf-8").strip())


def backends(workdir: Path) -> list[str]:
    """The agent programs that have a profile: the project's, the user's and those that come with mat."""
    return sorted({path.stem for folder in prompts.folders(workdir) for path in folder.glob("backends/*.yaml")})


def echo_said(taken: bool, done: str) -> None:
    """Say what became of a record."""
    click.echo(done if taken else f"{done} (waits for the supervisor: mat supervise)")


def echo_json(data: object) -> None:
    """One JSON object on one line of stdout."""
    click.echo(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object, keys as in docs/json.md.")
