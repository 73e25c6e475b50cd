"""Where a program can't be handed its role's prompt, the first text points to it, once for each agent session."""

from __future__ import annotations

from matcore.engine.driver import Outcome, Verdict
from tests.stories.world import World

POINTS = "Read your role's instructions"


def untold(world: World) -> None:
    """A duo whose reviewer was not handed its prompt."""
    world.driver.needs_prompt = {"review"}
    world.up(seats={"review": {"needs_prompt": True}})


def typed(world: World) -> list[str]:
    return [e["text"] for e in world.entries("engine.inject") if e["role"] == "review"]


def test_the_first_text_points_to_the_prompt_and_no_other_does(world: World) -> None:
    """Whatever is typed first; the text that follows is still known by its mark, and a restart forgets nothing."""
    untold(world)
    world.relay("dev", "review", 1)
    world.driver.end_turn("duo", "review")
    world.settle()
    world.restart()
    world.driver.end_turn("duo", "review")
    world.relay("dev", "review", 2)
    world.advance(5)
    assert len(typed(world)) >= 2
    assert typed(world)[0].startswith(POINTS)
    assert "[relay r-000001 from dev]" in typed(world)[0]
    assert "prompts/review.md" in typed(world)[0]
    assert [text for text in typed(world)[1:] if POINTS in text] == []


def test_a_pointer_that_was_not_taken_is_said_with_the_next_text(world: World) -> None:
    """Refused, or nobody knows whether it arrived: without its prompt an agent does not know what it is for."""
    untold(world)
    world.driver.seats["duo", "review"].answers = [Outcome(Verdict.UNCONFIRMED, "lost")]
    world.relay("dev", "review", 1)
    world.relay("dev", "review", 2)
    world.advance(5)
    assert [POINTS in text for text in typed(world)] == [True, True]


def test_each_fresh_agent_session_is_pointed_to_it(world: World) -> None:
    """A restart that takes up the session points to nothing again; a new session is told anew."""
    untold(world)
    world.relay("dev", "review", 1)
    world.driver.end_turn("duo", "review")
    world.settle()
    for number, fresh in enumerate((False, True), 2):
        session = world.session()
        session.effects.restart(session, "review", fresh=fresh)
        world.settle()
        world.driver.see("duo", "role.idle", "review")
        world.settle()
        world.relay("dev", "review", number)
        world.driver.end_turn("duo", "review")
        world.settle()
    said = [text for text in typed(world) if "[relay r-" in text]
    assert [POINTS in text for text in said] == [True, False, True]
