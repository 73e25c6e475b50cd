"""What a session owes its agents and its human across deliveries, restarts and boundaries."""

from __future__ import annotations

import json

import pytest

from matcore.engine.driver import Outcome, Verdict
from matcore.engine.launch import record_of
from matcore.engine.post import FIFO
from tests.stories.world import World

W = 600.0


def quick(world: World) -> None:
    """Agents that end each turn at once."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)


def typed(world: World, role: str, *start: str) -> list[str]:
    return [text for text in world.driver.seats["duo", role].texts if not start or text.startswith(start)]


def test_a_turn_that_began_before_our_text_says_nothing_about_it(world: World) -> None:
    """The late end of an earlier turn checks no delivery that it never saw; the turn after it does."""
    world.up()
    early = world.clock.boot_s()
    world.clock.advance(5)
    world.relay("dev", "review", 1)
    world.driver.see("duo", "turn.ended", "review", started=early)
    world.settle()
    assert world.decisions("duo", "final_check") == []
    world.driver.see("duo", "turn.ended", "review", started=world.clock.boot_s())
    world.settle()
    assert len(world.decisions("duo", "final_check")) == 1


def test_a_turn_that_began_before_a_crash_is_known_as_ours_after_it(world: World) -> None:
    """The text was typed, the supervisor killed before it heard so: the turn since then is the text's."""
    world.up()
    world.effects.drops = True
    world.relay("dev", "review", 1)
    world.clock.advance(2)
    started = world.clock.boot_s()
    world.clock.advance(5)
    world.restart()
    world.driver.see("duo", "turn.ended", "review", started=started)
    world.settle()
    assert len(world.decisions("duo", "final_check")) == 1


@pytest.mark.field_case("Lost or twice")
def test_what_does_not_fit_into_the_fifo_waits_visibly(world: World) -> None:
    """Sixty-four open deliveries a role, the next ones are `relay-pending`, in order, and come when there is room."""
    world.driver.on_text = lambda session, role, _text: world.driver.see(session, "role.idle", role)
    world.up()
    for seq in range(1, FIFO + 4):
        world.relay("dev", "review", seq, kind="request")
    relays = typed(world, "review", "[relay")
    assert len(relays) == FIFO
    assert [r.id for r in world.session().ledger.pending("review")] == [f"r-{FIFO + n:06d}" for n in (1, 2, 3)]
    world.driver.end_turn("duo", "review")
    world.settle()
    world.driver.end_turn("duo", "review")
    world.settle()
    assert [t.partition("]")[0] for t in typed(world, "review", "[relay")][-3:] == [
        f"[relay r-{FIFO + n:06d} from dev" for n in (1, 2, 3)
    ]


def test_a_refused_text_is_tried_ever_less_often(world: World) -> None:
    """A day of refusals leaves a few hundred lines, not a few thousand, and the text comes once at its end."""
    world.up()
    seat = world.driver.seats["duo", "review"]
    seat.answers = [Outcome(Verdict.REFUSED, "no composer", gate="no-composer")] * 5000
    world.relay("dev", "review", 1)
    world.advance(24 * 3600)
    assert len(world.entries("engine.inject")) < 700
    assert seat.texts == []
    seat.answers = []
    world.advance(301)
    assert len(seat.texts) == 1


def test_a_wrap_up_is_typed_once_and_outlives_a_restart(world: World) -> None:
    """The role is busy when the goal ends; the supervisor restarts twice; one instruction comes, with that goal."""
    world.up(goal="Ship it")
    world.driver.see("duo", "role.busy", "review")
    world.settle()
    world.says("review", fact="cycle.completed", cycle="c1")
    world.says("dev", fact="cycle.opened", goal="Another thing")
    world.restart()
    world.restart(clean=True)
    assert typed(world, "review") == []
    world.driver.see("duo", "role.idle", "review")
    world.settle()
    (text,) = typed(world, "review")
    assert "<goal_complete" in text
    assert "Ship it" in text
    world.driver.end_turn("duo", "review")
    world.restart()
    world.advance(10)
    assert len(typed(world, "review")) == 1


@pytest.mark.field_case("Restarts")
def test_a_pause_outlives_restarts(world: World) -> None:
    """Nothing is nudged while it is paused, whoever restarts; `resume` frees it."""
    quick(world)
    world.up()
    world.human(fact="human.paused")
    world.restart()
    world.advance(2 * W)
    assert world.decisions("duo", "nudge") == []
    world.human(fact="human.resumed")
    assert len(world.decisions("duo", "nudge")) == 1


def test_the_end_of_a_pause_outlives_restarts(world: World) -> None:
    """`mat pause --for` holds until it said, and not longer."""
    quick(world)
    world.up()
    world.human(fact="human.paused", for_s=3 * W)
    world.restart(clean=True)
    world.advance(3 * W - 100)
    assert world.decisions("duo", "nudge") == []
    world.advance(200)
    assert len(world.decisions("duo", "nudge")) == 1


@pytest.mark.parametrize(("late_s", "left_s"), [(1800, 1800), (10**306, 0), (-(10**400), 3600)])
def test_what_is_heard_late_ends_when_it_was_said_to_end(world: World, late_s: int, left_s: int) -> None:
    """A declared wait and a pause begin when they are said: a supervisor that was down meanwhile prolongs neither."""
    world.up()
    said_ms = int(world.clock.wall_s() * 1000) - late_s * 1000
    before = world.session().clock.now()
    world.says("dev", request="wait", until_s=3600, reason="tests", ts_ms=said_ms)
    world.human(fact="human.paused", for_s=3600, ts_ms=said_ms)
    (wait,), (pause,) = (world.entries(name) for name in ("gate.raised", "human.paused"))
    assert [fact["until"] - before for fact in (wait, pause)] == pytest.approx([left_s] * 2, abs=1)


