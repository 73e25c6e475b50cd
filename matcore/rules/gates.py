"""Named reasons to hold the ladder (rules 5, 7, 8, 9): when a hold begins, goes on and ends, and what it adds up.

A hold whose end has come stays in the state for the rest of that instant, so that a raise at the instant of the end
is the same hold. Where the page leaves a choice:

- A raise that names an end withdraws a clear that is still settling too: the gate was seen again.
- The core's own names are the core's: a fact that raises or clears one of them changes nothing. Nothing that a driver
  says can hold the ladder under a name that `question.answered` or a delivery would have to end.
- `relay-pending/<to>` that passes from one relay to the next within one instant is the same hold, and what it had
  added up goes on: a stream of relays that wait is told like one.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import replace

from matcore.rules.moments import us
from matcore.rules.state import Gate, Way
from matcore.rules.work import Work

PAUSED = "paused"
AWAITING_HUMAN = "awaiting-human"
RELAY_PENDING = "relay-pending"
UNKNOWN = "unknown"
INJECTED = "injected"
NUDGE_FAILED = "nudge-failed"
NOTIFY_FAILED = "notify-failed"
_FOR_EVER_US = 2**62  # what JSON numbers still hold
OWN = frozenset({PAUSED, AWAITING_HUMAN, RELAY_PENDING, UNKNOWN, INJECTED, NUDGE_FAILED, NOTIFY_FAILED})


class Hold(enum.StrEnum):
    ABSENT = "absent"
    OPEN = "holds, no end"
    TRUSTED = "holds until its end"
    SETTLING = "settling"
    TRUSTED_SETTLING = "settling before its end"
    ENDED = "ended at this instant"


class Event(enum.StrEnum):
    RAISED = "raised"
    RAISED_UNTIL = "raised with `until`"
    CLEARED = "cleared"
    ENDED = "ended at once"


class Move(enum.StrEnum):
    NOTHING = "nothing"
    BEGIN = "a new hold"
    SAME = "the same hold, without an end"
    SAME_UNTIL = "the same hold, until the new end"
    SETTLE = "ends when settled, or at its end if that is earlier"
    END = "ends now"


TABLE: Mapping[Hold, Mapping[Event, Move]] = {
    Hold.ABSENT: {
        Event.RAISED: Move.BEGIN,
        Event.RAISED_UNTIL: Move.BEGIN,
        Event.CLEARED: Move.NOTHING,
        Event.ENDED: Move.NOTHING,
    },
    Hold.OPEN: {
        Event.RAISED: Move.SAME,
        Event.RAISED_UNTIL: Move.SAME_UNTIL,
        Event.CLEARED: Move.SETTLE,
        Event.ENDED: Move.END,
    },
    Hold.TRUSTED: {
        Event.RAISED: Move.SAME,
        Event.RAISED_UNTIL: Move.SAME_UNTIL,
        Event.CLEARED: Move.SETTLE,
        Event.ENDED: Move.END,
    },
    Hold.SETTLING: {
        Event.RAISED: Move.SAME,
        Event.RAISED_UNTIL: Move.SAME_UNTIL,
        Event.CLEARED: Move.NOTHING,
        Event.ENDED: Move.END,
    },
    Hold.TRUSTED_SETTLING: {
        Event.RAISED: Move.SAME,
        Event.RAISED_UNTIL: Move.SAME_UNTIL,
        Event.CLEARED: Move.NOTHING,
        Event.ENDED: Move.END,
    },
    Hold.ENDED: {
        Event.RAISED: Move.SAME,
        Event.RAISED_UNTIL: Move.SAME_UNTIL,
        Event.CLEARED: Move.NOTHING,
        Event.ENDED: Move.NOTHING,
    },
}


def named(gate: str, role: str | None) -> str:
    """`name/role`, or `name`."""
    return gate if role is None else f"{gate}/{role}"


def raised(work: Work, name: str, until: float | None) -> None:
    """A fact, or a pause, holds this gate; `until` in seconds."""
    if until is None:
        _move(work, name, Event.RAISED, None)
    else:
        _move(work, name, Event.RAISED_UNTIL, min(max(us(until), work.now_us), _FOR_EVER_US))


def cleared(work: Work, name: str) -> None:
    _move(work, name, Event.CLEARED, None)


def held(work: Work, name: str) -> None:
    """One of the core's own holds, until it is ended."""
    _move(work, name, Event.RAISED, None)


