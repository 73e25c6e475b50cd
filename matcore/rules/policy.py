"""The numbers of the rules, with their units in their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matcore.rules.moments import us

WINDOW_S = 600
GATE_SETTLE_S = 30
DEADLINE_WINDOWS = 36
"""`progress_deadline` where none is given."""
ESCALATION_WINDOWS = 3
LAST_RUNG = 3
OUTCOME_WAIT_US = us(60)
"""An outcome that has not come by then counts as failed."""
INJECTED_US = us(60)
"""A role into which a text was put counts as about to be busy for no longer than this."""
REASON_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Policy:
    """What a session may set. `progress_deadline_us` 0 is off."""

    window_us: int = us(WINDOW_S)
    gate_settle_us: int = us(GATE_SETTLE_S)
    progress_deadline_us: int = us(WINDOW_S * DEADLINE_WINDOWS)

    @property
    def escalation_us(self) -> int:
        return ESCALATION_WINDOWS * self.window_us


DEFAULT = Policy()


def parse(given: Mapping[str, object]) -> Policy:
    """From `window`, `gate_settle`, `progress_deadline` in seconds, each optional. Raises ValueError or TypeError."""
    window_s = _seconds(given, "window", WINDOW_S)
    if us(window_s) <= 0:
        raise ValueError("window must be more than 0 seconds")
    settle_s = _seconds(given, "gate_settle", GATE_SETTLE_S)
    deadline_s = _seconds(given, "progress_deadline", window_s * DEADLINE_WINDOWS)
    return Policy(us(window_s), us(settle_s), us(deadline_s))


def _seconds(given: Mapping[str, object], key: str, default: float) -> float:
    value = given.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ValueError(f"{key} must be a number of seconds, 0 or more, not {value!r}")
    return value
