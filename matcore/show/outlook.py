"""What happens next if nothing moves. Nothing is reckoned here: the core itself is asked, by letting its clock run.

It is fed what a supervisor would feed it: first the clocks that are over already, then the outcomes that are awaited
now (they mostly succeed, within seconds), then the next clock and the next, until something is decided. What the
engine itself will say by then, since time alone brings it, comes in at its time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matcore.rules import decisions as d
from matcore.rules import view
from matcore.rules.decisions import Decision
from matcore.rules.facts import ClockReached, EffectEnded, Fact
from matcore.rules.moments import seconds
from matcore.rules.session import next_deadline, step
from matcore.rules.state import State

_MOST_CLOCKS = 200
_FELT = (d.Nudge, d.Notify)
"""What somebody hears of: a text to a role, or to a person."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """`next`: what is decided next, of several at one instant the one that somebody hears of. `then`: the next of
    which somebody hears, where `next` is none such."""

    next: Decision | None
    then: Decision | None


def outlook(state: State, now: float, due: Sequence[Fact] = ()) -> Outlook:
    """`now` is not before the last fact. All that is decided meanwhile succeeds. `due`: facts that are sure to come, in
    order of time."""
    first: Decision | None = None
    for decided in _decided(state, now, list(due)):
        felt = next((each for each in decided if isinstance(each, _FELT)), None)
        if first is None:
            first = felt or decided[0]
            if felt is not None:
                return Outlook(first, None)
        elif felt is not None:
            return Outlook(first, felt)
    return Outlook(first, None)


def _decided(state: State, now: float, due: list[Fact]) -> Iterator[tuple[Decision, ...]]:
    """What is decided at one instant after the other."""
    awaited = view.awaited(state)
    for _ in range(_MOST_CLOCKS):
        moment = next_deadline(state)
        if awaited and (moment is None or moment > now):
            for number in awaited:
                state, _none = step(state, EffectEnded(now, number, ok=True))
            awaited = ()
            continue
        if due and (moment is None or moment > due[0].at):
            state, decided = step(state, due.pop(0))
        elif moment is not None:
            state, decided = step(state, ClockReached(moment))
        else:
            return
        if decided:
            yield decided
            awaited = view.awaited(state)
            now = max(now, seconds(state.now_us))
