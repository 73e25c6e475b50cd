"""What stands on the loop's queue. Every source and every effect is a thread that puts one of these; only the loop
reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matcore.engine.driver import Outcome, Sighting
from matcore.engine.notify import Told


@dataclass(frozen=True, slots=True)
class Polled:
    """One tick of a driver. `fault` is what went wrong where there are no sightings."""

    driver: str
    sightings: Sequence[Sighting]
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class SpoolTouched:
    """Something may have arrived in a spool, or a sweep wants to look."""

    folder: Path


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A text that was handed to a seat has an outcome."""

    session: str
    job: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Restarted:
    """A seat's agent was started anew (`seat`), or could not be (`fault`)."""

    session: str
    role: str
    seat: Mapping[str, object] | None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A driver has stopped a session."""

    session: str
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class NoticeTold:
    """A notification was taken by a channel, or by none so far."""

    session: str
    notice: str
    told: Told


@dataclass(frozen=True, slots=True)
class Stop:
    """Somebody asked the supervisor to end."""

    reason: str


Event = Polled | SpoolTouched | JobEnded | Restarted | Ended | NoticeTold | Stop
