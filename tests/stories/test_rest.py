"""Sessions at rest: they cost nothing, and miss nothing."""

from __future__ import annotations

import pytest

from matcore.engine.events import Polled
from matcore.engine.session import Session
from tests.stories.world import World


@pytest.fixture
def ticked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of a session for each time that it looked at the clock."""
    found = list[str]()
    real = Session.tick

    def counted(session: Session) -> None:
        found.append(session.name)
        real(session)

    monkeypatch.setattr(Session, "tick", counted)
    return found


def test_what_happens_in_one_session_wakes_no_other(world: World, ticked: list[str]) -> None:
    """However many words of one session make the loop turn, the others are not asked."""
    for name in ("busy", "quiet"):
        world.up(name)
    world.advance(30)
    world.supervisor.turn(0)
    ticked.clear()
    for state in ("role.busy", "role.idle") * 5:
        world.driver.see("busy", state, "dev")
        world.supervisor.queue.put(Polled("fake", world.driver.observe()))
        world.supervisor.turn(0)
    assert ticked.count("busy") >= 10
    assert "quiet" not in ticked


def test_a_session_that_waits_for_the_end_of_a_gate_looks_each_second(world: World) -> None:
    """No event tells that the time of a gate is over: what waited for it is typed all the same, and soon."""
    world.up()
    until_s = world.clock.boot_s() + 30
    world.driver.see("duo", "gate.raised", "review", gate="rate-limited", until=until_s)
    world.settle()
    world.relay("dev", "review", 1)
    texts = world.driver.seats["duo", "review"].texts
    while world.clock.boot_s() < until_s:
        assert texts == []
        world.clock.advance(1)
        world.supervisor.turn(0)
    world.clock.advance(1)
    world.supervisor.turn(0)
    assert len(texts) == 1


def test_a_session_at_rest_is_looked_at_when_its_time_comes(world: World, ticked: list[str]) -> None:
    """A window of quiet is over without an event: the loop turns then, and the ladder is climbed."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    world.up()
    world.relay("dev", "review", 1)
    world.advance(5)
    world.clock.advance(world.session().due_in_s() + 0.001)
    ticked.clear()
    world.supervisor.turn(0)
    assert ticked
    assert [decision["event"] for decision in world.decisions("duo", "ladder.nudge", "nudge")]
