"""Keeps `mat up` of a session, and `mat prune` of the ended ones of that name, from running at the same time."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from matcore.errors import Unavailable
from matcore.places import StatePlaces

CHECK_S = 0.05


@contextlib.contextmanager
def alone(state: StatePlaces, session: str, *, within_s: float) -> Iterator[None]:
    """Hold the name of a session. Raises `Unavailable` when somebody else has it for longer than `within_s` seconds.

    Put-aside sessions (`name@1`) are held by the name that they had.
    """
    name = session.partition("@")[0]
    fd = os.open(state.sessions / f".{name}.up", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    until = time.monotonic() + within_s
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise Unavailable(f"another `mat up` of {name} is at work; try again when it is done") from None
                time.sleep(CHECK_S)
        yield
    finally:
        os.close(fd)


def is_coming(state: StatePlaces, session: str) -> bool:
    """Whether a session of that name was launched and no supervisor has taken it up yet: its journal is not begun."""
    return any(_is_up(path, session) for path in (state.spool / "new").glob("*.json"))


def _is_up(path: Path, session: str) -> bool:
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(record, dict) and (record.get("session"), record.get("request")) == (session, "up")
