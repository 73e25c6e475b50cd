"""The recovery episode: opened when the work has stood still, closed only when it has moved (rules 2 to 8, 12).

Where the page leaves a choice:

- `rungs` of a closed episode that was rearmed are those used up since: the ladder had been set back to its first.
- A gate whose third window is full at an instant of motion is told at the next at which the ladder is due; not a
  moment more adds up until then.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import replace

from matcore.rules import debts, flights, gates, roles
from matcore.rules.decisions import (
    ClosedBy,
    EpisodeClosed,
    EpisodeOpened,
    EpisodeRearmed,
    GateEscalated,
    LadderDeferred,
    Notify,
    NotifyKind,
    Nudge,
    RungSkipped,
)
from matcore.rules.state import Episode, Gate, Role, State, Status
from matcore.rules.work import Work


class Stage(enum.StrEnum):
    """Where an episode is, by the rungs that it has used up."""

    NONE = "no episode"
    OPENED = "no rung used"
    FIRST = "rung 1 used"
    SECOND = "rung 2 used"
    TOLD = "rung 3 used"


class Event(enum.StrEnum):
    DUE = "due, no gate"
    DUE_GATED = "due, gates active"
    PROGRESS = "handoff or boundary"
    HUMAN = "the human acts"


class Move(enum.StrEnum):
    OPEN = "episode.opened, then rung 1"
    NUDGE_OWER = "rung 1: nudge who owes, else who was active last"
    NUDGE_OTHER = "rung 2: nudge who of the others was active last"
    TELL = "rung 3: notify"
    SILENT = "nothing; it is never due"
    DEFER = "ladder.deferred if the set is new, gate.escalated at three windows"
    RESTART = "rule 2 starts anew"
    CLOSE = "episode.closed; rule 2 starts anew"
    FORGIVE = "nothing; the window goes on"
    REWIND = "one window from now"
    REARM = "episode.rearmed; rung 1, one window from now"


TABLE: Mapping[Stage, Mapping[Event, Move]] = {
    Stage.NONE: {
        Event.DUE: Move.OPEN,
        Event.DUE_GATED: Move.DEFER,
        Event.PROGRESS: Move.RESTART,
        Event.HUMAN: Move.FORGIVE,
    },
    Stage.OPENED: {
        Event.DUE: Move.NUDGE_OWER,
        Event.DUE_GATED: Move.DEFER,
        Event.PROGRESS: Move.CLOSE,
        Event.HUMAN: Move.REWIND,
    },
    Stage.FIRST: {
        Event.DUE: Move.NUDGE_OTHER,
        Event.DUE_GATED: Move.DEFER,
        Event.PROGRESS: Move.CLOSE,
        Event.HUMAN: Move.REARM,
    },
    Stage.SECOND: {
        Event.DUE: Move.TELL,
        Event.DUE_GATED: Move.DEFER,
        Event.PROGRESS: Move.CLOSE,
        Event.HUMAN: Move.REARM,
    },
    Stage.TOLD: {
        Event.DUE: Move.SILENT,
        Event.DUE_GATED: Move.SILENT,
        Event.PROGRESS: Move.CLOSE,
        Event.HUMAN: Move.REARM,
    },
}
"""All progress and each act of the human also empty the record of deferrals and set rule 10's clock to nothing."""
_STAGES = (Stage.OPENED, Stage.FIRST, Stage.SECOND, Stage.TOLD)


def stage(episode: Episode | None) -> Stage:
    return Stage.NONE if episode is None else _STAGES[episode.rung]


def wants(state: State | Work) -> bool:
    """Whether the ladder would decide something at this instant."""
    if not state.due or in_flight(state):
        return False
    active = gates.active(state.gates, state.now_us)
    return not active or _names(active) != state.deferred or bool(_ripe(state, active))


def in_flight(state: State | Work) -> bool:
    return state.episode is not None and state.episode.flight is not None


