"""An exhaustive walk: every sequence of a small alphabet up to a depth, under the monitor at every step."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping

import pytest

from matcore.rules import decisions, session
from matcore.rules import facts as f
from matcore.rules.decisions import Decision
from matcore.rules.policy import parse
from matcore.rules.state import State
from tests.matcore.rules.happenings import LARGE
from tests.matcore.rules.monitor import Monitor

WINDOW = 100
DEADLINE = 1_000
Letter = Callable[[float, int], f.Fact]

ALPHABETS: Mapping[str, tuple[Letter, ...]] = {
    "motion": (
        lambda at, _: f.RoleBusy(at, "dev"),
        lambda at, _: f.RoleIdle(at, "dev"),
        lambda at, _: f.RoleGone(at, "dev"),
        lambda at, _: f.RoleUnknown(at, "dev"),
        lambda at, step: f.RelaySent(at, f"r{step}", "dev", "review"),
        lambda at, step: f.RelayDelivered(at, f"r{step - 1}"),
    ),
    "holds": (
        lambda at, _: f.GateRaised(at, "copy-mode", "dev"),
        lambda at, _: f.GateRaised(at, "copy-mode", "dev", at + 150),
        lambda at, _: f.GateCleared(at, "copy-mode", "dev"),
        lambda at, _: f.HumanPaused(at, at + 150),
        lambda at, _: f.HumanActed(at),
        lambda at, _: f.WatchStopped(at),
        lambda at, _: f.WatchResumed(at),
    ),
    "wakes": (
        lambda at, step: f.RelaySent(at, f"r{step}", "dev", "review"),
        lambda at, step: f.RelayDelivered(at, f"r{step - 1}"),
        lambda at, _: f.TurnEnded(at, "review"),
        lambda at, _: f.TurnEnded(at, "review", f.TurnOutcome.ERROR),
        lambda at, step: f.RelaySent(at, f"a{step}", "review", "dev", f.Kind.FYI),
        lambda at, _: f.ContextExhausted(at, "review"),
        lambda at, _: f.ContextFresh(at, "review"),
        lambda at, step: f.CycleOpened(at, f"c{step}"),
    ),
}


def feed(state: State, monitor: Monitor, fact: f.Fact, ok: bool) -> State:
    after, decided = session.step(state, fact)
    monitor.sees(state, fact, after, decided)
    for decision in decided:
        if type(decision) in decisions.AWAITED:
            after = feed(after, monitor, f.EffectEnded(decision.at, decision.number, _ends(decision, ok)), ok)
    return after


def _ends(decision: Decision, ok: bool) -> bool:
    return ok or isinstance(decision, decisions.Notify)


def clocks(state: State, monitor: Monitor, before: float, ok: bool) -> State:
    while (moment := session.next_deadline(state)) is not None and moment < before:
        state = feed(state, monitor, f.ClockReached(moment), ok)
    return state


@pytest.mark.parametrize("ok", [True, False], ids=["effects succeed", "effects fail"])
@pytest.mark.parametrize("gap", [0, 40, 130])
@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_every_short_sequence_breaks_no_promise(alphabet: str, gap: float, ok: bool) -> None:
    """All sequences, with all facts at one instant, inside of a window, or a window apart."""
    depth = 5 if LARGE else 3
    monitor = Monitor(WINDOW, DEADLINE)
    state = session.initial()
    roles = ("dev", "review")
    begin: tuple[f.Fact, ...] = (
        f.SessionConfigured(0, roles, parse({"window": WINDOW, "progress_deadline": DEADLINE})),
        f.CycleOpened(0, "c"),
        *(f.RoleIdle(0, role) for role in roles),
    )
    for fact in begin:
        state = feed(state, monitor, fact, ok)
    walked = 0

    def walk(state: State, monitor: Monitor, at: float, left: int) -> None:
        nonlocal walked
        for letter in ALPHABETS[alphabet]:
            beside = copy.deepcopy(monitor)
            after = feed(clocks(state, beside, at, ok), beside, letter(at, depth - left), ok)
            walked += 1
            if left > 1:
                walk(after, beside, at + gap, left - 1)
            else:
                clocks(after, beside, at + 12 * WINDOW, ok)

    walk(state, monitor, gap, depth)
    letters = len(ALPHABETS[alphabet])
    assert walked == sum(letters**length for length in range(1, depth + 1))
