"""What the journal says about the carrying out: seats, relays on their way, texts in flight, notices, set-aside files.

The core's state says what was decided; the ledger says what became of it. Both are folds of the same entries, so that
the running supervisor, a restarted one and a command that only reads agree by construction: nothing here is ever
changed but by `apply(entry)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

PENDING, DELIVERED, UNCONFIRMED, UNDELIVERABLE = "pending", "delivered", "unconfirmed", "undeliverable"
_LAST_NOTICES = 64
_LAST_SET_ASIDE = 16
_LAST_TYPED = 8


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


@dataclass(slots=True)
class Flight:
    """A text whose intent is written and whose outcome is not: after a crash, nobody knows."""

    job: str
    kind: str
    role: str
    at: float
    relay: str | None = None
    decision: int | None = None


@dataclass(slots=True)
class Notice:
    """Something that the human is to be told. `ok` is None while no answer came back."""

    id: str
    kind: str
    at: float
    action: bool
    text: str
    ok: bool | None = None
    said: str = ""
    decision: int | None = None


@dataclass(slots=True)
class Seat:
    """Who sits in a role: the driver's identity of it and the agent session that it is on."""

    identity: dict[str, Any]
    agent_session: str | None
    since: float


@dataclass(slots=True)
class SetAside:
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
    """A question that waits for the human. `dialog`: it stands on the agent's screen and is answered there."""

    id: str
    role: str
    text: str
    at: float
    dialog: bool = False


@dataclass(slots=True)
class Ledger:
    """See the module's text. All times are the journal's `at`."""

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
    notices: dict[str, Notice] = field(default_factory=dict)
    set_aside: list[SetAside] = field(default_factory=list)
    set_aside_total: int = 0
    frontier: dict[str, dict[str, int]] = field(default_factory=dict)
    injected: int = 0
    typed: dict[str, list[str]] = field(default_factory=dict)
    mistake: str | None = None

    @property
    def ended(self) -> bool:
        return self.ended_at is not None

    def pending(self, role: str) -> list[Relay]:
        """The relays that wait for `role`, in the order in which they were sent."""
        return [r for r in self.relays.values() if r.to == role and r.status == PENDING]

    def is_taken(self, seq: int) -> bool:
        """Whether a relay of that number was taken up. They may come out of order, but each number once."""
        return seq <= self.seq and seq not in self.not_seen

    @property
    def window_s(self) -> float:
        return float((self.config.get("recovery") or {}).get("window", 600.0))

    def status(self, role: str) -> str:
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

    def apply(self, name: str, at: float, data: Mapping[str, Any]) -> None:
        """Take in one entry of the journal, whatever its kind."""
        handler = _HANDLERS.get(name)
        if handler is not None:
            handler(self, at, data)


_Handler = Callable[[Ledger, float, Mapping[str, Any]], None]