def ended(work: Work, name: str) -> None:
    """One of the core's own has ended, without settling."""
    _move(work, name, Event.ENDED, None)


def failed(work: Work, name: str, hold: Gate | None) -> None:
    """An attempt has failed: this gate holds for one window. A retry goes on with the `hold` that it had ended."""
    ends = work.now_us + work.policy.window_us
    before = find(work, name) or hold or Gate(name, work.now_us)
    _put(work, replace(before, until_us=None, ends_us=ends))


def injected(work: Work, role: str, until_us: int) -> None:
    """Texts are on their way into this role: trusted until then; none are, if that is not later than now."""
    if until_us > work.now_us:
        _move(work, named(INJECTED, role), Event.RAISED_UNTIL, until_us)
    else:
        ended(work, named(INJECTED, role))


def keep_pending(work: Work, role: str) -> None:
    """`relay-pending/<role>` holds exactly while a relay to it is sent and neither delivered nor undeliverable."""
    name = named(RELAY_PENDING, role)
    if any(relay.to == role and relay.way is Way.SENT for relay in work.relays):
        held(work, name)
    else:
        ended(work, name)


def find(work: Work, name: str) -> Gate | None:
    for gate in work.gates:
        if gate.name == name:
            return gate
    return None


def active(gates: tuple[Gate, ...], now_us: int) -> tuple[Gate, ...]:
    """Those that hold now, in order of name."""
    return tuple(sorted((gate for gate in gates if gate.active(now_us)), key=_name))


def drop_sums(work: Work, *, forget: bool) -> None:
    """Begin to add up from nothing; with `forget` what was escalated may be told again."""
    if work.gates:
        work.gates = tuple(
            replace(gate, sum=gate.sum.zeroed(work.now_us), escalated=gate.escalated and not forget)
            for gate in work.gates
        )


def forget_ended(work: Work) -> None:
    """Time has gone on: holds that ended before now are over for good, with all that they had added up."""
    now = work.now_us
    if any(gate.end_us is not None and gate.end_us < now for gate in work.gates):
        work.gates = tuple(gate for gate in work.gates if gate.end_us is None or gate.end_us >= now)


def add_up(work: Work) -> None:
    """Let those run that the ladder is due under, and stop the others."""
    now, due = work.now_us, work.due
    kept = []
    for gate in work.gates:
        end = gate.end_us
        runs = due and gate.until_us is None and (end is None or end > now)
        if runs is gate.sum.running:
            kept.append(gate)
        else:
            kept.append(replace(gate, sum=gate.sum.started(now) if runs else gate.sum.stopped(now)))
    work.gates = tuple(kept)


def hold(gate: Gate | None, now_us: int) -> Hold:
    """Which row of the table a gate is in."""
    if gate is None:
        return Hold.ABSENT
    if not gate.active(now_us):
        return Hold.ENDED
    if gate.until_us is None:
        return Hold.OPEN if gate.ends_us is None else Hold.SETTLING
    return Hold.TRUSTED if gate.ends_us is None else Hold.TRUSTED_SETTLING


def _name(gate: Gate) -> str:
    return gate.name


def _move(work: Work, name: str, event: Event, until_us: int | None) -> None:
    now = work.now_us
    gate = find(work, name)
    move = TABLE[hold(gate, now)][event]
    if gate is None:
        if move is Move.BEGIN:
            work.gates = (*work.gates, Gate(name, now, until_us))
    elif move is Move.SAME or move is Move.SAME_UNTIL:
        _put(work, Gate(name, gate.since_us, until_us, None, gate.sum, gate.escalated))
    elif move is Move.SETTLE:
        _put(work, replace(gate, ends_us=now + work.policy.gate_settle_us))
    elif move is Move.END:
        _put(work, replace(gate, ends_us=now, sum=gate.sum.stopped(now)))


def _put(work: Work, gate: Gate) -> None:
    if find(work, gate.name) is None:
        work.gates = (*work.gates, gate)
    else:
        work.gates = tuple(gate if each.name == gate.name else each for each in work.gates)
