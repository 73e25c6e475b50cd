"""What happened, as the core is told it: one frozen class for each fact. `records` makes them of plain data."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from matcore.rules import policy as policies
from matcore.rules.policy import Policy

HUMAN = "human"


class Kind(enum.StrEnum):
    REQUEST = "request"
    FYI = "fyi"


class TurnOutcome(enum.StrEnum):
    OK = "ok"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Fact:
    """`at`: seconds. Facts come in the order of their times; one that is earlier than the last counts as then."""

    at: float


@dataclass(frozen=True, slots=True)
class SessionConfigured(Fact):
    roles: tuple[str, ...]
    policy: Policy = policies.DEFAULT
    rules: str | None = None


@dataclass(frozen=True, slots=True)
class CycleOpened(Fact):
    cycle: str


@dataclass(frozen=True, slots=True)
class CycleCompleted(Fact):
    cycle: str
    by: str


@dataclass(frozen=True, slots=True)
class CycleBlocked(Fact):
    cycle: str
    by: str


@dataclass(frozen=True, slots=True)
class RoleBusy(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class RoleIdle(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class RoleGone(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class RoleUnknown(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class TurnEnded(Fact):
    role: str
    outcome: TurnOutcome = TurnOutcome.OK
    detail: str | None = None
    started: float | None = None


@dataclass(frozen=True, slots=True)
class RelaySent(Fact):
    """`sender` is `from` in records. `seen`: the highest sequence from `to` that the sender had been given."""

    id: str
    sender: str
    to: str
    kind: Kind = Kind.REQUEST
    seen: int | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class RelayAlreadySent(Fact):
    id: str
    sender: str
    to: str
    seen: int | None = None


@dataclass(frozen=True, slots=True)
class RelayAcked(Fact):
    id: str
    role: str


@dataclass(frozen=True, slots=True)
class RelayDelivered(Fact):
    id: str
    confirmed: bool = True


@dataclass(frozen=True, slots=True)
class RelayUndeliverable(Fact):
    id: str


@dataclass(frozen=True, slots=True)
class GateRaised(Fact):
    gate: str
    role: str | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class GateCleared(Fact):
    gate: str
    role: str | None = None


@dataclass(frozen=True, slots=True)
class HumanPaused(Fact):
    until: float | None = None


@dataclass(frozen=True, slots=True)
class HumanResumed(Fact):
    pass


@dataclass(frozen=True, slots=True)
class HumanActed(Fact):
    role: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionAsked(Fact):
    question: str
    role: str


@dataclass(frozen=True, slots=True)
class QuestionAnswered(Fact):
    question: str


@dataclass(frozen=True, slots=True)
class ContextExhausted(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class ContextFresh(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class AgentRenewed(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class WatchStopped(Fact):
    pass


@dataclass(frozen=True, slots=True)
class WatchResumed(Fact):
    """`slept`: seconds of the gap for which the machine was suspended."""

    slept: float | None = None


@dataclass(frozen=True, slots=True)
class ClockReached(Fact):
    """All facts of this instant are in: what is due may be decided."""


@dataclass(frozen=True, slots=True)
class EffectEnded(Fact):
    """`decision`: its number in the session."""

    decision: int
    ok: bool
    detail: str | None = None