def _up(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.session = data["session"]
    ledger.workdir = data["workdir"]
    ledger.path = data["path"]
    ledger.command = data["command"]
    ledger.size = (data["size"][0], data["size"][1])
    ledger.config = data["config"]
    ledger.opened_at = ledger.opened_at or at
    for role, identity in data["seats"].items():
        _seat(ledger, at, {"role": role, "seat": identity})


def _seat(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    identity = dict(data["seat"])
    role = data["role"]
    before = ledger.seats.get(role)
    agent_session = identity.get("agent_session")
    same = before is not None and before.agent_session == agent_session
    ledger.seats[role] = Seat(identity, agent_session, before.since if same and before else at)


def _down(ledger: Ledger, at: float, _data: Mapping[str, Any]) -> None:
    ledger.ended_at = at


def _cycle_opened(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.progress_at = at
    ledger.cycles += 1
    ledger.cycle = data["cycle"]
    ledger.goal = data.get("goal") or ledger.config.get("goal")
    _forget_settled(ledger)


def _cycle_ended(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    if data["cycle"] == ledger.cycle:
        ledger.progress_at = at
        about = {"by": data["by"], "reason": data.get("reason"), "goal": ledger.goal}
        ledger.last_cycle = {key: str(value) for key, value in about.items() if value}
        ledger.cycle = None
        _forget_settled(ledger)


def _forget_settled(ledger: Ledger) -> None:
    """A boundary clears all debts: what was delivered before it is never redelivered."""
    ledger.relays = {r.id: r for r in ledger.relays.values() if r.status == PENDING}


def _relay_sent(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    seq = int(data.get("seq") or ledger.seq + 1)
    ledger.not_seen = [n for n in ledger.not_seen if n != seq] + list(range(ledger.seq + 1, seq))
    ledger.seq = max(ledger.seq, seq)
    ledger.relays[data["id"]] = Relay(
        id=data["id"], sender=data["from"], to=data["to"], kind=data.get("kind", "request"), seq=seq, at=at,
        path=data.get("path"), body=data.get("body"), changed_at=at,
    )  # fmt: skip
    if data["from"] != "human" and data.get("kind", "request") == "request":
        ledger.progress_at = at


def _relay_delivered(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    _settle(ledger, at, data["id"], DELIVERED if data.get("confirmed", True) else UNCONFIRMED)


def _relay_undeliverable(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    _settle(ledger, at, data["id"], UNDELIVERABLE)


def _settle(ledger: Ledger, at: float, relay_id: str, status: str) -> None:
    relay = ledger.relays.get(relay_id)
    if relay is None:
        return
    relay.status, relay.changed_at = status, at
    if status != UNDELIVERABLE:
        seen = ledger.frontier.setdefault(relay.to, {})
        seen[relay.sender] = max(seen.get(relay.sender, 0), relay.seq)


def _watch_stopped(ledger: Ledger, at: float, _data: Mapping[str, Any]) -> None:
    ledger.watching, ledger.watched_at = False, at


def _watch_resumed(ledger: Ledger, at: float, _data: Mapping[str, Any]) -> None:
    ledger.watching, ledger.watched_at = True, at
    for role in ledger.roles:
        ledger.roles[role] = RoleSeen("unknown", at, "nobody watched")


def _role_seen(status: str) -> _Handler:
    def seen(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
        before = ledger.roles.get(data["role"])
        since = before.since if before is not None and before.status == status else at
        ledger.roles[data["role"]] = RoleSeen(status, since, str(data.get("evidence", "")))

    return seen


def _asked(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    question = data["question"]
    ledger.questions[question] = Question(
        question, data["role"], str(data.get("text", "")), at, bool(data.get("dialog", False))
    )


def _answered(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.questions.pop(data["question"], None)


def _gate_raised(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    name = gate_name(data)
    before = ledger.gates.get(name)
    since = before.since if before is not None else at
    ledger.gates[name] = Raised(since, data.get("until"), str(data.get("reason") or data.get("evidence") or ""))


def _gate_cleared(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.gates.pop(gate_name(data), None)


def gate_name(data: Mapping[str, Any]) -> str:
    """`copy-mode/dev` or `tmux-unreachable`."""
    role = data.get("role")
    return f"{data['gate']}/{role}" if role else str(data["gate"])


def _inject(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.injected += 1
    ledger.typed[data["role"]] = [*ledger.typed.get(data["role"], []), data["text"]][-_LAST_TYPED:]
    ledger.flights[data["job"]] = Flight(
        data["job"], data["kind"], data["role"], at, data.get("relay"), data.get("decision")
    )


def _injected(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    flight = ledger.flights.pop(data["job"], None)
    if flight is not None and flight.kind == "wrapup" and data["verdict"] != "refused" and flight.decision is not None:
        ledger.wrapups = [n for n in ledger.wrapups if n != flight.decision]
        ledger.wrapup_of.pop(str(flight.decision), None)


def _effect_ended(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    awaited = ledger.awaited.pop(str(data["decision"]), None)
    relay = ledger.relays.get(awaited.redelivers) if awaited is not None and awaited.redelivers else None
    if data["ok"] and relay is not None and relay.status in (PENDING, UNDELIVERABLE):
        _settle(ledger, at, relay.id, DELIVERED)


def _await(event: str) -> _Handler:
    def decided(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
        if event == "notify" and data["kind"] != "idle-recovery":
            return
        number = data["number"]
        ledger.awaited[str(number)] = Awaited(number, event, data.get("role"), at, data.get("redelivers"))

    return decided


def _wrapup(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.wrapups.append(data["number"])
    ledger.wrapup_of[str(data["number"])] = dict(data)


def _telling(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.notices[data["notice"]] = Notice(
        data["notice"], data["kind"], at, data["action"], data["text"], decision=data.get("decision")
    )
    settled = [n.id for n in ledger.notices.values() if n.ok is not None]
    for notice_id in settled[: max(0, len(ledger.notices) - _LAST_NOTICES)]:
        del ledger.notices[notice_id]


def _told(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    notice = ledger.notices.get(data["notice"])
    if notice is not None:
        notice.ok, notice.said = data["ok"], str(data.get("said", ""))


def _aside(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.set_aside_total += 1
    ledger.set_aside = [*ledger.set_aside, SetAside(data["name"], data["reason"], at)][-_LAST_SET_ASIDE:]


def _mistake(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.mistake = data["text"]


_HANDLERS: dict[str, _Handler] = {
    "engine.up": _up,
    "engine.seat": _seat,
    "engine.down": _down,
    "engine.inject": _inject,
    "engine.injected": _injected,
    "engine.telling": _telling,
    "engine.told": _told,
    "engine.set_aside": _aside,
    "engine.mistake": _mistake,
    "cycle.opened": _cycle_opened,
    "cycle.completed": _cycle_ended,
    "cycle.blocked": _cycle_ended,
    "relay.sent": _relay_sent,
    "relay.delivered": _relay_delivered,
    "relay.undeliverable": _relay_undeliverable,
    "watch.stopped": _watch_stopped,
    "watch.resumed": _watch_resumed,
    "role.busy": _role_seen("busy"),
    "role.idle": _role_seen("idle"),
    "role.gone": _role_seen("gone"),
    "role.unknown": _role_seen("unknown"),
    "question.asked": _asked,
    "question.answered": _answered,
    "gate.raised": _gate_raised,
    "gate.cleared": _gate_cleared,
    "effect.ended": _effect_ended,
    "nudge": _await("nudge"),
    "notify": _await("notify"),
    "final_check": _await("final_check"),
    "recovery.delivered": _await("recovery.delivered"),
    "goal.wrapup": _wrapup,
}
