"""A file that a driver could make nothing of is on record, as one of a spool is."""

from __future__ import annotations

from matcore.engine.driver import SET_ASIDE
from tests.stories.world import World


def test_what_a_driver_has_set_aside_is_on_record(world: World) -> None:
    """Whatever it is called: on one line, and of a bearable length."""
    world.up(roles=("dev",))
    world.driver.see("duo", SET_ASIDE, "dev", name="two\nlines", reason="x" * 10_000)
    world.settle()
    (entry,) = world.entries("engine.set_aside")
    assert (entry["role"], entry["name"]) == ("dev", "two\N{REPLACEMENT CHARACTER}lines")
    assert len(entry["reason"]) < 1000
