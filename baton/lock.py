"""The worker's lock: held for its lifetime, inherited by no child, and looked at without being taken.

An open-file-description lock, for `flock` can't be looked at without taking it, and a classic record lock is lost when
any other descriptor of the file is closed.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from contextlib import suppress
from pathlib import Path

import psutil

NAMES_WITHIN_S = 1.0
LOOK_S = 0.002

_GET, _SET = 36, 37  # F_OFD_GETLK, F_OFD_SETLK; Python has no names for them
_FLOCK = struct.Struct("@hhqqi4x")


def take(path: Path) -> int | None:
    """Take it for as long as the returned descriptor is open; None when somebody else has it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.fcntl(handle, _SET, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    except (BlockingIOError, PermissionError):
        os.close(handle)
        return None
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    return handle


def is_held(path: Path) -> bool:
    """Whether anybody holds it now. Takes nothing."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        asked = fcntl.fcntl(handle, _GET, _FLOCK.pack(fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0))
    finally:
        os.close(handle)
    return bool(_FLOCK.unpack(asked)[0] != fcntl.F_UNLCK)


def is_the_one(handle: int, path: Path) -> bool:
    """Whether what was taken is still the file of that name: one that was deleted keeps nobody out."""
    try:
        mine, there = os.fstat(handle), path.stat()
    except OSError:
        return False
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)


def holder(path: Path) -> int | None:
    """The process that wrote itself down when it took the lock, while it is held.

    Between the two there is a moment in which nobody's name stands there, or that of one who has died: it is waited
    for up to `NAMES_WITHIN_S`. None when nobody holds the lock, or who does can't be told.
    """
    end_s = time.monotonic() + NAMES_WITHIN_S
    while is_held(path):
        with suppress(OSError, ValueError):
            pid = int(path.read_text(encoding="ascii"))
            if psutil.pid_exists(pid):
                return pid
        if time.monotonic() >= end_s:
            break
        time.sleep(LOOK_S)
    return None


def holders(path: Path) -> list[int]:
    """The process that holds it; where its name does not stand there, all that have the file open, for nobody else
    keeps it open."""
    named = holder(path)
    return [named] if named is not None else [process.pid for process in psutil.process_iter() if _has(process, path)]


def _has(process: psutil.Process, path: Path) -> bool:
    with suppress(psutil.Error, OSError):
        return process.pid != os.getpid() and any(Path(file.path) == path for file in process.open_files())
    return False
