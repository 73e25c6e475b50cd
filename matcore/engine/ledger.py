"""What the journal says about the carrying out: seats, relays on their way, texts in flight, notices, set-aside files.

The core's state says what was decided; the ledger says what became of it. Both are folds of the same entries, so that
the running supervisor, a restarted one and a command that only reads agree by construction: nothing here is ever
changed but by `folding.apply`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matcore.engine.tally import Tally
from matcore.places import SessionPlaces

PENDING, DELIVERED, UNCONFIRMED, UNDELIVERABLE = "pending", "delivered", "unconfirmed", "undeliverable"
"""A relay's status."""
DUE, RENEWING, RENEWED = "due", "renewing", "renewed"
"""How far the renewal has come of a role whose context is full."""


@dataclass(slots=True)
class Relay:
    """One relay as it was sent. `path` is the copy in `handoffs/`, `body` a human's short text (else None)."""

    id: str
    sender: str
    to: str
    kind: str
    seq: int
    at: float
    path: str | None = None
    body: str | None = None
    status: str = PENDING
    changed_at: float = 0.0

    @property
    def comes_again(self) -> bool:
        """Whether it found no agent and no ladder brings it, for it is no debt: it waits until an agent is there."""
        is_debt = self.sender != "human" and self.kind == "request"
        return self.status == UNDELIVERABLE and not is_debt


@dataclass(slots=True)
class Flight:
    """A text whose intent is written and whose outcome is not: after a crash, nobody knows.

    `pointed`: it begins with a pointer to the role's prompt.
    """

    job: str
    kind: str
    role: str
    at: float
    relay: str | None = None
    decision: int | None = None
    pointed: bool = False


@dataclass(slots=True)
class Notice:
    """Something that the human is to be told. `ok` is None while no answer came back.

    `cause`: what it is about (`question`, `gates`, `episode`), to see whether that has ended before it was told.
    """

    id: str
    kind: str
    at: float
    action: bool
    text: str
    ok: bool | None = None
    said: str = ""
    decision: int | None = None
    cause: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Seat:
    """Who sits in a role: the driver's identity of it and the agent session that it is on.

    `needs_prompt`: the role's prompt was not handed over when it started, and no text has pointed to it yet.
    `is_lost`: its agent was seen gone; `resumable`: the driver can start it again by itself. `started_at`: when its
    agent was started; `lived_s`: for how long it ran, once it is lost; `said`: the last lines that it left then.
    `is_open`: an agent was seen alive on its agent session, so there is one to be taken up.
    """

    identity: dict[str, Any]
    agent_session: str | None
    since: float
    needs_prompt: bool = False
    is_lost: bool = False
    resumable: bool = False
    started_at: float | None = None
    lived_s: float | None = None
    said: str = ""
    is_open: bool = False

    @property
    def resumes(self) -> str | None:
        """The agent session that its next agent takes up; None where one is begun. A program that ended before it was
        ever seen at work may have kept nothing, and would refuse to go on with it for ever."""
        return self.agent_session if self.is_open else None

    def seen_alive(self, *, after_a_turn: bool = False) -> None:
        """Somebody is there. Where a session comes to be with a turn only (`opens_late`), that alone opens it."""
        self.is_open = self.is_open or after_a_turn or not self.identity.get("opens_late")


@dataclass(slots=True)
class SetAside:
    """A file of a spool that was no record, and why."""

    name: str
    reason: str
    at: float


@dataclass(slots=True)
class RoleSeen:
    """A role's state (`busy`, `idle`, `gone`, `unknown`), since when, and what it was seen by (`hook`, `screen`, …)."""

    status: str
    since: float
    evidence: str


@dataclass(slots=True)
class Raised:
    """A gate that somebody raised and nobody has cleared. `until`: the end that it named."""

    since: float
    until: float | None
    reason: str = ""


@dataclass(slots=True)
class Awaited:
    """A decision whose outcome has not come back yet."""

    number: int
    event: str
    role: str | None
    at: float
    redelivers: str | None = None


@dataclass(slots=True)
class Question:
    """A question that waits for the human. `dialog`: it stands on the agent's screen and is answered there; `by_mat`:
    mat asks it, and the answer goes to the role."""

    id: str
    role: str
    text: str
    at: float
    dialog: bool = False
    by_mat: bool = False


