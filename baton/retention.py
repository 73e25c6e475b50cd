"""What a mailbox keeps of messages that are over, done and set aside together: by age, number and size.

The oldest go first. How old one is, is told by the time at which its file was written, for a name may be anybody's; of
what was set aside it is the reason beside it, which was written at that moment.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

KEPT = 1000
KEPT_S = 7 * 86_400.0
KEPT_BYTES = 256 * 1024 * 1024
REASON = ".reason"


@dataclass(frozen=True, slots=True)
class _Over:
    """One message that is over, with its reason where it has one."""

    path: Path
    since_s: float
    size_bytes: int


def tidy(folders: Iterable[Path]) -> None:
    """Remove what is too old, and the oldest of what is too many or too large. What can't be removed stays."""
    oldest_s = time.time() - KEPT_S
    room_bytes, left = KEPT_BYTES, KEPT
    found = [over for folder in folders for over in _all(folder)]
    for over in sorted(found, key=lambda over: (over.since_s, over.path.name), reverse=True):
        if over.size_bytes > KEPT_BYTES:  # it alone is too large, and costs no other its place
            _remove(over.path)
        elif left and over.size_bytes <= room_bytes and over.since_s >= oldest_s:
            left, room_bytes = left - 1, room_bytes - over.size_bytes
        else:
            left = 0
            _remove(over.path)


def reason_of(path: Path) -> Path:
    """Where the reason stands for which a file was set aside."""
    return path.with_name(path.name + REASON)


def _all(folder: Path) -> Iterator[_Over]:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        names = {name.removesuffix(REASON) for name in os.listdir(folder)}  # noqa: PTH208 - names, not paths
        for path in (folder / name for name in names):
            with contextlib.suppress(FileNotFoundError):
                reason = reason_of(path)
                about = (reason if os.path.lexists(reason) else path).lstat()
                yield _Over(path, about.st_mtime, _size_bytes(path) + _size_bytes(reason))


def _size_bytes(path: Path) -> int:
    """Of a file or of all that is in a folder; 0 where there is none."""
    try:
        about = path.lstat()
    except FileNotFoundError:
        return 0
    below = path.rglob("*") if stat.S_ISDIR(about.st_mode) else ()
    return about.st_size + sum(_size_bytes(each) for each in below if not _is_folder(each))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _remove(path: Path) -> None:
    if _is_folder(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
    if not os.path.lexists(path):
        with contextlib.suppress(OSError):
            reason_of(path).unlink(missing_ok=True)
