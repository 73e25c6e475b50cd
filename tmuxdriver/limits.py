"""A rate limit as its program tells of it: held from the end of the turn that met it to the time that it named.

One notice holds once, for it stands on the screen long after its time is over. Pure; the caller holds the seat's lock.
"""

from __future__ import annotations

from dataclasses import dataclass

from matcore.engine import resets
from tmuxdriver.profile import pattern

HALF_A_DAY_S = 43_200.0
ROUNDED_S = 1.0
"""A time on a screen has whole seconds, and is rather early than late."""


@dataclass(slots=True)
class Limit:
    """`resets` finds the time in a notice (its first group that matched); without it no end is known.

    `until_s` is a boot time, None while no limit holds or where it names no end.
    """

    resets: str | None = None
    notice: str | None = None
    holds: bool = False
    until_s: float | None = None

    def met(self, notice: str, now_s: float, wall_s: float, *, live: bool) -> bool:
        """A notice was read: whether a hold begins. `live`: the turn that met the limit has just ended.

        A time of the day is the next one then; one that is read later and lies half a day ahead is over.
        """
        if not live and self.notice is not None and (notice in self.notice or self.notice in notice):
            return False
        self.notice = notice
        end_s = self._end(notice, wall_s)
        if end_s is not None and (end_s <= wall_s or (not live and end_s - wall_s > HALF_A_DAY_S)):
            return False
        self.holds = True
        self.until_s = None if end_s is None else now_s + end_s - wall_s + ROUNDED_S
        return True

    def is_over(self, now_s: float) -> bool:
        """Whether its time has passed."""
        return self.holds and self.until_s is not None and now_s >= self.until_s

    def end(self) -> None:
        """Its time is over, or a later turn has succeeded."""
        self.holds, self.until_s = False, None

    def _end(self, notice: str, wall_s: float) -> float | None:
        found = pattern(self.resets).search(notice) if self.resets else None
        said = next((group for group in found.groups() if group), None) if found is not None else None
        return resets.until(said, wall_s) if said is not None else None
