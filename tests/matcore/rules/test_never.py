"""What must never happen, as properties over random sequences; `HYPOTHESIS_PROFILE=thorough` runs many more."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matcore.rules import facts as f
from matcore.rules import session
from matcore.rules.decisions import Decision
from matcore.rules.state import State
from tests.matcore.rules.happenings import GAPS, LARGE, MAKERS, SETTINGS, Run, facts_of

LENGTH = 60
CHUNKS = 12
RUNS_IN_CHUNK = 1_500 if LARGE else 50


def refold(state: State, facts: list[f.Fact]) -> tuple[State, list[Decision]]:
    told: list[Decision] = []
    for fact in facts:
        state, decided = session.step(state, fact)
        told += decided
    return state, told


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_runs_break_no_promise(chunk: int) -> None:
    """Whatever happens, the monitor's lines hold, and the journal fed back gives the same decisions."""
    for seed in range(chunk * RUNS_IN_CHUNK, (chunk + 1) * RUNS_IN_CHUNK):
        run = facts_of(SETTINGS[seed % len(SETTINGS)], seed, LENGTH)
        _, again = refold(session.initial(), run.facts)
        assert again == run.decided, f"seed {seed}"


@given(
    st.sampled_from(SETTINGS),
    st.integers(0, 2**16),
    st.lists(st.tuples(st.sampled_from(GAPS), st.sampled_from([make for _, make in MAKERS])), max_size=40),
)
@settings(max_examples=2_000 if LARGE else 150)
def test_chosen_sequences_break_no_promise(setting: object, seed: int, happenings: list[tuple[float, object]]) -> None:
    """The same over sequences that hypothesis chooses, so that a failure shrinks to the few facts that matter."""
    run = Run(setting, random.Random(seed))  # type: ignore[arg-type]
    at = 0.0
    for gap, make in happenings:
        at += gap
        run.do(at, make)  # type: ignore[arg-type]
    run.run_to(at + 1_000)


@pytest.mark.parametrize("seed", range(60 if LARGE else 12))
def test_a_fold_goes_on_from_any_checkpoint(seed: int) -> None:
    """A state survives its way through JSON at every place of a journal, and what follows is decided the same."""
    run = facts_of(SETTINGS[-1 - seed % len(SETTINGS)], seed, LENGTH)
    state = session.initial()
    told = 0
    for place, fact in enumerate(run.facts):
        saved = msgspec.json.decode(msgspec.json.encode(state), type=State)
        assert saved == state
        if place % 10 == seed % 10:
            end, rest = refold(saved, run.facts[place:])
            assert rest == run.decided[told:]
            assert end == refold(state, run.facts[place:])[0]
        state, decided = session.step(state, fact)
        told += len(decided)


@pytest.mark.parametrize("seed", range(200 if LARGE else 30))
def test_a_clock_that_leads_to_nothing_changes_nothing(seed: int) -> None:
    """The fold comes out the same, state and all, whether or not clocks were fed between the facts."""
    run = facts_of(SETTINGS[seed % len(SETTINGS)], seed, LENGTH)
    choice = random.Random(seed)
    plain = session.initial()
    ticked = session.initial()
    for fact in run.facts:
        deadline = session.next_deadline(ticked)
        idle_until = fact.at if deadline is None else min(fact.at, deadline)
        for _ in range(3):
            now = ticked.now_us / 1_000_000
            tick = round(now + (idle_until - now) * choice.random() * 0.9, 6)
            if now <= tick < idle_until:
                ticked, decided = session.step(ticked, f.ClockReached(tick))
                assert decided == ()
        plain, told = session.step(plain, fact)
        ticked, told_too = session.step(ticked, fact)
        assert told_too == told
    assert ticked == plain
