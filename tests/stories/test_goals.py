"""A goal that the human opens reaches the role that has to begin with it, and every agent that is started later."""

from __future__ import annotations

import json

import pytest

from tests.stories.world import World

W = 600.0
GOAL = "CHANGELOG.md is written"


def texts(world: World, role: str) -> list[str]:
    return world.driver.seats["duo", role].texts


def test_the_role_is_told_in_one_transaction_with_the_opening(world: World) -> None:
    """Delivered as the human's message, after the boundary, in the new cycle; its number is known to send-relay."""
    world.up()
    world.relay("dev", "review", 1)
    world.human(fact="cycle.opened", goal=GOAL, tell="dev")
    opened, told = world.entries("cycle.opened", "relay.sent")[-2:]
    assert (opened["cycle"], opened["goal"], opened["by"]) == ("c2", GOAL, "human")
    assert (told["id"], told["from"], told["to"], told["at"]) == ("r-000002", "human", "dev", opened["at"])
    assert texts(world, "dev")[-1].startswith(f"[relay r-000002 from human]\nThe next goal: {GOAL}\n")
    assert world.session().ledger.cycle == "c2"
    index = [json.loads(line) for line in world.folder_of().sent_index.read_text().splitlines()]
    assert (index[-1]["id"], index[-1]["to"], index[-1]["cycle"]) == ("r-000002", "dev", "c2")


def test_it_is_no_progress_and_no_debt(world: World) -> None:
    """A role that does nothing with it is nudged after a window, as the one that was active last."""
    world.up()
    world.human(fact="cycle.completed", cycle="c1")
    world.human(fact="cycle.opened", goal=GOAL, tell="review")
    world.driver.end_turn("duo", "review")
    world.settle()
    assert world.decisions("duo", "final_check") == []
    world.advance(W + 5)
    [nudge] = world.decisions("duo", "nudge")
    assert (nudge["role"], nudge["redelivers"]) == ("review", None)


def test_a_long_goal_stands_in_a_file(world: World) -> None:
    """What is typed stays short, and points to all of it."""
    world.up()
    goal = "word " * 400 + "end"
    world.human(fact="cycle.opened", goal=goal, tell="dev")
    text = texts(world, "dev")[-1]
    assert len(text) < 1024
    [path] = [path for path in world.folder_of().handoffs.iterdir() if goal in path.read_text()]
    assert str(path) in text


@pytest.mark.parametrize(
    "record", [{"goal": GOAL}, {"tell": "dev"}, {"goal": "", "tell": "dev"}, {"goal": None, "tell": None}]
)
def test_without_a_role_or_a_goal_nobody_is_told(world: World, record: dict[str, str]) -> None:
    """A record of a script that says its goal itself."""
    world.up()
    world.human(fact="cycle.opened", **record)
    assert world.session().ledger.cycle == "c2"
    assert world.entries("relay.sent") == []


def test_an_agent_s_own_opening_tells_nobody(world: World) -> None:
    """It may not make the human say anything."""
    world.up()
    world.says("dev", fact="cycle.opened", goal=GOAL, tell="review")
    assert world.session().ledger.cycle == "c2"
    assert world.entries("relay.sent") == []


def test_a_role_that_is_none_is_set_aside(world: World) -> None:
    """And no cycle is opened by half."""
    world.up()
    world.human(fact="cycle.opened", goal=GOAL, tell="nobody")
    assert world.session().ledger.cycle == "c1"
    assert [path.read_text() for path in (world.places.spool / "aside").glob("*.reason")] == [
        "'nobody' is no role of duo\n"
    ]


@pytest.mark.parametrize("by", ["human", "dev"])
def test_prompts_name_the_new_goal(world: World, by: str) -> None:
    """An agent that is started later finds the goal that holds, across a restart of the supervisor too; and nothing is
    reported as cleaned away."""
    world.up(roles_config={role: {"prompt": f"duo-{role}"} for role in ("dev", "review")}, goal="TASK.md is done")
    prompts = world.folder_of().prompts
    assert "Goal of this cycle: TASK.md is done\n" in (prompts / "dev.md").read_text()
    if by == "human":
        world.human(fact="cycle.opened", goal=GOAL, tell="dev")
    else:
        world.says("dev", fact="cycle.opened", goal=GOAL)
    world.advance(5)
    for role in ("dev", "review"):
        assert f"Goal of this cycle: {GOAL}\n" in (prompts / f"{role}.md").read_text()
    (prompts / "dev.md").write_text("Goal of this cycle: TASK.md is done\n")
    world.restart()
    world.advance(5)
    assert f"Goal of this cycle: {GOAL}\n" in (prompts / "dev.md").read_text()
    assert [e for e in world.entries("engine.telling") if e["kind"] == "recreated"] == []


@pytest.mark.parametrize("by", ["human", "dev"])
def test_a_cycle_without_a_goal_has_none_anywhere(world: World, by: str) -> None:
    """The goal of the configuration is the first cycle's: nothing shown, and no prompt, gives it to a later one."""
    world.up(roles_config={role: {"prompt": f"duo-{role}"} for role in ("dev", "review")}, goal="TASK.md is done")
    assert world.session().ledger.goal == "TASK.md is done"
    if by == "human":
        world.human(fact="cycle.opened")
    else:
        world.says(by, fact="cycle.opened")
    world.advance(5)
    assert world.session().ledger.cycle == "c2"
    assert world.session().ledger.goal is None
    assert "TASK.md is done" not in (world.folder_of().prompts / "dev.md").read_text()
