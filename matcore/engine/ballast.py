"""A small file that is only there to be given up: on a full disk its space lets us write down that the disk is full.

It is filled with random bytes, for a file system that compresses or leaves holes would hold no space for zeros.
"""

from __future__ import annotations

import os
from pathlib import Path

from matcore.engine import wholefile

SIZE_BYTES = 1024 * 1024
LEFT_FREE = 4
"""It is put back only where this many times its size is free, so that it is never what fills the disk."""


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
        """Give its space up. False where there was none, or where it can't be removed."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True

    def restore(self) -> bool:
        """Put it back where there is room again. Returns whether it is held now."""
        if self.held:
            return True
        try:
            room = os.statvfs(self._path.parent)
            if room.f_bavail * room.f_frsize < LEFT_FREE * self._size:
                return False
            wholefile.write(self._path, os.urandom(self._size), durable=True)
        except OSError:
            return False
        return True
