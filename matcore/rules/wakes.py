"""From a delivery to a visible reply (`wake.md`): each wake ends exactly once, for it is gone from the state then.

A relay that a confirmed rung 1 has delivered opens its wake like any other: only the redelivery of something that had
been delivered already opens none.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from matcore.rules import texts
from matcore.rules.decisions import FinalCheck, WakeClosed, WakeOpened, WakeStatus
from matcore.rules.facts import HUMAN, Kind, TurnEnded, TurnOutcome
from matcore.rules.moments import us
from matcore.rules.policy import REASON_CHARACTERS
from matcore.rules.state import Relay, Row, RowStatus, Status
from matcore.rules.work import Work


class Event(enum.StrEnum):
    REPLIED = "a relay to its target that has seen it"
    ACKED = "relay.acked"
    TURN_OK = "turn.ended ok"
    TURN_ERROR = "turn.ended error"
    TURN_EARLIER = "turn.ended, of a turn begun before"
    NOT_CHECKED = "final check failed"
    GONE = "role.gone"
    EXHAUSTED = "context.exhausted"
    RENEWED = "agent.renewed"
    BOUNDARY = "boundary"


class Step(enum.StrEnum):
    STAY = "stays"
    CHECK = "one final check"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a wake ends. The reason of a failed turn is what the fact says, `error` where it says nothing."""

    status: WakeStatus
    reason: str | None

    def __str__(self) -> str:
        return f"{self.status.value}, {self.reason or 'no reason'}"


_REPLIED = Ending(WakeStatus.REPLY_SENT, None)
_ACKED = Ending(WakeStatus.REPLY_SENT, "acked")
_FAILED = Ending(WakeStatus.FAILED, "error")
_GONE = Ending(WakeStatus.FAILED, "gone")
_SIGNAL = Ending(WakeStatus.COMPLETED_WITHOUT_VISIBLE_REPLY, "signal_only")
_NO_REPLY = Ending(WakeStatus.COMPLETED_WITHOUT_VISIBLE_REPLY, "no_reply")
_EXHAUSTED = Ending(WakeStatus.COMPLETED_WITHOUT_VISIBLE_REPLY, "context_exhausted")
_RENEWED = Ending(WakeStatus.COMPLETED_WITHOUT_VISIBLE_REPLY, "new_session")
_BOUNDARY = Ending(WakeStatus.COMPLETED_WITHOUT_VISIBLE_REPLY, "boundary")

TABLE: Mapping[RowStatus, Mapping[Event, Ending | Step]] = {
    RowStatus.SIGNAL_ONLY: {
        Event.REPLIED: _REPLIED,
        Event.ACKED: _ACKED,
        Event.TURN_OK: _SIGNAL,
        Event.TURN_ERROR: _FAILED,
        Event.TURN_EARLIER: Step.STAY,
        Event.NOT_CHECKED: Step.STAY,
        Event.GONE: _GONE,
        Event.EXHAUSTED: _EXHAUSTED,
        Event.RENEWED: _RENEWED,
        Event.BOUNDARY: _BOUNDARY,
    },
    RowStatus.AWAITING_CHECK: {
        Event.REPLIED: _REPLIED,
        Event.ACKED: _ACKED,
        Event.TURN_OK: Step.CHECK,
        Event.TURN_ERROR: _FAILED,
        Event.TURN_EARLIER: Step.STAY,
        Event.NOT_CHECKED: Step.STAY,
        Event.GONE: _GONE,
        Event.EXHAUSTED: _EXHAUSTED,
        Event.RENEWED: _RENEWED,
        Event.BOUNDARY: _BOUNDARY,
    },
    RowStatus.FINAL_CHECK_SENT: {
        Event.REPLIED: _REPLIED,
        Event.ACKED: _ACKED,
        Event.TURN_OK: _NO_REPLY,
        Event.TURN_ERROR: _FAILED,
        Event.TURN_EARLIER: Step.STAY,
        Event.NOT_CHECKED: _NO_REPLY,
        Event.GONE: _GONE,
        Event.EXHAUSTED: _EXHAUSTED,
        Event.RENEWED: _RENEWED,
        Event.BOUNDARY: _BOUNDARY,
    },
}


