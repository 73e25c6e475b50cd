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
_POLL_S = 0.01


class Lock:
    """The lock of `sent.index`, held in a `with` block.

    Raises `Refused` when it is not free and no number was given for LOCK_WAIT_S seconds: whoever holds it then hangs.
    A crowd that does get its numbers is waited for a few times longer.
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


def read(root: str, session: str) -> bytes:
    """The index, whole lines only. Raises `Refused` where it was lost: the loop rewrites it from the journal.

    Call it with the lock held: a line that a killed sender left torn is cut off.
    """
    try:
        handle = os.open(index_path(root), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise _lost(session) from None
    with open(handle, "rb") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(handle, whole)
            data = data[:whole]
    if _parsed(data.partition(b"\n")[0]).get("session") != session:
        raise _lost(session)
    return data


def find(data: bytes, message: str) -> dict[str, object] | None:
    """The line of a relay."""
    return (
        next((entry for entry in entries(data) if entry["id"] == message), None) if message.encode() in data else None
    )


def highest(data: bytes) -> int:
    """The highest number that was given, 0 without one."""
    last = next(entries(data), None)
    return int(str(last["seq"])) if last else 0


def message_id(seq: int) -> str:
    """The id of a relay, made from its number here and nowhere else."""
    return f"r-{seq:06d}"


def entries(data: bytes) -> Iterator[dict[str, object]]:
    """The lines after the first, newest first, read as they are asked for: an index may be long."""
    end = len(data) - 1
    while (start := data.rfind(b"\n", 0, end)) > 0:
        entry = _parsed(data[start + 1 : end])
        if not entry.get("id") or not isinstance(entry.get("seq"), int):
            raise Refused("sent.index has a line that can't be read; `mat doctor` says more; nothing sent")
        yield entry
        end = start


def index_path(root: str) -> str:
    """As `matcore.places.SessionPlaces.sent_index`."""
    return os.path.join(root, "sent.index")


def _parsed(line: bytes) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def _lost(session: str) -> Refused:
    return Refused(
        "the numbers of this session's relays (sent.index) are lost; a running supervisor rewrites them within "
        f"seconds, then try again (`mat status {session}` tells whether one runs); nothing sent"
    )
