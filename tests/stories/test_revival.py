"""Agents that end by themselves are resumed, those whose context is full replaced: neither for ever nor twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from matcore.engine.revival import RESUME_AFTER_S
from matcore.engine.starting import STARTS_WITHIN_S
from tests.stories.world import World

SOON = RESUME_AFTER_S + 2


def gone(world: World, role: str = "review") -> None:
    world.driver.see("duo", "role.gone", role, resumable=True)
    world.settle()


def starts(world: World) -> list[dict[str, Any]]:
    """The seats that were filled anew since `mat up`."""
    return [e["seat"] for e in world.entries("engine.seat")]


def idle(world: World, role: str = "review") -> None:
    world.driver.see("duo", "role.idle", role)
    world.settle()


def closed(world: World) -> list[tuple[str, str]]:
    return [(d["message"], d["reason"]) for d in world.decisions("duo", "wake.closed")]


def test_an_agent_that_ended_by_itself_is_resumed_in_its_session(world: World) -> None:
    """Its wakes have failed, no marker is kept; a moment later it runs again in the same agent session, once."""
    world.up()
    world.relay("dev", "review", 1)
    gone(world)
    assert closed(world) == [("r-000001", "gone")]
    world.advance(RESUME_AFTER_S - 1)
    assert starts(world) == []
    world.advance(3)
    assert [seat["agent_session"] for seat in starts(world)] == ["a-review"]
    assert [(e["by"], e["reason"]) for e in world.entries("engine.restarting")] == [("mat", "gone")]
    idle(world)
    world.advance(60)
    assert len(starts(world)) == 1
    assert world.decisions("duo", "recovery.marked") == []
    assert world.told == []


def test_a_relay_to_an_agent_that_comes_back_by_itself_is_redelivered_by_the_ladder(world: World) -> None:
    """Undeliverable while it was gone; rung 1 brings it to the resumed agent, once."""
    world.up()
    gone(world)
    world.relay("dev", "review", 1)
    assert world.entries("relay.undeliverable")
    world.advance(SOON)
    idle(world)
    world.advance(700)
    texts = world.driver.seats["duo", "review"].texts
    assert len(texts) == 1
    assert "[relay-redelivery=idle-recovery]" in texts[0]


@pytest.mark.parametrize("how", ["restarted", "never", "not resumable"])
def test_what_a_person_does_or_wants_goes_first(world: World, how: str) -> None:
    """`mat restart` within that moment starts one agent; `never` and a program that can't resume start none."""
    world.up(recovery={"window": 600.0, "restart": "never" if how == "never" else "auto"})
    world.driver.see("duo", "role.gone", "review", resumable=how != "not resumable")
    world.settle()
    if how == "restarted":
        world.human(request="restart", role="review")
        idle(world)
    world.advance(120)
    assert len(starts(world)) == (how == "restarted")


@pytest.mark.field_case("Restarts")
def test_the_third_end_within_ten_minutes_is_told_once_and_nothing_is_started(world: World) -> None:
    """Until a person restarts it: then it is resumed as before. A restarted supervisor counts no end twice."""
    world.up()
    for _ in range(2):
        gone(world)
        world.advance(SOON)
        idle(world)
    world.restart()
    idle(world)
    gone(world)
    world.advance(120)
    world.restart()
    gone(world)
    world.advance(120)
    assert len(starts(world)) == 2
    assert [text for text in world.told if "ended 3 times in 10 minutes" in text] == world.told
    assert len(world.told) == 1
    world.human(request="restart", role="review")
    idle(world)
    gone(world)
    world.advance(SOON)
    assert len(starts(world)) == 4
    assert len(world.told) == 1


def test_ends_are_counted_from_a_persons_start_and_it_is_said_so(world: World) -> None:
    """The log shows five within ten minutes, three of them since `mat restart`: the notification names that."""
    world.up()
    for ends in (2, 3):
        for _ in range(ends):
            gone(world)
            world.advance(SOON)
            idle(world)
        world.human(request="restart", role="review")
        since = world.session().scribe.when(world.session().book.at)
        idle(world)
    (told,) = world.told
    (first, _) = [e["at"] for e in world.entries("engine.restarting") if e["by"] != "mat"]
    assert f"ended 3 times since you started it at {world.session().scribe.when(first)};" in told
    assert since not in told


