"""A session at a glance, taken from its journal alone, without a supervisor. The shapes are in `shapes`.

The session is shown as it is at that moment if nothing has happened since the last entry. How much time has passed
since then is told by the clock that can't be set, where the entry is of this boot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from matcore.engine import rounds
from matcore.engine.book import Book
from matcore.engine.clock import SystemClock
from matcore.engine.journal import Entry
from matcore.engine.ledger import PENDING, UNCONFIRMED, UNDELIVERABLE, Ledger, Relay
from matcore.errors import MatError
from matcore.places import StatePlaces
from matcore.rules import decisions as d
from matcore.rules import view
from matcore.rules.state import State
from matcore.show import byitself, dialogs, failures, seats, waits
from matcore.show.log import outcomes
from matcore.show.outlook import outlook
from matcore.show.shapes import (
    Awaits,
    Baton,
    EndedCycle,
    EpisodeView,
    GateView,
    Next,
    NoticeView,
    QuestionView,
    RelayView,
    Snapshot,
    Supervisor,
    TroubleView,
)
from matcore.show.watch import state_of, supervisor_of

__all__ = ["Snapshot", "Supervisor", "of", "read", "supervisor_of", "unreadable"]


@dataclass(frozen=True, slots=True)
class _Times:
    """`now`: the journal's time. `wall`: from a time of the journal to Unix time."""

    now: float
    wall: Callable[[float], float]


def read(state: StatePlaces, session: str, supervisor: Supervisor, now_s: float) -> tuple[Snapshot, Book | None]:
    """The session of that folder's name, as it is now, and its book, which is the caller's to close. No book where its
    journal can't be read, or holds entries that this mat can't follow: whatever it is, it is this session's own."""
    try:
        book = Book.read(state.journal(session))
    except MatError as error:
        return unreadable(session, str(error), supervisor, now_s), None
    except Exception as error:  # noqa: BLE001 - any of them must hide no other session
        fault = f"{state.journal(session)}: this mat can't follow its entries ({error}); see: mat verify {session}"
        return unreadable(session, fault, supervisor, now_s), None
    shot = of(book, supervisor, now_s)
    shot.session = session  # a put-aside one is known by its folder's name
    return shot, book


def of(book: Book, supervisor: Supervisor, now_s: float, *, is_over: bool = False) -> Snapshot:
    """As of `now_s` (Unix), which is now, or, with `is_over`, a time before which `book`'s last entry was written."""
    times = _times(book, now_s, is_over)
    state = state_of(book, supervisor, times.now)
    if state != "watched":  # while nobody watches, no time adds up
        times = _Times(book.at, times.wall)
    ledger, core, wall = book.ledger, book.state, times.wall
    cycle, quiet = view.cycle(core), view.quiet(core, times.now)
    gates = [_gate(ledger, gate, wall) for gate in view.active_gates(core, times.now)]
    shot = Snapshot(
        session=ledger.session or book.journal.session,
        driver=str(ledger.config.get("driver", "")),
        state=state,
        now=now_s,
        workdir=ledger.workdir,
        ended=None if ledger.ended_at is None else wall(ledger.ended_at),
        window_s=ledger.window_s,
        cycle=cycle.cycle if cycle else None,
        goal=ledger.goal if cycle else None,
        cycle_since=wall(cycle.since) if cycle else None,
        last_cycle=None if cycle else _last_cycle(book),
        paused=any(gate.gate == "paused" for gate in gates),
        roles=[seats.role(ledger, seat, wall) for seat in view.seats(core)],
        baton=_baton(core, wall),
        episode=_episode(core, wall),
        quiet_s=quiet.accumulated,
        quiet=quiet.running,
        due_at=None if quiet.due_at is None else wall(quiet.due_at),
        awaits=_awaits(book, wall),
        gates=gates,
        relays=[
            _relay(ledger, relay, times)
            for relay in ledger.relays.values()
            if relay.status in (PENDING, UNCONFIRMED, UNDELIVERABLE)
        ],
        failed=failures.of(book, wall),
        questions=[
            QuestionView(q.id, q.role, q.text, wall(q.at), q.dialog, q.by_mat) for q in ledger.questions.values()
        ],
        not_delivered=[
            NoticeView(n.kind, wall(n.at), n.text, n.said) for n in ledger.notices.values() if n.ok is False
        ],
        troubles=[TroubleView(what, reason) for what, reason in ledger.troubles.items()],
        set_aside=ledger.set_aside_total,
        last_decision=_last_decision(book),
        supervisor=supervisor,
    )  # fmt: skip
    if state == "watched":
        shot.next, shot.then = _outlook(book, times)
    dialogs.see(shot)
    shot.needs = next((wait.needs for wait in waits.of(shot)), None)
    return shot


