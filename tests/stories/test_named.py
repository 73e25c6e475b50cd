"""Which agent session a seat is on, when its driver finds it out later: that one is taken up."""

from __future__ import annotations

import pytest

from matcore.engine.driver import AGENT_NAMED
from matcore.engine.revival import RESUME_AFTER_S
from tests.stories.world import World


@pytest.mark.parametrize("named", ["ses_dd21867a9ffe8qiMeMaqK8ykgj", "--all", "a b", "", 7])
def test_an_agent_is_taken_up_in_the_session_that_its_driver_found(world: World, named: object) -> None:
    """What is no id is not believed: it would stand in a command line."""
    world.up(roles=("dev",), seats={"dev": {"agent_session": None}})
    world.driver.see("duo", AGENT_NAMED, "dev", agent_session=named)
    world.settle()
    is_id = str(named).startswith("ses_")
    assert len(world.entries("engine.on_session")) == is_id
    world.driver.see("duo", "role.gone", "dev", resumable=True)
    world.settle()
    world.advance(RESUME_AFTER_S + 2)
    assert [e["seat"]["agent_session"] for e in world.entries("engine.seat")] == [named] * is_id
