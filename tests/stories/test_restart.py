"""An agent that a human starts again, while others go on talking to it."""

from __future__ import annotations

from collections.abc import Mapping

from tests.stories.world import World

WINDOW_S = 600.0


def test_what_is_handed_over_right_after_a_restart_waits_for_the_new_agent(world: World) -> None:
    """From the moment at which it has a new process the role is not gone, seen or not."""
    world.up()
    world.driver.see("duo", "role.gone", "review")
    world.settle()
    world.human(request="restart", role="review")
    world.relay("dev", "review", 1)
    assert not world.entries("relay.undeliverable")
    world.driver.see("duo", "role.idle", "review")
    world.advance(5)
    assert [text.partition("\n")[0] for text in world.driver.seats["duo", "review"].texts] == [
        "[relay r-000001 from dev]"
    ]


def test_a_rung_that_falls_due_during_a_restart_waits_for_the_new_agent(world: World) -> None:
    """The window ends while the agent is being started: it is not passed by, and gets what never arrived."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role) if role == "dev" else None
    world.up()
    world.driver.see("duo", "role.gone", "review")
    world.settle()
    world.relay("dev", "review", 1)
    world.advance(WINDOW_S - 5)
    begun = world.driver.restart

    def slow(session: str, role: str, *, resume: str | None) -> Mapping[str, object]:
        world.clock.advance(10)
        world.session(session).tick()
        return begun(session, role, resume=resume)

    world.driver.restart = slow  # type: ignore[method-assign]
    world.human(request="restart", role="review")
    assert not world.decisions("duo", "rung.skipped")
    assert world.decisions("duo", "ladder.deferred")[0]["gates"] == ["restarting/review"]
    world.driver.see("duo", "role.idle", "review")
    world.advance(WINDOW_S + 5)
    assert sum("[relay-redelivery=" in text for text in world.driver.seats["duo", "review"].texts) == 1
