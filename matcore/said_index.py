"""Reads `sent.index`: one line of JSON for each relay of a session, in the order of their numbers, under one lock.

The first line names the session. An index without it, or no index, was lost: the loop rewrites it from the journal, and
until then nobody can give a number. An index may be long: it is read from its end, and only as far as is needed.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator

from matcore.errors import Refused

LOCK_WAIT_S = 5.0
_PATIENCE = 6
"""How many times LOCK_WAIT_S is waited while others do get their numbers."""
_POLL_S = 0.01
_BLOCK = 64 * 1024


class Lock:
    """The lock of `sent.index`, held in a `with` block.

    Raises `Refused` when it is not free and no number was given for LOCK_WAIT_S seconds: whoever holds it then hangs.
    While others do get their numbers it waits a few times longer.
    """

    __slots__ = ("_handle", "_index", "_path")

    def __init__(self, root: str) -> None:
        self._index = index_path(root)
        self._path = self._index + ".lock"
        self._handle = -1

    def __enter__(self) -> None:
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        for _ in range(_PATIENCE):
            before = self._size()
            end = time.monotonic() + LOCK_WAIT_S
            while not (taken := self._taken()) and time.monotonic() < end:
                time.sleep(_POLL_S)
            if taken:
                return
            if self._size() == before:
                break
        os.close(self._handle)
        raise Refused(
            f"another command has held {self._path} for {LOCK_WAIT_S:g} seconds; try again in a moment; nothing sent"
        )

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def _size(self) -> int:
        try:
            return os.stat(self._index).st_size
        except FileNotFoundError:
            return -1

    def _taken(self) -> bool:
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class Index:
    """The index as `read` found it, open until the end of a `with` block, to be used while the lock is held."""

    __slots__ = ("_first", "_handle", "_size")

    def __init__(self, handle: int, first: int, size: int) -> None:
        """`first`: where the second line begins."""
        self._handle = handle
        self._first = first
        self._size = size

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def find(self, message: str) -> dict[str, object] | None:
        """The line of a relay."""
        return next((entry for entry in self.entries(message) if entry["id"] == message), None)

    @property
    def highest(self) -> int:
        """The highest number that was given, 0 without one."""
        last = next(self.entries(), None)
        return int(str(last["seq"])) if last else 0

    def entries(self, *words: str) -> Iterator[dict[str, object]]:
        """The lines after the first, newest first, read as they are asked for; with `words` only those with one."""
        wanted = [word.encode() for word in words]
        for block in self._blocks():
            if _holds(block, wanted):
                for line in reversed(block[:-1].split(b"\n")):
                    if _holds(line, wanted):
                        yield _entry(line)

    def names(self, file: str) -> bool:
        """Whether a line names that staged file."""
        return any(b'"%s"' % os.fsencode(file) in block for block in self._blocks())

    def _blocks(self) -> Iterator[bytes]:
        """Whole lines, from the end, some hundreds at a time."""
        end = self._size
        while end > self._first:
            start = max(self._first, end - _BLOCK)
            block = os.pread(self._handle, end - start, start)
            if start > self._first:
                block = block[block.find(b"\n") + 1 :]
            if not block:
                raise _unreadable()
            yield block
            end -= len(block)


def read(root: str, session: str) -> Index:
    """Open the index. Raises `Refused` where it was lost: the loop rewrites it from the journal.

    Call it with the lock held: a line that a killed sender left torn is cut off.
    """
    try:
        handle = os.open(index_path(root), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise _lost(session) from None
    try:
        size = os.fstat(handle).st_size
        first = _first(handle, session)
        whole = _whole(handle, size)
        if whole < size:
            os.ftruncate(handle, whole)
    except BaseException:
        os.close(handle)
        raise
    return Index(handle, first, whole)


def _first(handle: int, session: str) -> int:
    """Where the second line begins, if the first names the session."""
    head = os.pread(handle, _BLOCK, 0)
    first = head.find(b"\n") + 1
    if _parsed(head[:first]).get("session") != session:
        raise _lost(session)
    return first


def _whole(handle: int, size: int) -> int:
    """Where the last whole line ends."""
    start = max(0, size - _BLOCK)
    end = os.pread(handle, _BLOCK, start).rfind(b"\n") + 1
    if not end:
        raise _unreadable()
    return start + end


def message_id(seq: int) -> str:
    """The id of a relay, made from its number here and nowhere else."""
    return f"r-{seq:06d}"


def index_path(root: str) -> str:
    """As `matcore.places.SessionPlaces.sent_index`."""
    return os.path.join(root, "sent.index")


def _parsed(line: bytes) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def _entry(line: bytes) -> dict[str, object]:
    entry = _parsed(line)
    if not entry.get("id") or not isinstance(entry.get("seq"), int):
        raise _unreadable()
    return entry


def _holds(text: bytes, wanted: list[bytes]) -> bool:
    return not wanted or any(word in text for word in wanted)


def _unreadable() -> Refused:
    return Refused("sent.index has a line that can't be read; `mat doctor` says more; nothing sent")


def _lost(session: str) -> Refused:
    return Refused(
        "the numbers of this session's relays (sent.index) are lost; a running supervisor rewrites them within "
        f"seconds, then try again (`mat status {session}` tells whether one runs); nothing sent"
    )