@pytest.mark.field_case("Nudges")
def test_a_declared_wait_is_trusted_across_a_restart_and_not_a_second_longer(world: World) -> None:
    """The gate ends when the agent said, though the supervisor that heard it is gone."""
    quick(world)
    world.up()
    world.says("dev", request="wait", until_s=2 * W, reason="full test run")
    world.restart()
    world.advance(2 * W - 5)
    assert world.decisions("duo", "nudge") == []
    world.advance(10)
    assert len(world.decisions("duo", "nudge")) == 1


def test_a_gate_that_no_longer_stands_after_a_restart_ends(world: World) -> None:
    """Nobody clears it, for nobody saw it go: it settles and is gone, and the relay behind it is typed."""
    world.up()
    world.driver.see("duo", "gate.raised", "review", gate="copy-mode")
    world.settle()
    world.relay("dev", "review", 1)
    assert typed(world, "review") == []
    world.restart()
    world.advance(5)
    assert len(typed(world, "review")) == 1
    assert world.session().ledger.gates == {}


def dialog(world: World, question: str) -> None:
    world.driver.see("duo", "question.asked", "dev", question=question, dialog=True)
    world.driver.see("duo", "role.unknown", "dev")
    world.settle()


def test_a_dialog_that_still_stands_after_a_restart_is_the_same_question(world: World) -> None:
    """A new driver finds it under a new name: the human is not asked twice, and its answer answers the first."""
    world.up()
    dialog(world, "dialog-dev-1")
    world.driver.seats["duo", "dev"].status = "unknown"
    world.restart()
    assert list(world.session().ledger.questions) == ["dialog-dev-1"]
    dialog(world, "dialog-dev-2")
    assert sum("dialog" in text for text in world.told) == 1
    assert list(world.session().ledger.questions) == ["dialog-dev-1"]
    world.driver.see("duo", "question.answered", "dev", question="dialog-dev-2")
    world.settle()
    assert world.session().ledger.questions == {}


def test_a_dialog_that_went_while_nobody_watched_was_answered(world: World) -> None:
    """The seat is seen at work, or at rest, without it: the ladder is not held for ever."""
    world.up()
    dialog(world, "dialog-dev-1")
    world.driver.seats["duo", "dev"].status = "idle"
    world.restart()
    assert world.session().ledger.questions == {}
    assert [e["question"] for e in world.entries("question.answered")] == ["dialog-dev-1"]


def test_a_question_to_the_human_is_not_answered_by_a_restart(world: World) -> None:
    """What an agent asked with `notify-user --ask` stays open until the human answers."""
    world.up()
    world.says("dev", fact="question.asked", question="q1", text="Which?")
    world.restart()
    world.advance(10)
    assert list(world.session().ledger.questions) == ["q1"]
    assert len(world.told) == 1


def test_session_json_says_what_was_delivered_and_which_cycle_is_open(world: World) -> None:
    """What `send-relay` must know is kept current by the loop."""
    quick(world)
    world.up()
    world.relay("dev", "review", 1)
    world.relay("review", "dev", 2)
    world.says("dev", fact="cycle.completed", cycle="c1")
    world.says("dev", fact="cycle.opened", goal="More")
    about = json.loads(world.folder_of().about.read_text())
    assert about["frontier"] == {"review": {"dev": 1}, "dev": {"review": 2}}
    assert about["cycle"] == {"id": "c2", "goal": "More"}


def test_a_refused_handoff_is_told_once_at_the_third_time(world: World) -> None:
    """Three in a row of the same file by the same role; the fourth tells nothing more."""
    world.up()
    for blocks in (1, 2, 3, 4):
        world.says(
            "dev", record="handoff.checked", approved=False, check="file", reason="empty", blocks=blocks, max_blocks=3,
            file="/h.md",
        )  # fmt: skip
    world.restart()
    assert len(world.told) == 1
    assert "3 times in a row" in world.told[0]


@pytest.mark.field_case("Nudges")
def test_a_fyi_and_an_acknowledgement_pass_no_baton(world: World) -> None:
    """The debt stays where it was; the acknowledged wake ends, and no final check is made of it."""
    world.up()
    world.relay("dev", "review", 1)
    world.says("review", fact="relay.acked", message_id="r-000001")
    world.driver.end_turn("duo", "review")
    world.settle()
    world.relay("review", "dev", 2, kind="fyi")
    assert world.decisions("duo", "final_check") == []
    assert [(d["status"], d["reason"]) for d in world.decisions("duo", "wake.closed")] == [("reply_sent", "acked")]
    assert world.decisions("duo", "episode.closed") == []


def test_mat_up_of_a_session_that_runs_changes_nothing_twice(world: World) -> None:
    """The same record, seen again after a crash, is taken up once."""
    world.up()
    ledger = world.session().ledger
    record = record_of(ledger, {role: {"agent_session": f"a-{role}"} for role in ("dev", "review")}, None)
    world.human(**{key: value for key, value in record.items() if key != "session"})
    assert len(world.entries("cycle.opened")) == 1
    assert len(world.entries("engine.up")) == 2
    assert world.supervisor.watched["duo"].fault is None
