"""A small file that is only there to be given up: on a full disk its space lets us write down that the disk is full.

It is filled with random bytes, for a file system that compresses or leaves holes would hold no space for zeros.
"""

from __future__ import annotations

import os
from pathlib import Path

SIZE_BYTES = 1024 * 1024
LEFT_FREE = 4
"""It is put back only where so many times its size is free, so that it is never what fills the disk."""


class Ballast:
    """The ballast file of one state folder. No method raises: a disk in trouble is why it exists."""

    def __init__(self, path: Path, size_bytes: int = SIZE_BYTES) -> None:
        self._path = path
        self._size = size_bytes

    @property
    def held(self) -> bool:
        """Whether it is there, whole."""
        try:
            return self._path.stat().st_size >= self._size
        except OSError:
            return False

    def free(self) -> bool:
        """Give its space up. False if there was none to give, or it can't be given."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True

    def restore(self) -> bool:
        """Put it back where there is room again. Whether it is held now."""
        if self.held:
            return True
        draft = self._path.with_name(f".{self._path.name}")
        try:
            room = os.statvfs(self._path.parent)
            if room.f_bavail * room.f_frsize < LEFT_FREE * self._size:
                return False
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(os.urandom(self._size))
                file.flush()
                os.fsync(file.fileno())
            draft.rename(self._path)
        except OSError:
            _forget(draft)
            return False
        return True


def _forget(draft: Path) -> None:
    try:
        draft.unlink()
    except OSError:
        return
