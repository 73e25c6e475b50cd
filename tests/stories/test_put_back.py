"""What is sent to a role whose agent is gone arrives when it is there again: by the post what is no debt, by the ladder
what is one."""

from __future__ import annotations

import pytest

from matcore.engine.revival import RESUME_AFTER_S
from matcore.show import snapshot, why
from matcore.show.shapes import Supervisor
from tests.stories.world import World

SOON = RESUME_AFTER_S + 2


def gone(world: World, role: str = "dev", *, resumable: bool = False) -> None:
    world.driver.seats["duo", role].status = "gone"
    world.driver.see("duo", "role.gone", role, resumable=resumable)
    world.settle()


def idle(world: World, role: str = "dev") -> None:
    world.driver.see("duo", "role.idle", role)
    world.settle()


def send(world: World, text: str, role: str = "dev") -> None:
    seq = world.session().ledger.seq + 1
    world.human(
        fact="relay.sent", schema="baton.message/v1", message_id=f"r-{seq:06d}", to=role, kind="request", seq=seq,
        body=text, path=str(world.folder / "handoff.md"), digest="0" * 64, **{"from": "human"},
    )  # fmt: skip


def ended_turns(world: World) -> None:
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)


def said(world: World) -> str:
    watching = Supervisor(alive=True, stale=False, pid=1, heartbeat_age_s=0.1)
    return " ".join(why.sentences(snapshot.of(world.session().book, watching, world.clock.wall_s())))


@pytest.mark.parametrize("how", ["by itself", "mat restart", "mat up"])
def test_the_humans_words_to_an_agent_that_is_gone_arrive_once_it_is_back(world: World, how: str) -> None:
    """All of them, each once and in the order in which they were sent, however the agent was started again."""
    ended_turns(world)
    world.up()
    gone(world, resumable=how == "by itself")
    send(world, "first things")
    send(world, "second things")
    assert len(world.entries("relay.undeliverable")) == 2
    if how == "by itself":
        world.advance(SOON)
    elif how == "mat restart":
        world.human(request="restart", role="dev")
    else:
        del world.driver.seats["duo", "dev"]
        world.up(seats={"dev": {"started": True, "agent_session": "a-dev"}, "review": {"started": False}})
    idle(world)
    world.advance(60)
    texts = world.driver.seats["duo", "dev"].texts
    assert [("first things" in text, "second things" in text) for text in texts] == [(True, False), (False, True)]
    assert [e["name"] for e in world.entries("relay.undeliverable", "relay.delivered")] == [
        "relay.undeliverable", "relay.undeliverable", "relay.delivered", "relay.delivered",
    ]  # fmt: skip


def test_a_note_between_roles_arrives_and_a_debt_is_left_to_the_ladder(world: World) -> None:
    """A `fyi` is nobody's debt, so the post brings it; the request is brought by rung 1 alone, and once."""
    ended_turns(world)
    world.up()
    gone(world)
    world.relay("review", "dev", 1)
    world.relay("review", "dev", 2, kind="fyi")
    world.human(request="restart", role="dev")
    idle(world)
    world.advance(60)
    assert [e["id"] for e in world.entries("relay.delivered")] == ["r-000002"]
    world.advance(700)
    assert [e["redelivers"] for e in world.decisions("duo", "nudge")] == ["r-000001"]
    assert sum("[relay-redelivery=idle-recovery]" in text for text in world.driver.submitted) == 1
    assert sum("r-000002" in text for text in world.driver.submitted) == 1


@pytest.mark.field_case("Restarts")
@pytest.mark.parametrize("when", ["before it is back", "on its way"])
def test_a_supervisor_that_is_killed_meanwhile_brings_it_once(world: World, when: str) -> None:
    """Killed before the agent is there it types it; killed while it types, nobody knows, and it is not typed again."""
    world.up()
    gone(world)
    send(world, "after all")
    if when == "before it is back":
        world.restart()
        world.human(request="restart", role="dev")
        idle(world)
    else:
        world.effects.drops = True
        world.driver.seats["duo", "dev"].status = "idle"
        idle(world)
        assert world.session().ledger.flights
        world.restart()
    world.advance(120)
    (delivered,) = world.entries("relay.delivered")
    assert delivered["confirmed"] is (when == "before it is back")
    assert sum("after all" in text for text in world.driver.submitted) == (when == "before it is back")


def test_a_boundary_and_another_end_lose_no_word_of_the_humans(world: World) -> None:
    """What is no debt outlives the cycle in which it was sent, and an agent that goes again."""
    world.up()
    gone(world)
    send(world, "for whenever")
    world.human(fact="cycle.opened", goal="another")
    world.driver.see("duo", "role.busy", "dev")
    gone(world)
    idle(world)
    world.advance(5)
    assert sum("for whenever" in text for text in world.driver.submitted) == 1


def test_an_answer_to_a_question_is_typed_as_one_when_the_agent_is_back(world: World) -> None:
    """It names the question that it answers, as it would have at once."""
    world.up()
    world.says("dev", fact="question.asked", question="q-1", text="which port?")
    gone(world)
    world.human(fact="question.answered", question="q-1", text="8080")
    world.human(request="restart", role="dev")
    idle(world)
    world.advance(5)
    (text,) = [each for each in world.driver.submitted if "8080" in each]
    assert "which port?" in text


def test_status_and_why_say_who_brings_it(world: World) -> None:
    """The ladder brings a debt; what is none is typed when the agent is back."""
    world.up()
    gone(world)
    world.relay("review", "dev", 1)
    send(world, "hello")
    text = said(world)
    assert "r-000001 from review to dev could not be delivered" in text
    assert "the ladder brings it when dev is back" in text
    assert "it is typed when dev is back" in text
