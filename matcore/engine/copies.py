"""What was handed over and may still have to be read, kept a second time beside the journal.

What is typed for a handoff is a pointer to its file below the working directory, where anybody may clean up; the
journal has its digest only. So as long as a relay is on its way, is owed, or may be named again, a copy stands in the
session's state folder, and a file that is gone is written anew from it. A file is named by the digest of its content:
what is put back is what was sent, or nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from matcore.engine import wholefile
from matcore.engine.session import Session

ENDING = ".md"


@dataclass(frozen=True, slots=True)
class Looked:
    """`restored`: what was put back, in words. `lost`: ids of relays that are owed, whose text can't be had."""

    restored: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass(slots=True)
class Copies:
    """Of all sessions. Reads and writes only where something is new or missing."""

    _kept: dict[str, set[str]] = field(default_factory=dict)

    def keep(self, session: Session) -> Looked:
        """Copy what is new, put back what is gone, and drop what nobody needs any more. Raises `OSError` where a file
        can't be put back; what can't be copied is tried again at the next look."""
        wanted = dict(_wanted(session))
        folder = _folder(session)
        kept = self._kept.setdefault(session.name, set())
        owed = {relay.id for relay in session.book.state.relays}
        restored, lost = [], []
        for path, relay in wanted.items():
            there = session.places.handoffs / path
            if os.path.isfile(there):  # noqa: PTH113 - looked at all the time
                self._copy(there, folder, kept)
            elif _put_back(session, relay, folder / path, there):
                restored.append(f"the text of {relay}")
            elif relay in owed:
                lost.append(relay)
        if kept - wanted.keys() or not kept:
            kept &= wanted.keys()
            _drop(folder, set(wanted))
        return Looked(tuple(restored), tuple(lost))

    def forget(self, session: str) -> None:
        """The session has ended, or failed: what is copied of it is looked at anew should it come again."""
        self._kept.pop(session, None)

    def _copy(self, there: Path, folder: Path, kept: set[str]) -> None:
        if there.name in kept:
            return
        with contextlib.suppress(OSError):
            if not (folder / there.name).exists():
                folder.mkdir(mode=0o700, exist_ok=True)
                wholefile.write(folder / there.name, there.read_bytes())
            kept.add(there.name)


def drop_all(session: Session) -> None:
    """The session has ended: nobody is pointed to anything any more."""
    shutil.rmtree(_folder(session), ignore_errors=True)


def _folder(session: Session) -> Path:
    return session.book.journal.path.parent / "handoffs"


def _wanted(session: Session) -> Iterator[tuple[str, str]]:
    """The names of the files that somebody may be pointed to, each with a relay that does."""
    letters = session.ledger.tally.letters
    for relay in session.ledger.relays.values():
        letter = letters.get(relay.id)
        for path in (relay.path, letter.path if letter is not None else None):
            if path is not None and Path(path).parent == session.places.handoffs and path.endswith(ENDING):
                yield Path(path).name, relay.id


def _put_back(session: Session, relay_id: str, copy: Path, there: Path) -> bool:
    """From the copy, or from a human's few words, which the journal has."""
    body = session.ledger.relays[relay_id].body
    try:
        data = copy.read_bytes()
    except OSError:
        data = b"" if body is None else body.encode()
    if hashlib.sha256(data).hexdigest() + ENDING != there.name:
        return False
    wholefile.write(there, data)
    return True


def _drop(folder: Path, but: set[str]) -> None:
    with contextlib.suppress(OSError):
        for copy in folder.iterdir():
            if copy.name not in but:
                copy.unlink()