W = 600.0


def talk(world: World) -> None:
    """The developer has handed over once; both only end their turns."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    world.up()
    world.relay("dev", "review", 1)
    world.settle()


def held(world: World) -> list[list[str]]:
    return [list(d["gates"]) for d in world.decisions("duo", "ladder.deferred")]


@pytest.mark.field_case("Nudges")
def test_a_rung_that_falls_due_before_a_restart_waits_for_the_agent_that_comes(world: World) -> None:
    """Rung 2 is the developer's, whose agent ends a moment before: neither skipped nor typed into nothing, nor late."""
    talk(world)
    world.advance(W + 5)
    assert [d["role"] for d in world.decisions("duo", "nudge")] == ["review"]
    world.advance(W - 10)
    dead = world.driver.seats["duo", "dev"]
    gone(world, "dev")
    world.advance(SOON)
    assert held(world) == [["restarting/dev"]]
    assert len(starts(world)) == 1
    world.advance(5)
    idle(world, "dev")
    world.advance(5)
    assert world.decisions("duo", "rung.skipped") == []
    assert [(d["rung"], d["role"]) for d in world.decisions("duo", "nudge")] == [(1, "review"), (2, "dev")]
    assert dead.texts == []
    assert ["IDLE RECOVERY" in text for text in world.driver.seats["duo", "dev"].texts] == [True]
    assert all(e["ok"] for e in world.entries("effect.ended"))


def test_a_rung_waits_for_a_restart_across_a_kill_of_the_supervisor(world: World) -> None:
    """Killed in the ten seconds, and again while the agent is being started: the rung still waits for it."""
    talk(world)
    world.advance(2 * W - 5)
    gone(world, "dev")
    world.restart()
    gone(world, "dev")
    world.effects.drops = True
    world.advance(SOON)
    world.restart()
    idle(world, "dev")
    world.advance(W)
    assert world.decisions("duo", "rung.skipped") == []
    assert [(d["rung"], d["role"]) for d in world.decisions("duo", "nudge")] == [(1, "review"), (2, "dev")]


@pytest.mark.field_case("Silence")
def test_an_agent_that_is_not_started_again_holds_nothing(world: World) -> None:
    """With the third end the wait is over: its rungs are passed by as for any that is gone, and the human hears."""
    talk(world)
    for _ in range(2):
        gone(world)
        world.advance(SOON)
        idle(world)
    gone(world)
    world.advance(5)
    assert "restarting/review" not in world.session().ledger.gates
    world.advance(2 * W)
    assert next(d["role"] for d in world.decisions("duo", "rung.skipped")) == "review"
    world.advance(W)
    assert any("stands still" in text for text in world.told)


@pytest.mark.field_case("Silence")
def test_an_agent_that_was_started_and_is_never_seen_again_holds_the_ladder_a_minute(world: World) -> None:
    """The wait for it names its end; what can't be made out is told like anything else."""
    talk(world)
    begun = world.driver.restart

    def blank(session: str, role: str, *, resume: str | None) -> Mapping[str, object]:
        seat = begun(session, role, resume=resume)
        world.driver.seats[session, role].status = "unknown"
        return seat

    world.driver.restart = blank  # type: ignore[method-assign]
    gone(world)
    world.advance(SOON)
    (raised,) = [e["until"] for e in world.entries("gate.raised") if e["gate"] == "restarting"][-1:]
    assert raised <= world.session().book.at + STARTS_WITHIN_S
    world.advance(6 * W)
    assert any("unknown/review" in text for text in world.told)


def test_ends_that_lie_far_apart_are_no_loop(world: World) -> None:
    """Three in ten minutes, not three ever."""
    world.up(recovery={"window": 100_000.0})
    for _ in range(5):
        gone(world)
        world.advance(SOON)
        idle(world)
        world.advance(320)
    assert len(starts(world)) == 5
    assert world.told == []


