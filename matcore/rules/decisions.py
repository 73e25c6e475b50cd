"""What the core wants done or written: one frozen class for each decision, and their plain records.

`number` counts the decisions of a session from 1; an outcome names it (`effect.ended`).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, fields


class WakeStatus(enum.StrEnum):
    REPLY_SENT = "reply_sent"
    FAILED = "failed"
    COMPLETED_WITHOUT_VISIBLE_REPLY = "completed_without_visible_reply"


class DeliveryClass(enum.StrEnum):
    VISIBLE_REPLY = "visible_reply"
    SIGNAL_ONLY = "signal_only"


class ClosedBy(enum.StrEnum):
    HANDOFF = "handoff"
    BOUNDARY = "boundary"


class CycleOutcome(enum.StrEnum):
    COMPLETED = "completed"
    BLOCKED = "blocked"


class NotifyKind(enum.StrEnum):
    IDLE_RECOVERY = "idle-recovery"
    GATE = "gate"
    QUESTION = "question"
    OVERDUE = "overdue"
    CYCLE_COMPLETED = "cycle-completed"
    CYCLE_BLOCKED = "cycle-blocked"


@dataclass(frozen=True, slots=True)
class Decision:
    """`at`: seconds, the instant of the fact that led to it."""

    number: int
    at: float


@dataclass(frozen=True, slots=True)
class EpisodeOpened(Decision):
    episode: int
    owed: str | None
    relay: str | None


@dataclass(frozen=True, slots=True)
class Nudge(Decision):
    episode: int
    rung: int
    role: str
    redelivers: str | None


@dataclass(frozen=True, slots=True)
class RungSkipped(Decision):
    episode: int
    rung: int
    role: str
    reason: str


@dataclass(frozen=True, slots=True)
class EpisodeRearmed(Decision):
    episode: int


@dataclass(frozen=True, slots=True)
class EpisodeClosed(Decision):
    """`relay` of a handoff, or `cycle`, the one that ended."""

    episode: int
    by: ClosedBy
    rungs: int
    relay: str | None = None
    cycle: str | None = None


@dataclass(frozen=True, slots=True)
class Notify(Decision):
    """Rung 3 is the one of kind `idle-recovery`; all others are handed over once."""

    kind: NotifyKind
    action: bool
    episode: int | None = None
    gates: tuple[str, ...] | None = None
    cycle: str | None = None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class LadderDeferred(Decision):
    gates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GateEscalated(Decision):
    gate: str


@dataclass(frozen=True, slots=True)
class ProgressOverdue(Decision):
    cycle: str


@dataclass(frozen=True, slots=True)
class CycleStale(Decision):
    cycle: str


@dataclass(frozen=True, slots=True)
class GoalWrapup(Decision):
    cycle: str
    role: str
    outcome: CycleOutcome


@dataclass(frozen=True, slots=True)
class WakeOpened(Decision):
    message: str
    role: str
    target: str
    delivery_class: DeliveryClass


@dataclass(frozen=True, slots=True)
class FinalCheck(Decision):
    """`messages`: oldest first; `view.checked` gives them grouped by target."""

    role: str
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WakeClosed(Decision):
    message: str
    role: str
    status: WakeStatus
    reason: str | None


@dataclass(frozen=True, slots=True)
class RecoveryMarked(Decision):
    message: str
    role: str
    target: str


@dataclass(frozen=True, slots=True)
class RecoveryDelivered(Decision):
    message: str
    role: str
    target: str


EVENTS: dict[type[Decision], str] = {
    EpisodeOpened: "episode.opened",
    Nudge: "nudge",
    RungSkipped: "rung.skipped",
    EpisodeRearmed: "episode.rearmed",
    EpisodeClosed: "episode.closed",
    Notify: "notify",
    LadderDeferred: "ladder.deferred",
    GateEscalated: "gate.escalated",
    ProgressOverdue: "progress.overdue",
    CycleStale: "cycle.stale",
    GoalWrapup: "goal.wrapup",
    WakeOpened: "wake.opened",
    FinalCheck: "final_check",
    WakeClosed: "wake.closed",
    RecoveryMarked: "recovery.marked",
    RecoveryDelivered: "recovery.delivered",
}
"""The event by which each class of decision is known in the journal."""
EFFECTS: frozenset[type[Decision]] = frozenset({Nudge, Notify, FinalCheck, RecoveryDelivered})
"""The classes that are carried out with an outcome that is shown beside them (`ok`)."""
AWAITED: frozenset[type[Decision]] = EFFECTS
"""The classes whose outcome comes back as `effect.ended`. Of notifies only that of rung 3 is waited for."""
_OPTIONAL: dict[type[Decision], frozenset[str]] = {
    EpisodeClosed: frozenset({"relay", "cycle"}),
    Notify: frozenset({"episode", "gates", "cycle", "question"}),
}
_KEYS: dict[type[Decision], tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind) if field.name not in {"number", "at"}) for kind in EVENTS
}


def record(decision: Decision) -> dict[str, object]:
    """The plain record: `number`, `at`, `event`, then its keys. What a kind does not have is left out, else null."""
    kind = type(decision)
    told: dict[str, object] = {"number": decision.number, "at": round(decision.at, 6), "event": EVENTS[kind]}
    optional = _OPTIONAL.get(kind, frozenset())
    for key in _KEYS[kind]:
        value = getattr(decision, key)
        if value is not None or key not in optional:
            told[key] = _plain(value)
    return told


def _plain(value: object) -> object:
    if isinstance(value, enum.StrEnum):
        return value.value
    return list(value) if isinstance(value, tuple) else value