def turn(work: Work) -> None:
    """All facts of this instant are in: do what is due."""
    if not wants(work):
        return
    active = gates.active(work.gates, work.now_us)
    move = TABLE[stage(work.episode)][Event.DUE_GATED if active else Event.DUE]
    if move is Move.DEFER:
        _defer(work, active)
        return
    _climb(work, _open(work) if work.episode is None else work.episode)


def progress(work: Work, by: ClosedBy, *, relay: str | None = None, cycle: str | None = None) -> None:
    """A handoff or a boundary."""
    episode = work.episode
    if episode is not None and TABLE[stage(episode)][Event.PROGRESS] is Move.CLOSE:
        work.decide(EpisodeClosed, episode=episode.number, by=by, rungs=episode.rung, relay=relay, cycle=cycle)
        work.episode = None
        flights.closed(work, episode)
    work.quiet = work.quiet.zeroed(work.now_us)
    _start_stretch(work)


def human_acted(work: Work) -> None:
    """Rule 12."""
    episode = work.episode
    move = TABLE[stage(episode)][Event.HUMAN]
    if episode is not None:
        if move is Move.REARM:
            work.decide(EpisodeRearmed, episode=episode.number)
        flights.disowned(work, episode)
        work.quiet = work.quiet.zeroed(work.now_us)
    _start_stretch(work)


def _start_stretch(work: Work) -> None:
    work.deferred = ()
    gates.drop_sums(work, forget=True)
    work.progress = work.progress.zeroed(work.now_us)
    work.told = False
    if work.gap is not None:
        work.gap = replace(work.gap, ran_us=0)


def _open(work: Work) -> Episode:
    work.episodes += 1
    debt = debts.oldest(work.relays)
    owed, relay = (None, None) if debt is None else (debt.to, debt.id)
    work.decide(EpisodeOpened, episode=work.episodes, owed=owed, relay=relay)
    return Episode(work.episodes, work.now_us)


def _climb(work: Work, episode: Episode) -> None:
    """Take the next rung; past those whose role is gone, at once."""
    while True:
        rung = episode.rung + 1
        move = TABLE[stage(episode)][Event.DUE]
        if move is Move.TELL:
            number = work.decide(Notify, kind=NotifyKind.IDLE_RECOVERY, action=True, episode=episode.number)
            flights.took_off(work, episode, number, rung, None, None)
            return
        role, relay = _first(work) if move is Move.NUDGE_OWER else (_second(work, episode), None)
        if role.status is not Status.GONE:
            number = work.decide(Nudge, episode=episode.number, rung=rung, role=role.name, redelivers=relay)
            flights.took_off(work, episode, number, rung, role.name, relay)
            return
        work.decide(RungSkipped, episode=episode.number, rung=rung, role=role.name, reason="gone")
        episode = replace(episode, rung=rung, first=role.name if move is Move.NUDGE_OWER else episode.first)


def _first(work: Work) -> tuple[Role, str | None]:
    debt = debts.oldest(work.relays)
    return (roles.active_last(work.roles), None) if debt is None else (work.seat(debt.to), debt.id)


def _second(work: Work, episode: Episode) -> Role:
    others = tuple(role for role in work.roles if role.name != episode.first)
    return roles.active_last(others or work.roles)


def _defer(work: Work, active: tuple[Gate, ...]) -> None:
    if _names(active) != work.deferred:
        work.deferred = _names(active)
        work.decide(LadderDeferred, gates=work.deferred)
    ripe = _names(_ripe(work, active))
    if ripe:
        for name in ripe:
            work.decide(GateEscalated, gate=name)
        work.gates = tuple(replace(gate, escalated=True) if gate.name in ripe else gate for gate in work.gates)
        work.decide(Notify, kind=NotifyKind.GATE, action=True, gates=ripe)


def _ripe(state: State | Work, active: tuple[Gate, ...]) -> tuple[Gate, ...]:
    bound = state.policy.escalation_us
    return tuple(
        gate for gate in active if gate.until_us is None and not gate.escalated and gate.sum.read(state.now_us) >= bound
    )


def _names(active: tuple[Gate, ...]) -> tuple[str, ...]:
    return tuple(gate.name for gate in active)
