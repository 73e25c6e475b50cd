"""Whether a session's folder is as it was when all of it was looked through: by what the file system says of a few
folders, for looking through hundreds of sessions every other second costs more than everything else.

A folder's time changes with every name that is made or removed in it. Its grain is some milliseconds, so what changed
just before a look may change once more without a trace: only stamps that are older than that are trusted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from matcore.places import SessionPlaces

_GRAIN_NS = 50_000_000

Stamp = tuple[int, int, int, int]
"""Device, inode, size and time of change."""


@dataclass(frozen=True, slots=True)
class Stamps:
    """What was seen at one moment. None for what is not there."""

    of: tuple[Stamp | None, ...]
    at_ns: int

    @property
    def can_be_trusted(self) -> bool:
        """Whether nothing could change from now on and look the same. A time in the future is a clock set back."""
        return all(stamp is not None and stamp[3] < self.at_ns - _GRAIN_NS for stamp in self.of)


class FolderStamps:
    """Of one session: where something is missing or a sender was killed, one of these has changed."""

    def __init__(self, places: SessionPlaces, roles: Sequence[str]) -> None:
        spools = [places.spool(role) for role in roles]
        looked_at = [
            places.root,
            places.prompts,
            places.handoffs,
            places.sent_index,
            places.about,
            *{spool.parent for spool in spools},
            *spools,
        ]
        self._paths = [str(path) for path in (*looked_at, *(spool / "tmp" for spool in spools))]
        self._trusted: tuple[Stamp | None, ...] | None = None

    def look(self) -> Stamps:
        """To be called before the folder is looked through."""
        return Stamps(tuple(map(_stamp, self._paths)), time.time_ns())

    def are_known(self, stamps: Stamps) -> bool:
        """Whether all was well when it looked like this."""
        return stamps.of == self._trusted

    def found_well(self, stamps: Stamps) -> None:
        """Nothing was missing and nothing waits, seen after `stamps`."""
        self._trusted = stamps.of if stamps.can_be_trusted else None


def _stamp(path: str) -> Stamp | None:
    try:
        about = os.stat(path)  # noqa: PTH116 - asked many times a second
    except OSError:
        return None
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns
