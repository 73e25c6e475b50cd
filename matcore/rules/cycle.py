"""Units of work and their boundaries (rule 11).

Where the page leaves a choice: a cycle that somebody ends who is neither a role nor the human has not ended.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from matcore.rules import debts, ladder, wakes
from matcore.rules.decisions import ClosedBy, CycleOutcome, CycleStale, GoalWrapup, Notify, NotifyKind
from matcore.rules.facts import HUMAN, CycleBlocked, CycleCompleted, CycleOpened
from matcore.rules.work import Work


class Cycle(enum.StrEnum):
    NONE = "none open"
    OPEN = "open"


class Event(enum.StrEnum):
    OPENED = "cycle.opened"
    ENDED = "completed or blocked, the open one"
    ENDED_OTHER = "completed or blocked, another one"


class Move(enum.StrEnum):
    BEGIN = "boundary; the new one is open"
    END = "boundary; none is open; wrap-up if a role said so; notify"
    STALE = "cycle.stale"


TABLE: Mapping[Cycle, Mapping[Event, Move]] = {
    Cycle.NONE: {Event.OPENED: Move.BEGIN, Event.ENDED: Move.STALE, Event.ENDED_OTHER: Move.STALE},
    Cycle.OPEN: {Event.OPENED: Move.BEGIN, Event.ENDED: Move.END, Event.ENDED_OTHER: Move.STALE},
}


def opened(work: Work, fact: CycleOpened) -> None:
    _boundary(work)
    work.cycle, work.cycle_us = fact.cycle, work.now_us


def ended(work: Work, fact: CycleCompleted | CycleBlocked) -> None:
    if fact.by != HUMAN and work.role(fact.by) is None:
        return
    state = Cycle.NONE if work.cycle is None else Cycle.OPEN
    event = Event.ENDED if fact.cycle == work.cycle else Event.ENDED_OTHER
    if TABLE[state][event] is Move.STALE:
        work.decide(CycleStale, cycle=fact.cycle)
        return
    _boundary(work)
    work.cycle = None
    completed = isinstance(fact, CycleCompleted)
    if fact.by != HUMAN:
        outcome = CycleOutcome.COMPLETED if completed else CycleOutcome.BLOCKED
        work.decide(GoalWrapup, cycle=fact.cycle, role=fact.by, outcome=outcome)
    kind = NotifyKind.CYCLE_COMPLETED if completed else NotifyKind.CYCLE_BLOCKED
    work.decide(Notify, kind=kind, action=not completed, cycle=fact.cycle)


def _boundary(work: Work) -> None:
    ladder.progress(work, ClosedBy.BOUNDARY, cycle=work.cycle)
    debts.forget_all(work)
    work.markers = ()
    wakes.end_all(work, None, wakes.Event.BOUNDARY)