@dataclass(slots=True)
class Ledger:
    """See the module's text. All times are the journal's `at`.

    `not_seen`: numbers below `seq` that no relay has come with yet. `untold`: notifications that were decided and not
    yet handed to the channels, by number. `ending`, `restarting`: what a human asked for and is not done yet.
    `troubles`: what is wrong around the session (`disk-full`, `folder`) and was told. `lost`: its agents went together
    with those of other sessions, which was told once for the host. `exhausted`: how far the renewal has come of a role
    whose context is full; `ends`: when a role's agents ended by themselves; `counted_from`: when the human started it,
    where that forgot earlier ends; `crash_loops`: roles that are not started again. `left`: the last text of a role,
    where nobody knows whether it was submitted.
    """

    session: str = ""
    workdir: str = ""
    path: str = ""
    command: str = "send-relay"
    size: tuple[int, int] = (160, 48)
    config: dict[str, Any] = field(default_factory=dict)
    opened_at: float = 0.0
    ended_at: float | None = None
    watched_at: float = 0.0
    watching: bool = False
    cycles: int = 0
    cycle: str | None = None
    goal: str | None = None
    last_cycle: dict[str, str] = field(default_factory=dict)
    relays: dict[str, Relay] = field(default_factory=dict)
    seq: int = 0
    not_seen: list[int] = field(default_factory=list)
    seats: dict[str, Seat] = field(default_factory=dict)
    roles: dict[str, RoleSeen] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    progress_at: float = 0.0
    gates: dict[str, Raised] = field(default_factory=dict)
    awaited: dict[str, Awaited] = field(default_factory=dict)
    flights: dict[str, Flight] = field(default_factory=dict)
    wrapups: list[int] = field(default_factory=list)
    wrapup_of: dict[str, dict[str, Any]] = field(default_factory=dict)
    untold: dict[str, dict[str, Any]] = field(default_factory=dict)
    notices: dict[str, Notice] = field(default_factory=dict)
    ending: bool = False
    restarting: list[str] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)
    lost: bool = False
    set_aside: list[SetAside] = field(default_factory=list)
    set_aside_total: int = 0
    frontier: dict[str, dict[str, int]] = field(default_factory=dict)
    injected: int = 0
    typed: dict[str, list[str]] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    mistake: str | None = None
    exhausted: dict[str, str] = field(default_factory=dict)
    ends: dict[str, list[float]] = field(default_factory=dict)
    counted_from: dict[str, float] = field(default_factory=dict)
    crash_loops: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    @property
    def places(self) -> SessionPlaces:
        """The session's folder below its working directory."""
        return SessionPlaces.of(Path(self.workdir), self.session)

    @property
    def ended(self) -> bool:
        return self.ended_at is not None

    def pending(self, role: str) -> list[Relay]:
        """The relays that wait for `role`, in the order in which they were sent."""
        return [r for r in self.relays.values() if r.to == role and r.status == PENDING]

    def turned_back(self, role: str) -> list[Relay]:
        """The relays that found no agent in `role`'s seat and are put back once one is there, oldest first."""
        return [r for r in self.relays.values() if r.to == role and r.comes_again]

    def is_taken(self, seq: int) -> bool:
        """Whether a relay of that number was taken up. They may come out of order, but each number once."""
        return seq <= self.seq and seq not in self.not_seen

    @property
    def window_s(self) -> float:
        """How long all must be quiet before the ladder acts."""
        return float((self.config.get("recovery") or {}).get("window", 600.0))

    def status(self, role: str) -> str:
        """`busy`, `idle`, `gone` or `unknown`."""
        seen = self.roles.get(role)
        return seen.status if seen is not None else "unknown"

    def held(self, role: str, now: float) -> str | None:
        """The gate for which no text may be typed into `role`'s seat now, or None.

        A declared wait holds the ladder, not the post: what was sent to the role is still delivered.
        """
        for gate, raised in self.gates.items():
            name, _, whose = gate.partition("/")
            lasts = raised.until is None or raised.until > now
            if whose in ("", role) and name != "declared-wait" and lasts:
                return name
        return None


Fold = Callable[[Ledger, float, Mapping[str, Any]], None]
"""Takes an entry of one name into the ledger: its time (`at`) and its data."""
