"""A deadline on progress (rule 10): whatever moved meanwhile, the human hears of a cycle that does not get on.

While a rung 3 is on its way the deadline waits for its outcome, a minute at most: it may tell the human just now.
"""

from __future__ import annotations

from matcore.rules.decisions import Notify, NotifyKind, ProgressOverdue
from matcore.rules.moments import us
from matcore.rules.policy import LAST_RUNG
from matcore.rules.state import Gap, State
from matcore.rules.work import Work


def moment(state: State | Work) -> int | None:
    """When it will be told, if nothing moves; None if it will not, or not as things stand."""
    deadline = state.policy.progress_deadline_us
    if not deadline or state.cycle is None or state.gap is not None or state.told:
        return None
    if state.progress.since_us is None and state.progress.banked_us >= deadline:
        return state.now_us
    return state.progress.reaches(deadline)


def wants(state: State | Work) -> bool:
    due = moment(state)
    return due is not None and due <= state.now_us and not _being_told(state)


def turn(work: Work) -> None:
    """All facts of this instant are in and the ladder has nothing to say."""
    if work.cycle is not None and wants(work):
        work.told = True
        work.decide(ProgressOverdue, cycle=work.cycle)
        work.decide(Notify, kind=NotifyKind.OVERDUE, action=True)


def less_sleep(work: Work, gap: Gap, slept_s: float) -> None:
    """Of the gap only so much counts as the machine was awake for; what a pause had stopped is not taken off twice."""
    ran = work.progress.read(work.now_us) - gap.ran_us
    awake = max(0, work.now_us - gap.since_us - us(slept_s))
    work.progress = work.progress.less(max(0, ran - awake))


def _being_told(state: State | Work) -> bool:
    flight = None if state.episode is None else state.episode.flight
    return flight is not None and flight.rung == LAST_RUNG and not flight.disowned
