"""The time of the host, and the time of a journal.

A journal's time (`at`) starts at the wall clock of its first entry and goes on by CLOCK_BOOTTIME, which counts through
a suspended machine and can't be set. Across boots it goes on by the wall clock's difference, for nothing else spans
them. It never goes backwards. The wall clock stands beside it for people and decides nothing within one boot.

CLOCK_MONOTONIC stands still while the machine sleeps: what BOOTTIME gains on it is the time slept.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

SLEPT_AT_LEAST_S = 1.0
"""Less than this is the jitter of reading two clocks one after the other, or a sleep that nobody has missed."""


# macOS: CLOCK_MONOTONIC counts through sleep there, and CLOCK_UPTIME_RAW doesn't.
_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_MONO_CLOCK = getattr(time, "CLOCK_UPTIME_RAW", time.CLOCK_MONOTONIC)


def boot_s() -> float:
    """Seconds since this host's boot, sleep included: the time of the driver protocol."""
    return time.clock_gettime(_BOOT_CLOCK)


class Clock(Protocol):
    """The clocks of one host. Only the engine reads them; the rules get times with their facts."""

    def boot_s(self) -> float:
        """Seconds since boot, sleep included. Can't be set."""

    def mono_s(self) -> float:
        """Seconds since boot without the time slept. Can't be set."""

    def wall_s(self) -> float:
        """Seconds since 1970 as the host's calendar has them. May jump either way."""

    def boot_id(self) -> str:
        """Another text after each boot."""


class SystemClock:
    """The real one."""

    def __init__(self) -> None:
        self._boot_id = _boot_id()

    def boot_s(self) -> float:
        return boot_s()

    def mono_s(self) -> float:
        return time.clock_gettime(_MONO_CLOCK)

    def wall_s(self) -> float:
        return time.time()

    def boot_id(self) -> str:
        return self._boot_id


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        import psutil  # only where the kernel has no boot id, and not cheap to import

        # Rounded: the boot's wall time is computed from clocks that drift against each other by seconds.
        return f"booted-{round(psutil.boot_time(), -2):.0f}"


@dataclass(frozen=True, slots=True)
class Mark:
    """One instant in all the times that a journal needs: what the times of one boot are counted from."""

    boot_id: str
    boot_s: float
    at: float
    wall: float


class JournalClock:
    """The time of one journal. Journalled are the `mark` of each boot and each entry's `at` and `wall`.

    `mark` is the last one journalled, `last_at` and `last_wall` those of the last entry; none for a new journal. After
    construction, `mark` is the one that counts now; where `is_new`, it must be journalled before it is used.
    """

    def __init__(
        self, clock: Clock, mark: Mark | None = None, *, last_at: float | None = None, last_wall: float | None = None
    ) -> None:
        self._clock = clock
        self._floor = float("-inf") if last_at is None else last_at
        boot_id, boot_s, wall = clock.boot_id(), clock.boot_s(), clock.wall_s()
        # The times of one boot only grow: a smaller one is another boot, whatever its id says (a restored machine).
        self.is_new = mark is None or mark.boot_id != boot_id or mark.boot_s > boot_s
        if mark is not None and not self.is_new:
            self.mark = mark
        elif last_at is None or last_wall is None:
            self.mark = Mark(boot_id, boot_s, wall, wall)
        else:
            self.mark = Mark(boot_id, boot_s, last_at + max(0.0, wall - last_wall), wall)

    def at(self, boot_s: float) -> float:
        """The journal's time of a boot time, which may lie before the last entry's (a turn that started long ago)."""
        return self.mark.at + (boot_s - self.mark.boot_s)

    def at_wall(self, wall_s: float) -> float:
        """The journal's time of a moment before this boot, as far as the calendar was right then and at its start."""
        return self.mark.at - max(0.0, self.mark.wall - wall_s)

    def boot_s(self, at: float) -> float:
        """The boot time of a journal's time: when a deadline of the rules is due."""
        return self.mark.boot_s + (at - self.mark.at)

    def now(self) -> float:
        """The journal's time now, never before anything that was stamped."""
        return max(self._floor, self.at(self._clock.boot_s()))

    def stamp(self, boot_s: float | None = None) -> float:
        """The time to write on the next entry: of `boot_s`, or now, but never before the last one stamped."""
        self._floor = max(self._floor, self.at(self._clock.boot_s() if boot_s is None else boot_s))
        return self._floor


@dataclass(frozen=True, slots=True)
class Gap:
    """Nobody watched from `since_s` to `until_s` (boot times). `slept_s` of that the machine was suspended."""

    since_s: float
    until_s: float
    slept_s: float


class LoopWatch:
    """Notices that the loop did not turn: the machine slept, or the loop stood still for more than a window."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._boot_s = clock.boot_s()
        self._mono_s = clock.mono_s()

    def beat(self, window_s: float) -> Gap | None:
        """Call on every turn of the loop, at least every few seconds. The gap since the last call, if it was one."""
        mono_s, boot_s = self._clock.mono_s(), self._clock.boot_s()
        since_s, passed_s = self._boot_s, boot_s - self._boot_s
        slept_s = passed_s - (mono_s - self._mono_s)
        self._boot_s, self._mono_s = boot_s, mono_s
        if slept_s < SLEPT_AT_LEAST_S:
            slept_s = 0.0
        if slept_s or passed_s > window_s:
            return Gap(since_s, boot_s, slept_s)
        return None
