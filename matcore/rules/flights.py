"""Rungs on their way: a nudge, or the notify of rung 3, from its decision to its outcome (rule 5).

Where the page leaves a choice:

- The minute of waiting passes only while somebody watches: after a restart the engine has the rest of it to say what
  became of what was in flight.
- A rung that the human's act overtook counts no rung and raises no gate; it only delivers what it carried. So does
  one whose outcome comes after its minute, except for the last: if a channel did take a rung 3 that had counted as
  failed, the human has been told and is not told again.
- A retry that fails is one hold with the gate that it ended, however long its outcome took; otherwise a nudge that
  always takes a second to fail would never add up to three windows and never be told.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import replace

from matcore.rules import debts, gates
from matcore.rules.moments import Stopwatch
from matcore.rules.policy import LAST_RUNG, OUTCOME_WAIT_US
from matcore.rules.state import Episode, Flight, Late
from matcore.rules.work import Work


class Air(enum.StrEnum):
    AWAITED = "awaited"
    DISOWNED = "the human acted meanwhile"
    LATE = "given up, or its episode closed"
    LATE_TELLING = "rung 3, given up"


class Event(enum.StrEnum):
    OK = "ok"
    FAILED = "not ok"
    WAITED = "60 s without outcome"
    PROGRESS = "handoff or boundary"
    HUMAN = "the human acts"


class Move(enum.StrEnum):
    COUNT = "counts; delivers what it carried; the rung's clock is zeroed"
    HOLD = "gate nudge-failed or notify-failed for one window"
    GIVE_UP = "the same gate; late from now on"
    REMEMBER = "late from now on"
    DISOWN = "goes on, counts no more"
    DELIVER = "delivers what it carried, counts no rung"
    FORGET = "forgotten"
    NOTHING = "nothing"


TABLE: Mapping[Air, Mapping[Event, Move]] = {
    Air.AWAITED: {
        Event.OK: Move.COUNT,
        Event.FAILED: Move.HOLD,
        Event.WAITED: Move.GIVE_UP,
        Event.PROGRESS: Move.REMEMBER,
        Event.HUMAN: Move.DISOWN,
    },
    Air.DISOWNED: {
        Event.OK: Move.DELIVER,
        Event.FAILED: Move.FORGET,
        Event.WAITED: Move.REMEMBER,
        Event.PROGRESS: Move.REMEMBER,
        Event.HUMAN: Move.DISOWN,
    },
    Air.LATE: {
        Event.OK: Move.DELIVER,
        Event.FAILED: Move.FORGET,
        Event.WAITED: Move.NOTHING,
        Event.PROGRESS: Move.NOTHING,
        Event.HUMAN: Move.NOTHING,
    },
    Air.LATE_TELLING: {
        Event.OK: Move.COUNT,
        Event.FAILED: Move.FORGET,
        Event.WAITED: Move.NOTHING,
        Event.PROGRESS: Move.FORGET,
        Event.HUMAN: Move.FORGET,
    },
}

LATE_KEPT = 16
"""Outcomes may never come. What is dropped is a late ok's delivery, which the next rung 1 makes up for."""


def took_off(work: Work, episode: Episode, number: int, rung: int, role: str | None, redelivers: str | None) -> None:
    """This rung is on its way now; it takes over the hold of the failed attempt that ended at this instant."""
    hold = gates.find(work, _gate(role))
    flight = Flight(number, rung, role, redelivers, Stopwatch(0, work.now_us), hold=hold)
    work.episode = replace(episode, flight=flight)


def outcome(work: Work, decision: int, *, ok: bool) -> bool:
    """The outcome of a rung, if this decision is one."""
    event = Event.OK if ok else Event.FAILED
    episode = work.episode
    if episode is not None and episode.flight is not None and episode.flight.decision == decision:
        _landed(work, episode, episode.flight, event)
        return True
    for late in work.late:
        if late.decision == decision:
            _landed_late(work, late, event)
            return True
    return False


