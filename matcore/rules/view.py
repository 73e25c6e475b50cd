"""What people ask of a state: a read model, pure like the rest. All times are seconds of the journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matcore.rules import debts, gates
from matcore.rules.ladder import Stage, stage
from matcore.rules.moments import seconds, us
from matcore.rules.state import State, Status, Way


@dataclass(frozen=True, slots=True)
class Seat:
    role: str
    status: Status
    since: float


@dataclass(frozen=True, slots=True)
class Debt:
    """The oldest baton: `role` has held `relay` of `sender` `since` it was sent; `delivered`, or still on its way."""

    role: str
    relay: str
    sender: str
    since: float
    delivered: bool


@dataclass(frozen=True, slots=True)
class OpenCycle:
    cycle: str
    since: float


@dataclass(frozen=True, slots=True)
class OpenEpisode:
    """`rung`: the last one used up. `awaits`: the number of the decision whose outcome it waits for."""

    number: int
    opened: float
    rung: int
    stage: Stage
    awaits: int | None


@dataclass(frozen=True, slots=True)
class Quiet:
    """Quiet time since the last rung or break; `due_at` is when it makes one window if nothing moves."""

    accumulated: float
    running: bool
    due_at: float | None


@dataclass(frozen=True, slots=True)
class ActiveGate:
    """`trusted`: a fact named `ends`. `accumulated`: time for which the ladder was due under it.

    `cleared`: when its reason ended, while it only settles; None while the reason holds.
    """

    name: str
    since: float
    ends: float | None
    trusted: bool
    accumulated: float
    escalated: bool
    escalates_at: float | None
    cleared: float | None = None


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    question: str
    role: str
    since: float


def seats(state: State) -> tuple[Seat, ...]:
    """The roles as configured, each with its status."""
    return tuple(Seat(role.name, role.status, seconds(role.since_us)) for role in state.roles)


def debt(state: State) -> Debt | None:
    """Who holds the baton: the oldest debt of the session."""
    relay = debts.oldest(state.relays)
    if relay is None:
        return None
    return Debt(relay.to, relay.id, relay.sender, seconds(relay.sent_us), relay.way is Way.DELIVERED)


def cycle(state: State) -> OpenCycle | None:
    return None if state.cycle is None else OpenCycle(state.cycle, seconds(state.cycle_us))


def watched(state: State) -> bool:
    return state.gap is None


def episode(state: State) -> OpenEpisode | None:
    open_one = state.episode
    if open_one is None:
        return None
    awaits = None if open_one.flight is None else open_one.flight.decision
    return OpenEpisode(open_one.number, seconds(open_one.opened_us), open_one.rung, stage(open_one), awaits)


def quiet(state: State, now: float) -> Quiet:
    """The ladder's clock at `now`, which is not before the last fact. After rung 3 it is never due."""
    told = stage(state.episode) is Stage.TOLD
    due_us = None if told else state.quiet.reaches(state.policy.window_us)
    ran = state.quiet.banked_us if state.quiet.since_us is None else state.quiet.read(_us(state, now))
    return Quiet(seconds(ran), state.quiet.running, None if due_us is None else seconds(due_us))


def active_gates(state: State, now: float) -> tuple[ActiveGate, ...]:
    """Those that hold at `now`, in order of name."""
    now_us = _us(state, now)
    told = []
    for gate in gates.active(state.gates, now_us):
        ends, ripe = gate.end_us, gate.sum.reaches(state.policy.escalation_us)
        # The core's own don't settle: a failed attempt's `ends_us` is the end of its window.
        settles_us = None if gate.name.partition("/")[0] in gates.OWN else gate.ends_us
        told.append(
            ActiveGate(
                name=gate.name,
                since=seconds(gate.since_us),
                ends=None if ends is None else seconds(ends),
                trusted=gate.until_us is not None,
                accumulated=seconds(gate.sum.read(now_us)),
                escalated=gate.escalated,
                escalates_at=None if gate.escalated or ripe is None else seconds(ripe),
                cleared=None if settles_us is None else seconds(settles_us - state.policy.gate_settle_us),
            )
        )
    return tuple(told)


def questions(state: State) -> tuple[OpenQuestion, ...]:
    return tuple(OpenQuestion(each.id, each.role, seconds(each.asked_us)) for each in state.questions)


def checked(state: State, number: int) -> Mapping[str, tuple[str, ...]]:
    """The message ids of the final check with this number, by target, while its outcome is not known."""
    grouped: dict[str, tuple[str, ...]] = {}
    for row in state.rows:
        if row.check == number:
            grouped[row.target] = (*grouped.get(row.target, ()), row.message)
    return grouped


def awaited(state: State) -> tuple[int, ...]:
    """The numbers of the decisions whose outcome the core waits for, in order."""
    flight = None if state.episode is None else state.episode.flight
    numbers = {row.check for row in state.rows} | {marker.taken for marker in state.markers}
    numbers |= {text.decision for text in state.texts} | {0}
    if flight is not None:
        numbers.add(flight.decision)
    return tuple(sorted(numbers))[1:]


def _us(state: State, now: float) -> int:
    return max(state.now_us, us(now))
