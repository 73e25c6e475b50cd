"""The supervisor's heartbeat: a small file, rewritten whole, by which everybody tells a living supervisor from a dead
or hanging one, and a restarted supervisor knows until when its predecessor watched.

Standard library only: the guard, which lives as long as the supervisor and reads nothing else, is to stay small.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from matcore.engine import wholefile
from matcore.engine.clock import Clock
from matcore.errors import Unavailable
from matcore.places import StatePlaces

BEAT_S = 1.0
STALE_S = 15.0


@dataclass(frozen=True, slots=True)
class Beat:
    """`boot_s` is CLOCK_BOOTTIME within the boot `boot_id`; `wall_s`, and `started_s` of the supervisor, are Unix time.

    `sessions`: those that are watched; `failed`: those that are not, and why. `ended`: a clean end.
    """

    pid: int
    boot_id: str
    boot_s: float
    wall_s: float
    started_s: float
    sessions: list[str]
    failed: dict[str, str] = field(default_factory=dict)
    ended: bool = False


_KEYS = tuple(each.name for each in fields(Beat))
"""Those of another version are passed over."""


class Heartbeat:
    """Written by the loop, at most once a second."""

    def __init__(self, places: StatePlaces, clock: Clock) -> None:
        self._path = places.heartbeat
        self._clock = clock
        self._started_s = clock.wall_s()
        self._last_s = float("-inf")

    def beat(
        self,
        sessions: Sequence[str],
        failed: Mapping[str, str] | None = None,
        *,
        now: bool = False,
        ended: bool = False,
    ) -> None:
        """Raises `OSError`; where only room is lacking, the beat's file is touched all the same."""
        boot_s = self._clock.boot_s()
        if not now and boot_s - self._last_s < BEAT_S:
            return
        self._last_s = boot_s
        beat = Beat(
            os.getpid(), self._clock.boot_id(), boot_s, self._clock.wall_s(), self._started_s,
            list(sessions), dict(failed or {}), ended,
        )  # fmt: skip
        try:
            wholefile.write(self._path, json.dumps({key: getattr(beat, key) for key in _KEYS}).encode())
        except OSError:
            with contextlib.suppress(OSError):
                os.utime(self._path)
            raise


def read(places: StatePlaces) -> Beat | None:
    """The last heartbeat, or None where there is none that can be read."""
    try:
        data = json.loads(places.heartbeat.read_bytes())
        return Beat(**{key: data[key] for key in _KEYS if key in data})
    except (OSError, ValueError, TypeError):
        return None


def touched_ns(places: StatePlaces) -> int:
    """When the heartbeat was written or touched last, 0 where there is none."""
    try:
        return places.heartbeat.stat().st_mtime_ns
    except OSError:
        return 0


def alive(places: StatePlaces) -> bool:
    """Whether a supervisor holds its lock. Looks without taking it for longer than the look."""
    return _held(places.lock)


def guarded(places: StatePlaces) -> bool:
    """Whether a guard holds its lock."""
    return _held(places.guard_lock)


def _held(path: Path) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def take_lock(path: Path, who: str) -> int:
    """Take a lock for this process's lifetime, before any side effect. No child inherits it.

    Raises `Unavailable`, which names the holder, when somebody else has it, or names what is wrong with the folder.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as e:
        raise Unavailable(f"{path}: {e.strerror}; the {who} can't start; mat doctor says more") from e
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(fd, 32).decode(errors="replace").strip() or "unknown"
        os.close(fd)
        raise Unavailable(f"a {who} is already running (pid {holder}); nothing was started") from None
    with contextlib.suppress(OSError):  # a full disk: the lock holds all the same
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    return fd
