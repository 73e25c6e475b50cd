"""What time does by itself between two facts: quiet begins, becomes due, gates end, a flight has waited too long.

Each such change takes place at its own moment, whether or not a `clock.reached` was fed there: the journal holds only
those that led to something, and its fold must come out the same. Decisions are not made here.
"""

from __future__ import annotations

from matcore.rules import flights, gates, overdue
from matcore.rules.moments import STOPPED
from matcore.rules.policy import LAST_RUNG
from matcore.rules.state import State, Status
from matcore.rules.work import Work


def elapse(work: Work, to_us: int, horizon_us: int | None) -> None:
    """Go on to `to_us` through all that changes before it. What changes at `to_us` waits for the facts of then."""
    while horizon_us is not None and horizon_us < to_us:
        work.now_us = max(work.now_us, horizon_us)
        gates.forget_ended(work)
        flights.waited(work)
        refresh(work)
        horizon_us = horizon(work)
    work.now_us = max(work.now_us, to_us)
    if work.gates:
        gates.forget_ended(work)


def refresh(work: Work) -> None:
    """Bring what follows from the rest up to this instant: the clocks that run, what is due, the holds that ended."""
    now, episode = work.now_us, work.episode
    if _is_quiet(work):
        work.quiet = work.quiet.started(now)
    elif work.quiet.since_us is not None:
        work.quiet = STOPPED if episode is None else work.quiet.stopped(now)
    ready = work.quiet.reaches(work.policy.window_us)
    work.due = ready is not None and ready <= now and (episode is None or episode.rung < LAST_RUNG)
    if work.gates:
        gates.add_up(work)
    counts = work.cycle is not None and not _paused_with_end(work)
    work.progress = work.progress.started(now) if counts else work.progress.stopped(now)


def horizon(work: Work) -> int | None:
    """The next moment at which something changes by itself; right after `refresh`."""
    now = work.now_us
    window = work.policy.window_us
    best = flights.times_out(work.episode)
    for role in work.roles:
        if role.status is Status.UNKNOWN and (ripe := role.since_us + window) > now and (best is None or ripe < best):
            best = ripe
    if not work.due and (work.episode is None or work.episode.rung < LAST_RUNG):
        ready = work.quiet.reaches(window)
        if ready is not None and (best is None or ready < best):
            best = ready
    for gate in work.gates:
        end = gate.end_us
        if end is not None and end > now and (best is None or end < best):
            best = end
    return best


def next_moment(state: State) -> int | None:
    """The next moment at which the core may want to act, if nothing else happens."""
    moments = [state.horizon_us, overdue.moment(state)]
    if state.due and (state.episode is None or state.episode.flight is None):
        bound = state.policy.escalation_us
        moments += [gate.sum.reaches(bound) for gate in state.gates if not gate.escalated]
    coming = [moment for moment in moments if moment is not None and moment > state.now_us]
    return min(coming, default=None)


def _is_quiet(work: Work) -> bool:
    """Rule 1. A role that has been unknown for a whole window holds its gate from then on, whatever the others do."""
    settled = bool(work.roles)
    for role in work.roles:
        if role.status is Status.UNKNOWN:
            if work.now_us < role.since_us + work.policy.window_us:
                settled = False
            elif work.gap is None:
                name = gates.named(gates.UNKNOWN, role.name)
                if gates.find(work, name) is None:
                    gates.held(work, name)
        elif role.status is Status.BUSY:
            settled = False
    return settled and work.gap is None and work.cycle is not None


def _paused_with_end(work: Work) -> bool:
    gate = gates.find(work, gates.PAUSED)
    return gate is not None and gate.until_us is not None and gate.active(work.now_us)
