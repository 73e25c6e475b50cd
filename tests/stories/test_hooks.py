"""Whose a hook's record is: the environment that it ran in says one role, the agent session that it names may say
another. Some programs put a daemon between themselves and the pane, and its hooks have the first pane's environment."""

from __future__ import annotations

from typing import Any

from tests.stories.world import World


def hook(world: World, role: str, event: str, session: str = "duo", **data: Any) -> None:
    """A record of `mat hook`; the fake driver takes the event for what it saw."""
    record = {"request": "hook", "role": role, "backend": "fake", "event": event, "boot_s": world.clock.boot_s()}
    world.human(session, **record, data=data)


def reasons(world: World) -> list[str]:
    return sorted(path.read_text() for path in (world.places.spool / "aside").glob("*.reason"))


def test_a_hook_that_names_the_agent_session_of_another_role_is_set_aside(world: World) -> None:
    """The reviewer's turn has begun, its hook says that it is the developer's: nothing is believed of either."""
    world.up()
    hook(world, "dev", "role.busy", session_id="a-review")
    assert world.session().ledger.status("dev") == "idle"
    (reason,) = reasons(world)
    assert "it says that it is of dev, and names the agent session of review" in reason


def test_nor_does_it_speak_for_another_session(world: World) -> None:
    """The daemon was started by another duo's agent: that duo hears nothing of this one's turns."""
    world.up("first", seats={"dev": {"agent_session": "one"}})
    world.up("second", seats={"dev": {"agent_session": "two"}})
    hook(world, "dev", "role.busy", "first", session_id="two")
    assert world.session("first").ledger.status("dev") == "idle"
    assert "names the agent session of second/dev" in reasons(world)[0]


def test_nor_can_it_take_a_session_over(world: World) -> None:
    """A start that names the other role's agent session does not make it this one's."""
    world.up()
    hook(world, "dev", "session-start", session_id="a-review")
    assert world.session().ledger.seats["dev"].agent_session == "a-dev"
    assert len(reasons(world)) == 1


def test_a_hook_of_a_session_that_was_never_begun_there_is_set_aside(world: World) -> None:
    """Until the program says that it has begun another one: a person did so in the pane, and its hooks count again."""
    world.up()
    hook(world, "dev", "role.busy", session_id="stranger")
    assert world.session().ledger.status("dev") == "idle"
    assert "is on a-dev" in reasons(world)[0]
    hook(world, "dev", "session-start", session_id="stranger")
    hook(world, "dev", "role.busy", session_id="stranger")
    assert world.session().ledger.status("dev") == "busy"
    assert len(reasons(world)) == 1


def test_a_hook_that_names_no_session_is_believed(world: World) -> None:
    """Not every program names it; then the environment is all there is. So it is while its session is not known."""
    world.up(seats={"dev": {"agent_session": None}})
    hook(world, "dev", "role.busy")
    hook(world, "review", "role.busy")
    hook(world, "dev", "role.idle", session_id="any")
    assert world.session().ledger.status("dev") == "idle"
    assert world.session().ledger.status("review") == "busy"
    assert reasons(world) == []


def test_the_last_words_of_an_agent_that_was_replaced_are_no_strangers(world: World) -> None:
    """They come late and are passed by, as ever; nobody is told of them."""
    world.up(seats={"dev": {"agent_session": "new", "started_s": world.clock.boot_s() + 10.0}})
    hook(world, "dev", "turn.ended", session_id="old")
    assert reasons(world) == []