def test_a_full_context_is_replaced_and_exactly_one_marker_delivered(world: World) -> None:
    """Exhausted, renewing, a fresh session, unknown, idle, fresh: then one recovery, before anything that waits."""
    world.up()
    world.relay("dev", "review", 1)
    world.driver.see("duo", "context.exhausted", "review")
    world.driver.see("duo", "turn.ended", "review", outcome="error", detail="full")
    world.driver.see("duo", "role.idle", "review")
    world.settle()
    world.relay("dev", "review", 2)
    assert closed(world) == [("r-000001", "context_exhausted")]
    (seat,) = starts(world)
    assert seat["agent_session"] not in ("a-review", None)
    assert [e["reason"] for e in world.entries("engine.renewing")] == ["context-exhausted"]
    idle(world)
    world.advance(5)
    assert world.driver.seats["duo", "review"].texts[0].startswith("[recovery-review-dev-1]")
    world.driver.end_turn("duo", "review")
    world.advance(5)
    assert sum(text.startswith("[recovery-review-dev-1]") for text in world.driver.seats["duo", "review"].texts) == 1
    assert len(world.entries("context.fresh")) == 1
    assert len(starts(world)) == 1
    names = ("context.exhausted", "engine.renewing", "engine.seat", "context.fresh", "recovery.delivered")
    assert [e["name"] for e in world.entries(*names)] == list(names)


def test_a_supervisor_that_ends_in_a_renewal_begins_it_again(world: World) -> None:
    """The intent is in the journal; one fresh agent comes of it and one marker."""
    world.up()
    world.relay("dev", "review", 1)
    world.effects.drops = True
    world.driver.see("duo", "context.exhausted", "review")
    idle(world)
    assert world.entries("engine.renewing")
    assert starts(world) == []
    world.restart()
    idle(world)
    world.advance(5)
    idle(world)
    world.advance(5)
    assert len(starts(world)) == 1
    assert len(world.decisions("duo", "recovery.delivered")) == 1


def test_a_driver_that_renews_by_itself_is_left_alone(world: World) -> None:
    """Headless turns open their fresh session with the next turn: its own `context.fresh` is the end of it."""
    world.up()
    world.relay("dev", "review", 1)
    for name in ("context.exhausted", "turn.ended", "role.idle", "context.fresh"):
        world.driver.see("duo", name, "review")
    world.settle()
    world.advance(30)
    assert starts(world) == []
    assert len(world.decisions("duo", "recovery.delivered")) == 1


@pytest.mark.field_case("Restarts")
def test_what_a_program_left_when_it_ended_is_told(world: World) -> None:
    """Its last line stands in the notification, with how soon it came to that, harmless and short; so it is when the
    supervisor was killed in between."""
    world.up()
    left = "starting\nError: no key [red]\x1b[31m; see /login\n"
    for _ in range(3):
        world.driver.see("duo", "role.gone", "review", resumable=True, said=left)
        world.settle()
        world.restart()
        world.advance(SOON)
    (told,) = world.told
    assert "Its last line: Error: no key [red][31m; see /login\n" in told
    assert "\x1b" not in told
    assert "ended within" in told
    assert "mat attach duo review" in told
    assert "mat restart duo review" in told


@pytest.mark.field_case("Silence")
def test_a_stall_in_which_nobody_could_be_woken_says_so(world: World) -> None:
    """All agents are gone, all rungs are skipped: no waking was tried that could have helped."""
    talk(world)
    for role in ("dev", "review"):
        world.driver.see("duo", "role.gone", role)
    world.settle()
    world.restart()
    world.advance(4 * W)
    assert world.decisions("duo", "nudge") == []
    (told,) = [text for text in world.told if "stands still" in text]
    assert "nobody could be woken: the agents of dev and review are gone" in told
    assert "&& mat up" in told
    assert "did not help" not in told


def test_a_stall_whose_holder_has_ended_says_so(world: World) -> None:
    """Nobody starts it again, so the ladder's word to the human names the agent, its last line and the command."""
    talk(world)
    world.driver.see("duo", "role.gone", "review", said="Killed")
    world.settle()
    world.advance(3 * W)
    (told,) = world.told
    assert "stands still" in told
    assert "review's agent has ended (Killed); start it: mat restart duo review" in told
