"""All that the core remembers of a session, as frozen plain data.

Times are whole microseconds (`moments`). What has ended is not kept: a state stays small for a session of a year.
`msgspec.json` encodes and decodes it as it stands, and a fold that goes on from a decoded state decides the same.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from matcore.rules.decisions import DeliveryClass
from matcore.rules.facts import Kind
from matcore.rules.ids import NO_IDS, Ids
from matcore.rules.moments import STOPPED, Stopwatch
from matcore.rules.policy import DEFAULT, Policy


class Status(enum.StrEnum):
    UNKNOWN = "unknown"
    BUSY = "busy"
    IDLE = "idle"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Role:
    """`since_us`: of this status. `heard`: by peer, the highest sequence from it that was delivered to this role."""

    name: str
    since_us: int
    status: Status = Status.UNKNOWN
    active_us: int | None = None
    heard: tuple[tuple[str, int], ...] = ()


class Way(enum.StrEnum):
    """How far a relay has come."""

    SENT = "sent"
    UNDELIVERABLE = "undeliverable"
    DELIVERED = "delivered"


@dataclass(frozen=True, slots=True)
class Relay:
    """Kept until it was delivered and, where it is a debt (`owed`), answered. In the order of sending."""

    id: str
    sender: str
    to: str
    kind: Kind
    seq: int
    sent_us: int
    way: Way
    owed: bool


class RowStatus(enum.StrEnum):
    """A `signal_only` row waits for its turn's end and is never checked."""

    SIGNAL_ONLY = "signal_only"
    AWAITING_CHECK = "awaiting_check"
    FINAL_CHECK_SENT = "final_check_sent"


@dataclass(frozen=True, slots=True)
class Row:
    """An open wake. `check`: the number of a final check whose outcome is not known yet, else 0."""

    message: str
    role: str
    target: str
    seq: int
    status: RowStatus
    opened_us: int
    checked_us: int | None = None
    check: int = 0

    @property
    def delivery_class(self) -> DeliveryClass:
        signal = self.status is RowStatus.SIGNAL_ONLY
        return DeliveryClass.SIGNAL_ONLY if signal else DeliveryClass.VISIBLE_REPLY


@dataclass(frozen=True, slots=True)
class Marker:
    """An answer that a full context left owing. `taken`: the number of the recovery on its way, 0 while it waits."""

    id: str
    role: str
    target: str
    seq: int
    taken: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """A final check or a recovery that its role has not taken up yet. `decision`: 0 once it is confirmed."""

    decision: int
    role: str
    until_us: int


@dataclass(frozen=True, slots=True)
class Gate:
    """One hold of a gate. `until_us`: the end that a fact named, trusted. `ends_us`: any other end that is set."""

    name: str
    since_us: int
    until_us: int | None = None
    ends_us: int | None = None
    sum: Stopwatch = STOPPED
    escalated: bool = False

    @property
    def end_us(self) -> int | None:
        if self.until_us is None or self.ends_us is None:
            return self.ends_us if self.until_us is None else self.until_us
        return min(self.until_us, self.ends_us)

    def active(self, now_us: int) -> bool:
        end = self.end_us
        return end is None or end > now_us


@dataclass(frozen=True, slots=True)
class Flight:
    """A rung on its way. `disowned`: the human acted meanwhile, it counts no rung and raises no gate any more.

    `hold`: the `…-failed` gate that ended when this retry went off. If the retry fails too it was one hold, however
    long the outcome took.
    """

    decision: int
    rung: int
    role: str | None
    redelivers: str | None
    waited: Stopwatch
    disowned: bool = False
    hold: Gate | None = None


@dataclass(frozen=True, slots=True)
class Late:
    """A rung that was given up, or whose episode closed, before its outcome came."""

    decision: int
    episode: int
    rung: int
    redelivers: str | None


@dataclass(frozen=True, slots=True)
class Episode:
    """`rung`: the last one used up, 0 before the first. `first`: the role that rung 1 went to or was skipped for."""

    number: int
    opened_us: int
    rung: int = 0
    first: str | None = None
    flight: Flight | None = None


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    role: str
    asked_us: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Nobody watches. `ran_us`: what rule 10's clock read at its beginning; 0 if it was set back since."""

    since_us: int
    ran_us: int


@dataclass(frozen=True, slots=True)
class State:
    """`quiet`: time since the last rung (or break). `progress`: rule 10's clock. `deferred`: the set written last.

    `horizon_us`: the next moment at which something here changes by itself.
    """

    policy: Policy = DEFAULT
    roles: tuple[Role, ...] = ()
    now_us: int = 0
    number: int = 0
    seq: int = 0
    gap: Gap | None = None
    cycle: str | None = None
    cycle_us: int = 0
    relays: tuple[Relay, ...] = ()
    known: Ids = NO_IDS
    rows: tuple[Row, ...] = ()
    markers: tuple[Marker, ...] = ()
    marked: Ids = NO_IDS
    texts: tuple[Text, ...] = ()
    gates: tuple[Gate, ...] = ()
    questions: tuple[Question, ...] = ()
    episodes: int = 0
    episode: Episode | None = None
    late: tuple[Late, ...] = ()
    quiet: Stopwatch = STOPPED
    due: bool = False
    deferred: tuple[str, ...] = ()
    progress: Stopwatch = STOPPED
    told: bool = False
    horizon_us: int | None = None