def waited(work: Work) -> bool:
    """The minute is over, if there is a flight and it is: it counts as failed, at this instant."""
    moment = times_out(work.episode)
    if work.episode is None or work.episode.flight is None or moment is None or moment > work.now_us:
        return False
    _landed(work, work.episode, work.episode.flight, Event.WAITED)
    return True


def times_out(episode: Episode | None) -> int | None:
    return None if episode is None or episode.flight is None else episode.flight.waited.reaches(OUTCOME_WAIT_US)


def closed(work: Work, episode: Episode) -> None:
    """The episode has closed over what is in the air."""
    _keep_late(work, Event.PROGRESS)
    if episode.flight is not None and TABLE[_air(episode.flight)][Event.PROGRESS] is Move.REMEMBER:
        _remember(work, episode, episode.flight)


def disowned(work: Work, episode: Episode) -> None:
    """The human has acted: back to the first rung, and what is in the air counts no more."""
    _keep_late(work, Event.HUMAN)
    flight = episode.flight
    if flight is not None and TABLE[_air(flight)][Event.HUMAN] is Move.DISOWN:
        flight = replace(flight, disowned=True)
    work.episode = Episode(episode.number, episode.opened_us, 0, None, flight)


def watched(work: Work, *, watching: bool) -> None:
    """The minute of waiting passes only while somebody watches."""
    episode = work.episode
    if episode is not None and episode.flight is not None:
        clock = episode.flight.waited
        clock = clock.started(work.now_us) if watching else clock.stopped(work.now_us)
        work.episode = replace(episode, flight=replace(episode.flight, waited=clock))


def _landed(work: Work, episode: Episode, flight: Flight, event: Event) -> None:
    work.episode = landed = replace(episode, flight=None)
    move = TABLE[_air(flight)][event]
    if move is Move.COUNT:
        _count(work, landed, flight.rung, flight.role)
    if move in {Move.COUNT, Move.DELIVER}:
        debts.delivered(work, flight.redelivers)
    if move in {Move.HOLD, Move.GIVE_UP}:
        gates.failed(work, _gate(flight.role), flight.hold)
    if move in {Move.GIVE_UP, Move.REMEMBER}:
        _remember(work, episode, flight)


def _landed_late(work: Work, late: Late, event: Event) -> None:
    work.late = tuple(each for each in work.late if each is not late)
    move = TABLE[_late_air(late)][event]
    episode = work.episode
    if move is Move.COUNT and episode is not None:
        retry = None if episode.flight is None else replace(episode.flight, disowned=True)
        _count(work, replace(episode, flight=retry), late.rung, None)
    if move is Move.DELIVER:
        debts.delivered(work, late.redelivers)


def _count(work: Work, episode: Episode, rung: int, role: str | None) -> None:
    work.episode = replace(episode, rung=rung, first=role if rung == 1 else episode.first)
    work.quiet = work.quiet.zeroed(work.now_us)
    work.deferred = ()
    gates.drop_sums(work, forget=False)
    if rung == LAST_RUNG:
        work.told = True
        _keep_late(work, Event.PROGRESS)


def _remember(work: Work, episode: Episode, flight: Flight) -> None:
    """Only what may still matter: a relay that has not arrived, or the last rung of an episode that is open."""
    telling = flight.rung == LAST_RUNG and not flight.disowned and work.episode is not None
    if telling or debts.is_on_its_way(work, flight.redelivers):
        late = Late(flight.decision, episode.number, flight.rung, flight.redelivers)
        work.late = (*work.late, late)[-LATE_KEPT:]


def _keep_late(work: Work, event: Event) -> None:
    if work.late:
        work.late = tuple(late for late in work.late if TABLE[_late_air(late)][event] is not Move.FORGET)


def _air(flight: Flight) -> Air:
    return Air.DISOWNED if flight.disowned else Air.AWAITED


def _late_air(late: Late) -> Air:
    return Air.LATE_TELLING if late.rung == LAST_RUNG else Air.LATE


def _gate(role: str | None) -> str:
    return gates.NOTIFY_FAILED if role is None else gates.named(gates.NUDGE_FAILED, role)
