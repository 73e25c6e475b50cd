"""A session at a glance, as plain data: what `mat status --json` prints and the table and `mat why` are made from.

Computed from the journal alone, without a supervisor; times are wall clock (Unix), durations seconds.
"""

from __future__ import annotations

from typing import Any

import msgspec

from matcore.engine import heartbeat
from matcore.engine.book import Book
from matcore.engine.ledger import UNCONFIRMED, UNDELIVERABLE, Notice
from matcore.places import StatePlaces
from matcore.rules import decisions as d
from matcore.rules import view


class RoleView(msgspec.Struct):
    role: str
    backend: str
    status: str
    since: float
    evidence: str
    agent_session: str | None
    agent_session_since: float | None


class Baton(msgspec.Struct):
    role: str
    relay: str
    sender: str
    since: float
    delivered: bool


class EpisodeView(msgspec.Struct):
    """`rung`: the last one used up, 0 before the first."""

    episode: int
    rung: int
    opened: float
    stage: str


class Next(msgspec.Struct):
    """What is decided next if nothing moves: the event with its keys, and when."""

    at: float
    decision: dict[str, Any]


class GateView(msgspec.Struct):
    """`due_s`: time for which the ladder was due under it. `escalates_at`: None where that is not in sight."""

    gate: str
    since: float
    until: float | None
    due_s: float
    escalated: bool
    escalates_at: float | None
    reason: str


class RelayView(msgspec.Struct):
    id: str
    sender: str
    to: str
    status: str
    since: float


class NoticeView(msgspec.Struct):
    kind: str
    at: float
    text: str
    said: str


class QuestionView(msgspec.Struct):
    id: str
    role: str
    text: str
    since: float
    dialog: bool


class Supervisor(msgspec.Struct):
    """`stale`: it holds its lock, or was last seen, but its heartbeat is old: nothing shown can be trusted."""

    alive: bool
    stale: bool
    pid: int | None
    heartbeat_age_s: float | None


class Snapshot(msgspec.Struct):
    """`state`: `watched`, `unwatched` (nobody watches it), `failed` (our mistake), `ended`."""

    session: str
    driver: str
    state: str
    now: float
    cycle: str | None
    goal: str | None
    cycle_since: float | None
    paused: bool
    roles: list[RoleView]
    baton: Baton | None
    episode: EpisodeView | None
    quiet_s: float
    quiet: bool
    next: Next | None
    gates: list[GateView]
    relays: list[RelayView]
    questions: list[QuestionView]
    not_delivered: list[NoticeView]
    set_aside: int
    last_decision: dict[str, Any] | None
    supervisor: Supervisor


def of(book: Book, supervisor: Supervisor, now_s: float) -> Snapshot:
    """`now_s` is the wall clock; the session is shown as it will be then if nothing has happened since."""
    ledger, state = book.ledger, book.state
    last = book.journal.last()
    shift = (last.wall - last.at) if last is not None else 0.0
    now = max(book.at, now_s - shift)

    def wall(at: float) -> float:
        return at + shift

    debt, episode, cycle = view.debt(state), view.episode(state), view.cycle(state)
    quiet = view.quiet(state, now)
    return Snapshot(
        session=ledger.session or book.journal.session,
        driver=str(ledger.config.get("driver", "")),
        state=_state(book, supervisor),
        now=now_s,
        cycle=cycle.cycle if cycle else None,
        goal=ledger.goal,
        cycle_since=wall(cycle.since) if cycle else None,
        paused=any(gate.name == "paused" for gate in view.active_gates(state, now)),
        roles=[_role(book, seat, wall) for seat in view.seats(state)],
        baton=Baton(debt.role, debt.relay, debt.sender, wall(debt.since), debt.delivered) if debt else None,
        episode=(
            EpisodeView(episode.number, episode.rung, wall(episode.opened), str(episode.stage)) if episode else None
        ),
        quiet_s=quiet.accumulated,
        quiet=quiet.running,
        next=_next(book, now, wall),
        gates=[_gate(book, gate, wall) for gate in view.active_gates(state, now)],
        relays=[
            RelayView(relay.id, relay.sender, relay.to, relay.status, wall(relay.changed_at))
            for relay in ledger.relays.values()
            if relay.status in ("pending", UNCONFIRMED, UNDELIVERABLE)
        ],
        questions=[QuestionView(q.id, q.role, q.text, wall(q.at), q.dialog) for q in ledger.questions.values()],
        not_delivered=[_notice(n, wall) for n in ledger.notices.values() if n.ok is False],
        set_aside=ledger.set_aside_total,
        last_decision=_last_decision(book),
        supervisor=supervisor,
    )


def supervisor_of(state: StatePlaces, boot_s: float) -> Supervisor:
    """Whether somebody watches, and how sure that is. `boot_s`: CLOCK_BOOTTIME now."""
    beat = heartbeat.read(state)
    alive = heartbeat.alive(state)
    if beat is None:
        return Supervisor(alive, alive, None, None)
    age_s = max(0.0, boot_s - beat.boot_s)
    return Supervisor(alive, alive and age_s > heartbeat.STALE_S, beat.pid if alive else None, age_s)


def _state(book: Book, supervisor: Supervisor) -> str:
    if book.ledger.ended:
        return "ended"
    if book.ledger.mistake is not None:
        return "failed"
    return "watched" if supervisor.alive and book.ledger.watching else "unwatched"


def _role(book: Book, seat: view.Seat, wall: Any) -> RoleView:
    ledger = book.ledger
    seen, sits = ledger.roles.get(seat.role), ledger.seats.get(seat.role)
    return RoleView(
        role=seat.role,
        backend=str(ledger.config.get("roles", {}).get(seat.role, {}).get("backend", "")),
        status=str(seat.status),
        since=wall(seat.since),
        evidence=seen.evidence if seen else "",
        agent_session=sits.agent_session if sits else None,
        agent_session_since=wall(sits.since) if sits else None,
    )


def _gate(book: Book, gate: view.ActiveGate, wall: Any) -> GateView:
    raised = book.ledger.gates.get(gate.name)
    return GateView(
        gate=gate.name,
        since=wall(gate.since),
        until=wall(gate.ends) if gate.ends is not None else None,
        due_s=gate.accumulated,
        escalated=gate.escalated,
        escalates_at=wall(gate.escalates_at) if gate.escalates_at is not None else None,
        reason=raised.reason if raised else "",
    )


def _next(book: Book, now: float, wall: Any) -> Next | None:
    if book.ledger.ended or not view.watched(book.state):
        return None
    decided = view.outlook(book.state, now)
    if not decided:
        return None
    first = next((each for each in decided if isinstance(each, d.Nudge | d.Notify)), decided[0])
    record = d.record(first)
    record.pop("number", None)
    return Next(wall(float(str(record.pop("at")))), record)


def _notice(notice: Notice, wall: Any) -> NoticeView:
    return NoticeView(notice.kind, wall(notice.at), notice.text, notice.said)


def _last_decision(book: Book) -> dict[str, Any] | None:
    last = next(iter(book.journal.tail(1, kinds=["decision"])), None)
    return None if last is None else {**last.data, "event": last.name, "wall": last.wall}
