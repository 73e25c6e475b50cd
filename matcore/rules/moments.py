"""Time inside the core: whole microseconds, so that no sum of times depends on how it was split.

Facts and decisions speak seconds; they are turned at the edge. With floats the same stretch measured in two halves may
differ in its last digit, and a gate that ends at the instant of its third window would be told or not by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

_MICROSECONDS = 1_000_000


def us(seconds: float) -> int:
    """The moment, or stretch, in whole microseconds."""
    return round(seconds * _MICROSECONDS)


def seconds(moment_us: int) -> float:
    """The same in seconds, with at most six places."""
    return moment_us / _MICROSECONDS


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """A sum of stretches: what was banked, and since when it runs, if it does."""

    banked_us: int = 0
    since_us: int | None = None

    @property
    def running(self) -> bool:
        return self.since_us is not None

    def read(self, now_us: int) -> int:
        return self.banked_us if self.since_us is None else self.banked_us + now_us - self.since_us

    def started(self, now_us: int) -> Stopwatch:
        return self if self.since_us is not None else Stopwatch(self.banked_us, now_us)

    def stopped(self, now_us: int) -> Stopwatch:
        return self if self.since_us is None else Stopwatch(self.read(now_us))

    def zeroed(self, now_us: int) -> Stopwatch:
        """From nothing again; it goes on running if it ran."""
        return STOPPED if self.since_us is None else Stopwatch(0, now_us)

    def less(self, amount_us: int) -> Stopwatch:
        return Stopwatch(self.banked_us - amount_us, self.since_us)

    def reaches(self, amount_us: int) -> int | None:
        """The moment at which it reads `amount_us` if it goes on as it does; None while it stands."""
        return None if self.since_us is None else self.since_us + amount_us - self.banked_us


STOPPED = Stopwatch()
