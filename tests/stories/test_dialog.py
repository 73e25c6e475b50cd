"""A dialog that stands on an agent's screen: the human is told of it, and of nothing that it is the reason for."""

from __future__ import annotations

import pytest

from tests.stories.world import World

W = 600.0


def stands(world: World) -> None:
    """The developer has been handed something and is asked by its program; a driver can't tell whether it works."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    world.up()
    world.relay("review", "dev", 1)
    world.driver.see("duo", "role.unknown", "dev")
    world.settle()


@pytest.mark.field_case("Notifications")
@pytest.mark.parametrize("killed", [False, True])
def test_a_permission_dialog_is_told_once_and_once_again(world: World, killed: bool) -> None:
    """At once, and after three windows in which somebody had to be woken; never as a state that can't be made out."""
    stands(world)
    ask = {"question": "dialog-dev-1", "dialog": True}
    world.driver.see("duo", "question.asked", "dev", **ask)
    world.settle()
    if killed:
        world.restart()
        world.driver.see("duo", "question.asked", "dev", **ask)
        world.settle()
    world.advance(10 * W)
    assert ["a dialog on dev's screen waits for you" in text for text in world.told] == [True, True]
    assert all("mat attach duo dev" in text for text in world.told)
    assert not any("unknown" in text for text in world.told)
    assert all(e["ok"] for e in world.entries("effect.ended"))


@pytest.mark.field_case("Notifications")
def test_a_dialog_of_another_kind_is_told_once(world: World) -> None:
    """It holds the ladder as a gate of its own, which says why the role's state is not known."""
    stands(world)
    world.driver.see("duo", "gate.raised", "dev", gate="dialog")
    world.settle()
    world.advance(10 * W)
    (told,) = world.told
    assert "a dialog stands on dev's screen" in told
    assert "unknown" not in told


def test_a_state_that_nothing_explains_is_told(world: World) -> None:
    """Also where a dialog stands on the other agent's screen."""
    stands(world)
    world.driver.see("duo", "gate.raised", "review", gate="dialog")
    world.settle()
    world.advance(10 * W)
    assert any("unknown/dev" in text for text in world.told)