def unreadable(session: str, fault: str, supervisor: Supervisor, now_s: float) -> Snapshot:
    """A session of which nothing can be said but why."""
    shot = Snapshot(session=session, driver="", state="unreadable", now=now_s, supervisor=supervisor, fault=fault)
    shot.needs = next(wait.needs for wait in waits.of(shot))
    return shot


def _times(book: Book, now_s: float, is_over: bool) -> _Times:
    last = _last(book)
    passed = 0.0 if last is None else now_s - last.wall
    at = book.at if last is None else last.at
    clock, marks = SystemClock(), [] if is_over else book.journal.marks()
    boot_s = clock.boot_s()
    if marks and marks[-1].boot_id == clock.boot_id() and marks[-1].boot_s <= boot_s:
        now = marks[-1].at + (boot_s - marks[-1].boot_s)
    else:
        now = at + passed
    return _Times(max(book.at, now), lambda moment: now_s - (now - moment))


def _last(book: Book) -> Entry | None:
    """The newest entry that is folded: the journal may go on."""
    return next(book.journal.entries(before=book.seq + 1, newest_first=True), None)


def _baton(core: State, wall: Callable[[float], float]) -> Baton | None:
    debt = view.debt(core)
    return None if debt is None else Baton(debt.role, debt.relay, debt.sender, wall(debt.since), debt.delivered)


def _episode(core: State, wall: Callable[[float], float]) -> EpisodeView | None:
    episode = view.episode(core)
    if episode is None:
        return None
    return EpisodeView(episode.number, episode.rung, wall(episode.opened), str(episode.stage))


def _gate(ledger: Ledger, gate: view.ActiveGate, wall: Callable[[float], float]) -> GateView:
    raised = ledger.gates.get(gate.name)
    return GateView(
        gate=gate.name,
        since=wall(gate.since),
        until=wall(gate.ends) if gate.ends is not None else None,
        cleared=wall(gate.cleared) if gate.cleared is not None else None,
        due_s=gate.accumulated,
        escalated=gate.escalated,
        escalates_at=wall(gate.escalates_at) if gate.escalates_at is not None else None,
        reason=raised.reason if raised else "",
    )


def _relay(ledger: Ledger, relay: Relay, times: _Times) -> RelayView:
    held_by = _held_by(ledger, relay, times.now)
    until = byitself.free_at(ledger, relay.to, times.now) if held_by is not None and held_by in ledger.gates else None
    return RelayView(
        relay.id, relay.sender, relay.to, relay.status, times.wall(relay.changed_at), held_by,
        None if until is None else times.wall(until), relay.comes_again,
    )  # fmt: skip


def _held_by(ledger: Ledger, relay: Relay, now: float) -> str | None:
    if relay.status != PENDING:
        return None
    status, gate = ledger.status(relay.to), ledger.held(relay.to, now)
    if gate is not None and status != "busy":
        return f"{gate}/{relay.to}" if f"{gate}/{relay.to}" in ledger.gates else gate
    if status != "idle":
        return status
    return "rounds" if rounds.waiting(ledger) is not None and relay.sender != "human" else None


def _awaits(book: Book, wall: Callable[[float], float]) -> list[Awaits]:
    numbers = view.awaited(book.state)
    awaited = [each for each in book.ledger.awaited.values() if each.number in numbers]
    return [Awaits(each.event, each.role, wall(each.at)) for each in awaited]


def _outlook(book: Book, times: _Times) -> tuple[Next | None, Next | None]:
    if book.ledger.ended or not view.watched(book.state):
        return None, None
    seen = outlook(book.state, times.now, byitself.coming(book, times.now))
    return _next(seen.next, times), _next(seen.then, times)


def _next(decision: d.Decision | None, times: _Times) -> Next | None:
    if decision is None:
        return None
    record = d.record(decision)
    record.pop("number", None)
    return Next(times.wall(float(str(record.pop("at")))), record)


def _last_decision(book: Book) -> dict[str, Any] | None:
    last = next(book.journal.entries(before=book.seq + 1, kinds=["decision"], newest_first=True), None)
    if last is None:
        return None
    ok = outcomes(book.journal, last.seq, book.seq + 1).get(int(str(last.data["number"])))
    return {**last.data, "event": last.name, "wall": last.wall, **({} if ok is None else {"ok": ok})}


def _last_cycle(book: Book) -> EndedCycle | None:
    """Of those that were open: an end of another one changes nothing."""
    last = book.ledger.tally.last
    ends = book.journal.entries(before=book.seq + 1, names=["cycle.completed", "cycle.blocked"], newest_first=True)
    found = next((each for each in islice(ends, 8) if last is not None and each.data["cycle"] == last.cycle), None)
    if found is None:
        return None
    outcome, reason = found.name.removeprefix("cycle."), found.data.get("reason")
    return EndedCycle(
        str(found.data["cycle"]), outcome, str(found.data["by"]), None if reason is None else str(reason), found.wall
    )
