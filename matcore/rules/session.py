"""The one `step`: a fact is taken in, with the wake decisions that it causes; `clock.reached` lets the ladder act.

The caller feeds a fact, carries out what was decided, and feeds `clock.reached` while `next_deadline` is not later
than now: once all facts of an instant are in, the ladder has its turn, then the deadline on progress.

Where the page leaves a choice: a `clock.reached` ends the facts of its instant wherever it stands, for a journal that
is fed back must give the same; what comes later in the same instant has another turn of the ladder. (`mat simulate`
feeds clocks by itself, at the end of each instant.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matcore.rules import (
    cycle,
    debts,
    flights,
    gates,
    human,
    ladder,
    overdue,
    passing,
    recovery,
    relays,
    roles,
    texts,
    wakes,
)
from matcore.rules import facts as told
from matcore.rules.decisions import Decision
from matcore.rules.facts import Fact
from matcore.rules.moments import seconds, us
from matcore.rules.state import Gap, Role, State
from matcore.rules.work import Work

__all__ = ["State", "initial", "next_deadline", "step"]


def initial() -> State:
    """Before the first fact of a journal, which is `session.configured`."""
    return State()


def step(state: State, fact: Fact) -> tuple[State, tuple[Decision, ...]]:
    """The state after this fact and what was decided. A fact that is earlier than the last counts as then."""
    work = Work(state)
    passing.elapse(work, us(fact.at), state.horizon_us)
    _TAKE[type(fact)](work, fact)
    passing.refresh(work)
    return work.freeze(passing.horizon(work)), tuple(work.decisions)


def next_deadline(state: State) -> float | None:
    """The next time, in seconds, at which the core may want to act; the time of the last fact if it wants to now."""
    if ladder.wants(state) or overdue.wants(state) or _has_waited(state):
        return seconds(state.now_us)
    moment = passing.next_moment(state)
    return None if moment is None else seconds(moment)


def _has_waited(state: State) -> bool:
    moment = flights.times_out(state.episode)
    return moment is not None and moment <= state.now_us


def _clock_reached(work: Work, fact: told.ClockReached) -> None:  # noqa: ARG001 - all handlers are alike
    flights.waited(work)
    passing.refresh(work)
    ladder.turn(work)
    if not work.decisions:
        overdue.turn(work)


def _configured(work: Work, fact: told.SessionConfigured) -> None:
    """A later one may change the numbers and add roles; a seat that it no longer names stays, with all it owes."""
    work.policy = fact.policy
    known = {role.name: role for role in work.roles}
    named = tuple(known[name] if name in known else Role(name, work.now_us) for name in fact.roles)
    work.roles = (*named, *(role for role in work.roles if role.name not in fact.roles))


def _effect_ended(work: Work, fact: told.EffectEnded) -> None:
    """Decisions are counted from 1; 0 stands in the state for none whose outcome is awaited."""
    if fact.decision < 1:
        return
    texts.ended(work, fact.decision, ok=fact.ok)
    for take in (flights.outcome, wakes.check_ended, recovery.ended):
        if take(work, fact.decision, ok=fact.ok):
            return


def _turn_ended(work: Work, fact: told.TurnEnded) -> None:
    roles.was_active(work, fact.role)
    wakes.turn_ended(work, fact)


def _exhausted(work: Work, fact: told.ContextExhausted) -> None:
    recovery.exhausted(work, fact.role)


def _fresh(work: Work, fact: told.ContextFresh) -> None:
    recovery.fresh(work, fact.role)


def _renewed(work: Work, fact: told.AgentRenewed) -> None:
    wakes.end_all(work, fact.role, wakes.Event.RENEWED)


def _gate_raised(work: Work, fact: told.GateRaised) -> None:
    if _is_theirs(work, fact):
        gates.raised(work, gates.named(fact.gate, fact.role), fact.until)


def _gate_cleared(work: Work, fact: told.GateCleared) -> None:
    if _is_theirs(work, fact):
        gates.cleared(work, gates.named(fact.gate, fact.role))


def _is_theirs(work: Work, fact: told.GateRaised | told.GateCleared) -> bool:
    """A gate of a role that is there, or of the session, and none of the core's own."""
    return fact.gate.partition("/")[0] not in gates.OWN and (fact.role is None or work.role(fact.role) is not None)


def _watch_stopped(work: Work, fact: told.WatchStopped) -> None:  # noqa: ARG001
    if work.gap is None:
        work.gap = Gap(work.now_us, work.progress.read(work.now_us))
        flights.watched(work, watching=False)


def _watch_resumed(work: Work, fact: told.WatchResumed) -> None:
    """Without a gap there is nothing to make up for."""
    if work.gap is None:
        return
    overdue.less_sleep(work, work.gap, fact.slept or 0)
    work.gap = None
    flights.watched(work, watching=True)
    for role in work.roles:
        roles.saw(work, role.name, roles.Seen.UNWATCHED)


def _saw(seen: roles.Seen) -> Callable[[Work, Any], None]:
    def take(work: Work, fact: told.RoleBusy | told.RoleIdle | told.RoleGone | told.RoleUnknown) -> None:
        roles.saw(work, fact.role, seen)

    return take


def _delivered(work: Work, fact: told.RelayDelivered) -> None:
    debts.delivered(work, fact.id)


def _undeliverable(work: Work, fact: told.RelayUndeliverable) -> None:
    debts.undeliverable(work, fact.id)


_TAKE: dict[type[Fact], Callable[[Work, Any], None]] = {
    told.SessionConfigured: _configured,
    told.CycleOpened: cycle.opened,
    told.CycleCompleted: cycle.ended,
    told.CycleBlocked: cycle.ended,
    told.RoleBusy: _saw(roles.Seen.BUSY),
    told.RoleIdle: _saw(roles.Seen.IDLE),
    told.RoleGone: _saw(roles.Seen.GONE),
    told.RoleUnknown: _saw(roles.Seen.UNKNOWN),
    told.TurnEnded: _turn_ended,
    told.RelaySent: relays.sent,
    told.RelayAlreadySent: relays.already_sent,
    told.RelayAcked: relays.acked,
    told.RelayDelivered: _delivered,
    told.RelayUndeliverable: _undeliverable,
    told.GateRaised: _gate_raised,
    told.GateCleared: _gate_cleared,
    told.HumanPaused: human.paused,
    told.HumanResumed: human.resumed,
    told.HumanActed: human.acted,
    told.QuestionAsked: human.asked,
    told.QuestionAnswered: human.answered,
    told.ContextExhausted: _exhausted,
    told.ContextFresh: _fresh,
    told.AgentRenewed: _renewed,
    told.WatchStopped: _watch_stopped,
    told.WatchResumed: _watch_resumed,
    told.ClockReached: _clock_reached,
    told.EffectEnded: _effect_ended,
}
