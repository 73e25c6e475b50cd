"""What is said to come next if nothing moves is what the rules then decide: its kind, its role, its time."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matcore.engine.book import Book
from matcore.rules import decisions as d
from matcore.rules import session, view
from matcore.rules.facts import ClockReached, EffectEnded
from matcore.rules.state import State
from matcore.show import phrases, snapshot, why
from matcore.show.outlook import Outlook, outlook
from matcore.show.shapes import Snapshot, Supervisor
from matcore.show.text import moment
from tests.matcore.rules.happenings import LARGE, SETTINGS, facts_of
from tests.matcore.rules.play import Play, never_ends
from tests.stories.world import World

FELT = ("nudge", "notify")
WATCHING = Supervisor(alive=True, stale=False, pid=1, heartbeat_age_s=0.1)


def felt(decided: tuple[d.Decision, ...]) -> d.Decision | None:
    return next((each for each in decided if isinstance(each, d.Nudge | d.Notify)), None)


def lives_on(state: State, now: float, choice: random.Random) -> tuple[d.Decision | None, d.Decision | None]:
    """What is decided next, and what is felt next after it, by a clock that ticks at each deadline and, between them,
    at moments at which nothing is to be done; outcomes come at once, well."""
    first: d.Decision | None = None
    while (due := session.next_deadline(state)) is not None:
        between = now + (due - now) * choice.random()
        if now < between < due:
            state, decided = session.step(state, ClockReached(between))
            assert decided == ()
        state, decided = session.step(state, ClockReached(due))
        now = max(now, due)
        for number in view.awaited(state):
            state, _ = session.step(state, EffectEnded(now, number, ok=True))
        if decided and first is None:
            first = felt(decided) or decided[0]
            if felt(decided) is not None:
                return first, None
        elif felt(decided) is not None:
            return first, felt(decided)
    return first, None


def test_the_outlook_is_the_next_decision() -> None:
    """Over clocks that lead to nothing, without touching the state."""
    play = Play().at(0, "cycle.opened", cycle="c1")
    before = play.state
    assert outlook(play.state, 100).next == d.LadderDeferred(1, 1_200, ("unknown/dev", "unknown/review"))
    assert play.state == before
    assert outlook(Play().quiet_cycle().until(1_800).state, 1_900) == Outlook(None, None)


def test_what_is_on_its_way_arrives() -> None:
    """After a nudge comes the next rung."""
    play = Play(ends=never_ends).quiet_cycle().handoff(1, "r1", "dev", "review").until(601)
    rung_2 = outlook(play.state, 605).next
    assert isinstance(rung_2, d.Nudge)
    assert (rung_2.at, rung_2.rung, rung_2.role) == (1_205, 2, "dev")


@given(seed=st.integers(0, 2**32), length=st.integers(1, 60), later=st.floats(0, 1))
def test_the_outlook_is_what_the_core_then_does(seed: int, length: int, later: float) -> None:
    """At any moment after any facts, by the clock alone; what is on its way arrives."""
    run = facts_of(SETTINGS[seed % len(SETTINGS)], seed, length)
    state = session.initial()
    for fact in run.facts[:length]:
        state, _ = session.step(state, fact)
    now, due = state.now_us / 1_000_000, session.next_deadline(state)
    now = round(now + ((due if due is not None else now + 1000) - now) * later, 6)
    seen = outlook(state, now)
    if due is not None and due <= now:  # the clock has come to it, and what is on its way has not arrived
        state, decided = session.step(state, ClockReached(due))
        if decided:
            assert seen.next == (felt(decided) or decided[0])
            return
    for number in view.awaited(state):
        state, _ = session.step(state, EffectEnded(now, number, ok=True))
    assert (seen.next, seen.then) == lives_on(state, now, random.Random(seed))


# -- by a whole supervisor -------------------------------------------------------------------------------------------

Act = Callable[[World, random.Random], None]


def _role(choice: random.Random) -> str:
    return choice.choice(("dev", "review"))


def _works(world: World, choice: random.Random) -> None:
    world.driver.see("duo", "role.busy", _role(choice))


def _ends(world: World, choice: random.Random) -> None:
    world.driver.end_turn("duo", _role(choice))


def _rests(world: World, _choice: random.Random) -> None:
    for role in ("dev", "review"):
        world.driver.end_turn("duo", role)


def _goes(world: World, choice: random.Random) -> None:
    world.driver.see("duo", "role.gone", _role(choice))


def _is_lost(world: World, choice: random.Random) -> None:
    world.driver.see("duo", "role.unknown", _role(choice))


def _hands_over(world: World, choice: random.Random) -> None:
    sender = _role(choice)
    seq = world.session().ledger.seq + 1
    world.relay(sender, "review" if sender == "dev" else "dev", seq, kind=choice.choice(("request", "request", "fyi")))


def _raises(world: World, choice: random.Random) -> None:
    until = choice.choice((None, None, 300.0, 4000.0))
    fields = {} if until is None else {"until": world.clock.boot_s() + until}
    world.driver.see("duo", "gate.raised", _role(choice), gate=choice.choice(("copy-mode", "rate-limited")), **fields)


def _clears(world: World, _choice: random.Random) -> None:
    for gate in list(world.session().ledger.gates):
        world.driver.see("duo", "gate.cleared", gate.partition("/")[2], gate=gate.partition("/")[0])


def _asks(world: World, choice: random.Random) -> None:
    world.says(_role(choice), fact="question.asked", question=f"q-{choice.randrange(3)}", text="so?")


def _answers(world: World, _choice: random.Random) -> None:
    for question in list(world.session().ledger.questions):
        world.human(fact="question.answered", question=question, text="yes")


def _speaks(world: World, choice: random.Random) -> None:
    world.driver.see("duo", "human.acted", _role(choice))


def _opens(world: World, _choice: random.Random) -> None:
    world.human(fact="cycle.opened", goal="more")


ACTS: tuple[Act, ...] = (
    _works, _ends, _ends, _rests, _rests, _rests, _goes, _is_lost, _hands_over, _hands_over, _raises, _raises, _clears,
    _clears, _clears, _asks, _answers, _answers, _speaks, _opens,
)  # fmt: skip


def seen(world: World) -> Snapshot:
    """As a command sees it, from the journal on disk."""
    book = Book.read(world.places.journal("duo"))
    with book.journal:
        return snapshot.of(book, WATCHING, world.clock.wall_s())


def decided(world: World, after: int) -> list[dict[str, Any]]:
    """What has been decided since, of each instant what is felt, if anything is."""
    instants: dict[float, list[dict[str, Any]]] = {}
    for each in world.decisions("duo"):
        if each["number"] > after:
            instants.setdefault(each["at"], []).append(each)
    return [next((each for each in together if each["event"] in FELT), together[0]) for together in instants.values()]


def about(decision: dict[str, Any] | None) -> dict[str, Any] | None:
    """What of a decision was foretold: all but its number and time."""
    return None if decision is None else {k: v for k, v in decision.items() if k not in ("number", "at", "ok")}


@settings(max_examples=20 if not LARGE else 400)
@given(seed=st.integers(0, 2**32), acts=st.integers(1, 25))
def test_why_foretells_what_the_supervisor_does(seed: int, acts: int) -> None:
    """In a session to which anything may have happened: the next decision that somebody hears of, and when."""
    choice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        world.up(recovery={"window": 600.0, "progress_deadline": choice.choice((0.0, 5_000.0))})
        world.settle()
        _opens(world, choice)
        for _ in range(acts):
            choice.choice(ACTS)(world, choice)
            world.settle()
            world.advance(choice.choice((0.0, 1.0, 10.0, 29.0, 31.0, 200.0, 599.0, 700.0)))
        shot, last = seen(world), world.session().book.state.number
        said = why.sentences(shot)
        assert not shot.awaits, "the fake's outcomes come at once"
        if shot.next is None:
            world.advance(6_000.0)
            assert decided(world, last) == []
        else:
            world.advance(shot.next.at - world.clock.wall_s() + 0.002)
            first = decided(world, last)[0]
            assert about(first) == about(shot.next.decision)
            assert first["at"] == pytest.approx(world.clock.wall_s() - 0.002, abs=0.01)
            if shot.then is not None:
                world.advance(shot.then.at - world.clock.wall_s() + 0.002)
                then = next(each for each in decided(world, last)[1:] if each["event"] in FELT)
                assert about(then) == about(shot.then.decision)
                assert then["at"] == pytest.approx(world.clock.wall_s() - 0.002, abs=0.01)
            told = f"If nothing moves, {phrases.coming(shot.next.decision)} "
            assert any(line.startswith(told) for line in said), said
            if shot.next.at > shot.now:
                assert any(line.endswith(f"at {moment(shot.next.at, shot.now)}.") for line in said)
        world.end()


def test_a_relay_that_waits_for_a_time_is_what_comes_next(tmp_path: Path) -> None:
    """The engine types it when the gate that names its end has ended: no nudge is foretold that will not come."""
    world = World(tmp_path)
    world.up()
    _opens(world, random.Random(0))
    world.driver.see("duo", "gate.raised", "review", gate="rate-limited", until=world.clock.boot_s() + 500)
    _rests(world, random.Random(0))
    world.settle()
    world.relay("dev", "review", 1)
    shot = seen(world)
    assert shot.next is not None
    assert shot.next.at == pytest.approx(world.clock.wall_s() + 500, abs=0.01)
    assert shot.next.decision["event"] == "wake.opened"
    assert [relay.held_until for relay in shot.relays] == [pytest.approx(shot.next.at, abs=0.01)]
    said = " ".join(why.sentences(shot))
    assert f"rate-limited/review holds it until {moment(shot.next.at, shot.now)}" in said
    assert "If nothing moves, r-000001 is typed into review's session in 8m 20s" in said
    last = world.session().book.state.number
    world.advance(500.01)
    assert decided(world, last)[0]["event"] == "wake.opened"
    world.end()


def test_after_a_window_of_blindness_what_comes_counts_from_then(tmp_path: Path) -> None:
    """A driver that fails makes every role unknown after a window, and a window later the ladder is due again."""
    world = World(tmp_path)
    world.up()
    _opens(world, random.Random(0))
    _rests(world, random.Random(0))
    world.settle()
    world.driver.fault = OSError("tmux hangs")
    world.advance(1.0)
    shot, last = seen(world), world.session().book.state.number
    assert shot.next is not None
    assert shot.then is not None
    world.advance(shot.then.at - world.clock.wall_s() + 61)
    felt_then = next(each for each in decided(world, last) if each["event"] in FELT)
    assert about(felt_then) == about(shot.then.decision)
    assert felt_then["at"] == pytest.approx(shot.then.at, abs=61), "the story's loop turns once a minute"
    world.end()