def opened(work: Work, relay: Relay) -> None:
    """A relay was delivered: it is a wake from now on, or at once a failed one if the role is gone."""
    visible = relay.kind is Kind.REQUEST and relay.sender != HUMAN
    status = RowStatus.AWAITING_CHECK if visible else RowStatus.SIGNAL_ONLY
    open_row(work, Row(relay.id, relay.to, relay.sender, relay.seq, status, work.now_us))


def open_row(work: Work, row: Row) -> None:
    work.decide(WakeOpened, message=row.message, role=row.role, target=row.target, delivery_class=row.delivery_class)
    work.rows = (*work.rows, row)
    if work.seat(row.role).status is Status.GONE:
        end_all(work, row.role, Event.GONE)


def settled(work: Work, sender: str, target: str, upto: int) -> None:
    """What `sender` has told `target` answers all that it had seen from there."""
    _sweep(work, lambda row: row.role == sender and row.target == target and row.seq <= upto, Event.REPLIED)


def acked(work: Work, message: str, role: str) -> None:
    _sweep(work, lambda row: row.message == message and row.role == role, Event.ACKED)


def end_all(work: Work, role: str | None, event: Event) -> tuple[Row, ...]:
    """End the open wakes of a role, or of all, in order of opening; those that ended."""
    return _sweep(work, lambda row: role is None or row.role == role, event)


def turn_ended(work: Work, fact: TurnEnded) -> None:
    """End what the turn ends; then check, once and together, what nothing visible has answered yet."""
    if not any(row.role == fact.role for row in work.rows):
        return
    started = work.now_us if fact.started is None else us(fact.started)
    event = Event.TURN_OK if fact.outcome is TurnOutcome.OK else Event.TURN_ERROR
    detail = fact.detail[:REASON_CHARACTERS] if fact.detail else None
    unchecked: list[Row] = []
    kept: list[Row] = []
    for row in work.rows:
        if row.role != fact.role:
            kept.append(row)
            continue
        touched = (row.opened_us if row.checked_us is None else row.checked_us) <= started
        cell = TABLE[row.status][event if touched else Event.TURN_EARLIER]
        if isinstance(cell, Ending):
            _close(work, row, cell.status, (detail if event is Event.TURN_ERROR else None) or cell.reason)
        else:
            kept.append(row)
            if cell is Step.CHECK:
                unchecked.append(row)
    work.rows = tuple(kept)
    if unchecked:
        _check(work, fact.role, unchecked)


def check_ended(work: Work, decision: int, *, ok: bool) -> bool:
    """The outcome of a final check, if this decision is one that still waits for it."""
    rows = tuple(row for row in work.rows if row.check == decision)
    if not rows:
        return False
    if ok:
        work.rows = tuple(replace(row, check=0) if row.check == decision else row for row in work.rows)
    else:
        _sweep(work, lambda row: row.check == decision, Event.NOT_CHECKED)
    return True


def _check(work: Work, role: str, rows: list[Row]) -> None:
    number = work.decide(FinalCheck, role=role, messages=tuple(row.message for row in rows))
    now = work.now_us
    work.rows = tuple(
        replace(row, status=RowStatus.FINAL_CHECK_SENT, checked_us=now, check=number) if row in rows else row
        for row in work.rows
    )
    texts.sent(work, role, number)


def _sweep(work: Work, chosen: Callable[[Row], bool], event: Event) -> tuple[Row, ...]:
    if not work.rows:
        return ()
    over: list[Row] = []
    kept: list[Row] = []
    for row in work.rows:
        cell = TABLE[row.status][event] if chosen(row) else Step.STAY
        if isinstance(cell, Ending):
            _close(work, row, cell.status, cell.reason)
            over.append(row)
        else:
            kept.append(row)
    work.rows = tuple(kept)
    return tuple(over)


def _close(work: Work, row: Row, status: WakeStatus, reason: str | None) -> None:
    work.decide(WakeClosed, message=row.message, role=row.role, status=status, reason=reason)
