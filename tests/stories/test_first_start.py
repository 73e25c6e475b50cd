"""An agent that ends before it was ever seen alive has left no agent session: the next start begins one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from matcore.engine.revival import RESUME_AFTER_S
from tests.fakes import FakeSeat
from tests.stories.world import World


@pytest.fixture
def resumed(world: World) -> list[str | None]:
    """What each start after the first one was asked to take up."""
    asked: list[str | None] = []
    begun = world.driver.restart

    def restart(session: str, role: str, *, resume: str | None) -> Mapping[str, object]:
        asked.append(resume)
        return begun(session, role, resume=resume)

    world.driver.restart = restart  # type: ignore[method-assign]
    return asked


def dies_at_once(world: World, **seat: Any) -> None:
    """`mat up`, with a developer whose program ends before anybody saw it."""
    world.driver.seats["duo", "dev"] = FakeSeat(status="gone", resumable=True)
    world.driver.needs_prompt.add("dev")
    world.up(roles_config={"dev": {"kick": "Begin with TASK.md."}}, seats={"dev": seat})


@pytest.mark.parametrize("how", ["by itself", "mat restart", "after a kill"])
def test_what_never_came_to_be_is_not_resumed(world: World, resumed: list[str | None], how: str) -> None:
    """A fresh session is begun, with the role's prompt and its first message, once."""
    dies_at_once(world)
    if how == "after a kill":
        world.restart()
    if how == "mat restart":
        world.human(request="restart", role="dev")
    world.advance(RESUME_AFTER_S + 10)
    assert resumed == [None]
    (text,) = world.driver.seats["duo", "dev"].texts
    assert "Begin with TASK.md." in text
    assert "dev.md" in text


def test_a_session_on_which_an_agent_was_seen_is_resumed_however_its_next_start_fails(
    world: World, resumed: list[str | None]
) -> None:
    """What was seen of a session holds for the agents after that one, too."""
    world.up()
    for _ in range(2):
        world.driver.see("duo", "role.gone", "dev", resumable=True)
        world.settle()
        world.advance(RESUME_AFTER_S + 2)
    assert resumed == ["a-dev", "a-dev"]


@pytest.mark.parametrize("outcome", ["ok", "error"])
def test_a_session_that_a_turn_opens_is_there_once_one_ended_well(
    world: World, resumed: list[str | None], outcome: str
) -> None:
    """A headless role is idle before its program ever ran, so that says nothing."""
    world.up(seats={"dev": {"opens_late": True}})
    world.driver.end_turn("duo", "dev", outcome=outcome)
    world.settle()
    world.human(request="restart", role="dev")
    assert resumed == ["a-dev" if outcome == "ok" else None]
