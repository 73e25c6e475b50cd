"""A session at a glance, as plain data: what `mat status --json` prints and the table and `mat why` are made from.

Computed from the journal alone, without a supervisor; times are wall clock (Unix), durations seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from matcore.engine import heartbeat
from matcore.engine.book import Book
from matcore.engine.ledger import PENDING, UNCONFIRMED, UNDELIVERABLE, Notice
from matcore.places import StatePlaces
from matcore.rules import decisions as d
from matcore.rules import view
from matcore.show.phrases import LAST_RUNG


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
    """`until`: when it ends, if it names that or settles; the core's own are ended by what they wait for. `due_s`: time
    for which the ladder was due under it. `escalates_at`: None where that is not in sight."""

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
    """`stale`: it holds its lock, but its heartbeat is old: it hangs, and nothing shown can be trusted.

    `sessions`: those that it watches, None where that is not known. `set_aside`: records of the user's spool, and of
    hooks, that it could not take up.
    """

    alive: bool
    stale: bool
    pid: int | None
    heartbeat_age_s: float | None
    sessions: list[str] | None = None
    set_aside: int = 0


class Snapshot(msgspec.Struct):
    """`state`: `watched`, `unwatched` (nobody watches it), `hangs` (the supervisor has no heartbeat), `failed` (our
    mistake), `ended`, `unreadable` (`fault` says why; nothing else is known then).

    `needs`: why a person is needed, in a few words; None while nobody is.
    """

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
    needs: str | None
    fault: str | None


_Wall = Callable[[float], float]
"""From a time of the journal to Unix time."""

JUST_NOW_S = 3.0
"""So long after its start a session need not stand in the heartbeat yet."""


def of(book: Book, supervisor: Supervisor, now_s: float) -> Snapshot:
    """`now_s` is the wall clock; the session is shown as it will be then if nothing has happened since."""
    ledger, state = book.ledger, book.state
    last = book.journal.last()
    shift = (last.wall - last.at) if last is not None else 0.0
    session_state = _state(book, supervisor, now_s - shift)
    # While nobody watches, no time adds up.
    now = max(book.at, now_s - shift) if session_state == "watched" else book.at

    def wall(at: float) -> float:
        return at + shift

    debt, episode, cycle = view.debt(state), view.episode(state), view.cycle(state)
    quiet = view.quiet(state, now)
    gates = view.active_gates(state, now)
    shot = Snapshot(
        session=ledger.session or book.journal.session,
        driver=str(ledger.config.get("driver", "")),
        state=session_state,
        now=now_s,
        cycle=cycle.cycle if cycle else None,
        goal=ledger.goal if cycle else None,
        cycle_since=wall(cycle.since) if cycle else None,
        paused=any(gate.name == "paused" for gate in gates),
        roles=[_role(book, seat, wall) for seat in view.seats(state)],
        baton=Baton(debt.role, debt.relay, debt.sender, wall(debt.since), debt.delivered) if debt else None,
        episode=(
            EpisodeView(episode.number, episode.rung, wall(episode.opened), str(episode.stage)) if episode else None
        ),
        quiet_s=quiet.accumulated,
        quiet=quiet.running,
        next=_next(book, now, wall) if session_state == "watched" else None,
        gates=[_gate(book, gate, wall) for gate in gates],
        relays=[
            RelayView(relay.id, relay.sender, relay.to, relay.status, wall(relay.changed_at))
            for relay in ledger.relays.values()
            if relay.status in (PENDING, UNCONFIRMED, UNDELIVERABLE)
        ],
        questions=[QuestionView(q.id, q.role, q.text, wall(q.at), q.dialog) for q in ledger.questions.values()],
        not_delivered=[_notice(n, wall) for n in ledger.notices.values() if n.ok is False],
        set_aside=ledger.set_aside_total,
        last_decision=_last_decision(book),
        supervisor=supervisor,
        needs=None,
        fault=None,
    )
    shot.needs = _needs(shot)
    return shot


def unreadable(session: str, fault: str, supervisor: Supervisor, now_s: float) -> Snapshot:
    """A session of which nothing can be said but why."""
    return Snapshot(
        session=session, driver="", state="unreadable", now=now_s, cycle=None, goal=None, cycle_since=None,
        paused=False, roles=[], baton=None, episode=None, quiet_s=0.0, quiet=False, next=None, gates=[], relays=[],
        questions=[], not_delivered=[], set_aside=0, last_decision=None, supervisor=supervisor,
        needs="its journal can't be read", fault=fault,
    )  # fmt: skip


def supervisor_of(state: StatePlaces, boot_s: float) -> Supervisor:
    """Whether somebody watches, and how sure that is. `boot_s`: CLOCK_BOOTTIME now."""
    beat = heartbeat.read(state)
    alive = heartbeat.alive(state)
    aside = sum(1 for path in (state.spool / "aside").glob("*") if path.suffix != ".reason")
    if beat is None:
        return Supervisor(alive, stale=False, pid=None, heartbeat_age_s=None, set_aside=aside)
    age_s = max(0.0, boot_s - beat.boot_s)
    return Supervisor(
        alive=alive,
        stale=alive and age_s > heartbeat.STALE_S,
        pid=beat.pid if alive else None,
        heartbeat_age_s=age_s,
        sessions=beat.sessions if alive else None,
        set_aside=aside,
    )


def _state(book: Book, supervisor: Supervisor, now: float) -> str:
    ledger = book.ledger
    if ledger.ended:
        return "ended"
    if ledger.mistake is not None:
        return "failed"
    listed = (
        supervisor.sessions is None or ledger.session in supervisor.sessions or now - ledger.watched_at < JUST_NOW_S
    )
    if not (supervisor.alive and ledger.watching and listed):
        return "unwatched"
    return "hangs" if supervisor.stale else "watched"


def _needs(shot: Snapshot) -> str | None:
    """The first reason for which a person has to act, the most pressing first."""
    asking = ", ".join(question.role for question in shot.questions)
    told = shot.episode is not None and shot.episode.rung >= LAST_RUNG
    escalated = ", ".join(gate.gate for gate in shot.gates if gate.escalated)
    reasons = (
        ("nobody watches it", shot.state == "unwatched"),
        ("its supervisor hangs", shot.state == "hangs"),
        ("mat itself failed in it", shot.state == "failed"),
        (f"{asking} waits for your answer", bool(asking)),
        ("it stands still, and waking did not help", told),
        (f"it can't be woken because of {escalated}", bool(escalated)),
        ("a notification did not reach you", bool(shot.not_delivered)),
    )
    return None if shot.state == "ended" else next((reason for reason, holds in reasons if holds), None)


def _role(book: Book, seat: view.Seat, wall: _Wall) -> RoleView:
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


def _gate(book: Book, gate: view.ActiveGate, wall: _Wall) -> GateView:
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


def _next(book: Book, now: float, wall: _Wall) -> Next | None:
    if book.ledger.ended or not view.watched(book.state):
        return None
    decided = view.outlook(book.state, now)
    if not decided:
        return None
    first = next((each for each in decided if isinstance(each, d.Nudge | d.Notify)), decided[0])
    record = d.record(first)
    record.pop("number", None)
    return Next(wall(float(str(record.pop("at")))), record)


def _notice(notice: Notice, wall: _Wall) -> NoticeView:
    return NoticeView(notice.kind, wall(notice.at), notice.text, notice.said)


def _last_decision(book: Book) -> dict[str, Any] | None:
    last = next(iter(book.journal.tail(1, kinds=["decision"])), None)
    return None if last is None else {**last.data, "event": last.name, "wall": last.wall}
