"""Verdicts, questions and rounds, told through spools, loop, journal and core."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from matcore.engine.driver import Outcome, Verdict
from matcore.said import human_relay
from tests.stories.world import World

WINDOW_S = 600.0


def hands(world: World, sender: str, to: str, body: str, kind: str = "request") -> str:
    """What `send-relay` leaves: the copy among the handoffs, and the record. Returns the relay's id."""
    places = world.folder_of()
    digest = hashlib.sha256(body.encode()).hexdigest()
    path = places.handoffs / f"{digest}.md"
    path.write_text(body)
    seq = world.session().ledger.seq + 1
    message = f"r-{seq:06d}"
    world.says(
        sender, fact="relay.sent", schema="baton.message/v1", message_id=message, to=to, kind=kind, seq=seq,
        body=body, path=str(path), digest=digest, **{"from": sender},
    )  # fmt: skip
    return message


def asks(world: World, role: str, text: str, question: str = "q-1") -> None:
    world.says(role, fact="question.asked", question=question, text=text)


def texts(world: World, role: str) -> list[str]:
    return world.driver.seats["duo", role].texts


def ends(world: World, role: str) -> None:
    world.driver.end_turn("duo", role)
    world.settle()


def test_a_hint_comes_in_the_same_agent_session(world: World) -> None:
    """The peer reads the hint itself, twice over two rounds, and its seat is never started anew."""
    world.up()
    for number in (1, 2):
        hands(world, "review", "dev", f'{{"verdict": "retry", "hint": "add test {number}"}}')
        ends(world, "dev")
        assert texts(world, "dev")[-2].splitlines()[1] == f"Hint: add test {number}"
        hands(world, "dev", "review", f"done {number}")
        ends(world, "dev")
        ends(world, "review")
    assert world.entries("engine.seat") == []
    assert world.session().ledger.seats["dev"].agent_session == "a-dev"
    assert world.session().ledger.tally.letters == {}


def test_a_new_prompt_begins_a_new_agent_session(world: World) -> None:
    """relay.sent, agent.renewed, relay.delivered, in this order; open wakes end as new_session and the debt stays."""
    world.up()
    hands(world, "review", "dev", "look at it")
    relay = hands(world, "review", "dev", '{"verdict": "retry", "new_prompt": "Read TASK.md.\\nBegin again."}')
    world.driver.see("duo", "role.idle", "dev")
    world.settle()
    names = ("relay.sent", "engine.renewing", "engine.seat", "agent.renewed", "relay.delivered", "wake.closed")
    story = [(e["name"], e.get("id") or e.get("relay") or e.get("reason")) for e in world.entries(*names)][3:]
    assert [step for step in story if step[0] != "engine.seat"] == [
        ("engine.renewing", relay),
        ("agent.renewed", relay),
        ("wake.closed", "new_session"),
        ("relay.delivered", relay),
    ]
    (text,) = texts(world, "dev")
    assert text.splitlines()[1:3] == ["Read TASK.md.", "Begin again."]
    assert text.startswith(f"[relay {relay} from review]")
    fresh = world.session().ledger.seats["dev"].agent_session
    assert fresh not in (None, "a-dev")
    assert world.entries("agent.renewed")[0]["agent_session"] == fresh
    assert world.decisions("duo", "wake.opened")[-1]["message"] == relay


def test_a_prompt_that_is_too_long_is_read_from_a_file(world: World) -> None:
    """The text points to a file with the prompt and nothing else; so for a hint, which stands in the handoff."""
    world.up()
    long = "word " * 400
    hands(world, "review", "dev", f'{{"verdict": "retry", "new_prompt": "{long}"}}')
    world.settle()
    path = Path(texts(world, "dev")[-1].splitlines()[1].removeprefix("Read "))
    assert path.read_text() == long
    ends(world, "dev")
    ends(world, "dev")
    hands(world, "review", "dev", f'{{"verdict": "retry", "hint": "{long}"}}')
    path = Path(texts(world, "dev")[-1].splitlines()[1].removeprefix("Read the hint in "))
    assert long in path.read_text()
    assert all(len(text.encode()) < 1024 for text in texts(world, "dev"))


def test_a_renewal_that_fails_is_tried_again_and_told(world: World) -> None:
    """The relay waits, visibly; the human is told after three windows, and the renewal goes on being tried."""
    world.up()
    fails: list[bool] = [True]
    restart = world.driver.restart

    def sometimes(session: str, role: str, *, resume: str | None) -> Any:
        if fails[0]:
            raise OSError("no such program")
        return restart(session, role, resume=resume)

    world.driver.restart = sometimes  # type: ignore[method-assign]
    hands(world, "review", "dev", '{"verdict": "retry", "new_prompt": "Begin again."}')
    world.advance(4 * WINDOW_S + 60)
    assert len(world.entries("engine.restart_failed")) > 1
    assert any("relay-pending/dev" in text for text in world.told)
    fails[0] = False
    world.advance(WINDOW_S)
    assert [e["id"] for e in world.entries("relay.delivered")] == ["r-000001"]


def test_a_supervisor_that_dies_in_a_renewal_begins_it_again(world: World) -> None:
    """A session that was told nothing is no loss; the prompt is typed once."""
    world.up()
    world.effects.drops = True
    hands(world, "review", "dev", '{"verdict": "retry", "new_prompt": "Begin again."}')
    assert world.entries("agent.renewed") == []
    world.restart()
    world.driver.see("duo", "role.idle", "dev")
    world.settle()
    world.settle()
    assert len(world.entries("engine.renewing")) == 2
    assert [text.splitlines()[1] for text in texts(world, "dev")] == ["Begin again."]


def test_a_question_is_told_with_its_answering_command_and_answered_in_place(world: World) -> None:
    """One notice; the answer names question and id; a second answer, and one to nothing, are set aside."""
    world.up()
    asks(world, "review", "Is 0 an error?")
    assert 'mat answer duo --question q-1 "TEXT"' in world.told[-1]
    world.human(fact="question.answered", question="q-1", text="No.")
    assert texts(world, "review")[-1].splitlines() == [
        "[relay r-000001 from human] Answer to your question q-1: Is 0 an error?",
        "No.",
    ]
    world.human(fact="question.answered", question="q-1", text="Yes.")
    assert len(world.entries("question.answered")) == 1
    assert len(texts(world, "review")) == 1
    aside = [path.read_text() for path in (world.places.spool / "aside").glob("*.reason")]
    assert ["was answered already" in reason for reason in aside] == [True]
    assert len(world.told) == 1


def test_an_answer_numbered_by_mat_answer_answers_and_sends_at_once(world: World) -> None:
    """One record, one transaction: the question is closed and the text is on its way; however long it is."""
    world.up()
    asks(world, "dev", "Which?", "q-2")
    body = "ü" * 200_000
    places = world.folder_of()
    message, _ = human_relay(str(places.root), str(world.places.spool), "duo", "dev", body, answers="q-2")
    world.settle()
    sent, answered = world.entries("relay.sent")[-1], world.entries("question.answered")[-1]
    assert (sent["id"], answered["relay"], answered["at"]) == (message, message, sent["at"])
    text = texts(world, "dev")[-1]
    assert "Answer to your question q-2: Which?" in text
    assert Path(text.splitlines()[1].removeprefix("Read ")).read_text() == body


def test_a_dialog_is_not_answered_by_a_text(world: World) -> None:
    """The record is set aside with the command that shows the dialog."""
    world.up()
    world.driver.see("duo", "question.asked", "dev", question="dialog-1", dialog=True, text="Run it?")
    world.settle()
    world.human(fact="question.answered", question="dialog-1", text="yes")
    assert world.entries("question.answered") == []
    (reason,) = [path.read_text() for path in (world.places.spool / "aside").glob("*.reason")]
    assert "mat attach duo dev" in reason


def test_a_cycle_without_end_ends_in_a_question(world: World) -> None:
    """After max_rounds mat asks, handoffs wait, and the answer grants as many more; it comes before the handoff."""
    world.up(cycle={"max_rounds": 2})
    for number in (1, 2):
        hands(world, "dev", "review", f"done {number}")
        ends(world, "review")
        ends(world, "review")
        hands(world, "review", "dev", f"again {number}")
        if number == 1:
            ends(world, "dev")
            ends(world, "dev")
    asked = world.entries("question.asked")
    assert [(e["question"], e["role"], e["by"]) for e in asked] == [("rounds-c1-1", "dev", "mat")]
    assert "mat asks you about dev" in world.told[-1]
    ends(world, "dev")
    before = len(texts(world, "dev"))
    world.human(fact="question.answered", question="rounds-c1-1", text="Go on.")
    ends(world, "dev")
    ends(world, "dev")
    ends(world, "dev")
    fresh = texts(world, "dev")[before:]
    assert fresh[0].startswith("[relay r-000005 from human] Answer to mat's question: Cycle c1 has had 2 rounds")
    assert any(text.startswith("[relay r-000004 from review]") for text in fresh)
    assert len(world.entries("question.asked")) == 1
    assert world.session().ledger.tally.open is not None


def test_no_role_can_ask_in_mat_s_name(world: World) -> None:
    """A question that is only named like mat's holds no handoff back."""
    world.up(cycle={"max_rounds": 9})
    world.says("dev", fact="question.asked", question="rounds-c1-1", text="Go on?", by="mat")
    hands(world, "dev", "review", "done")
    assert texts(world, "review")[0].startswith("[relay r-000001 from dev]")
    assert "dev asks you" in world.told[0]


def test_mat_s_question_goes_with_its_cycle(world: World) -> None:
    """The human may end the cycle instead of answering."""
    world.up(cycle={"max_rounds": 1})
    hands(world, "dev", "review", "done")
    ends(world, "review")
    hands(world, "review", "dev", "again")
    assert len(world.session().ledger.questions) == 1
    world.human(fact="cycle.completed", cycle="c1")
    world.settle()
    assert world.session().ledger.questions == {}


def test_the_end_of_a_cycle_is_told_with_its_course(world: World) -> None:
    """Goal, time, handoffs, stalls, and where the closing message stands; one wrap-up for an agent's end, none for the
    human's, and with the goal of the cycle that ended."""
    world.up(goal="it greets")
    hands(world, "dev", "review", "done")
    ends(world, "review")
    ends(world, "review")
    world.advance(125)
    world.says("review", fact="cycle.completed", cycle="c1")
    world.says("review", fact="cycle.opened", goal="it waves")
    (told,) = world.told
    assert "Goal: it greets" in told
    assert "It took 2m 5s, 1 handoff." in told
    assert "closing message: mat attach duo review" in told
    wrapups = [text for text in texts(world, "review") if text.startswith("<goal_complete>")]
    assert len(wrapups) == 1
    assert "Goal: it greets" in wrapups[0]
    world.human(fact="cycle.blocked", cycle="c2")
    ends(world, "review")
    assert len(world.entries("goal.wrapup")) == 1


def test_a_wrapup_that_was_held_back_comes_once(world: World) -> None:
    """A gate delays it; it is not given up, and not said twice."""
    world.up()
    world.driver.seats["duo", "dev"].answers = [Outcome(Verdict.REFUSED, "someone types", gate="human-typing")]
    world.says("dev", fact="cycle.completed", cycle="c1")
    world.advance(30)
    assert sum(text.startswith("<goal_complete>") for text in texts(world, "dev")) == 1


@pytest.mark.parametrize("body", ['{"verdict": "ok"}', '{"verdict": "approved"}', "plain"])
def test_what_is_no_retry_is_delivered_as_it_is(world: World, body: str) -> None:
    """`ok`, a handoff without a verdict, and what slipped past the gate are announced by their path."""
    world.up()
    hands(world, "review", "dev", body)
    assert texts(world, "dev")[0].splitlines()[1].startswith("Read ")


def test_no_two_texts_are_alike(world: World) -> None:
    """Over rounds, stalls and failed attempts nothing that was typed is ever typed again, byte for byte."""
    world.up()
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    for number in (1, 2):
        hands(world, "review", "dev", '{"verdict": "retry", "hint": "the same"}')
        world.advance(3 * WINDOW_S)
        world.human(fact="human.resumed")
        world.advance(2 * WINDOW_S)
        hands(world, "dev", "review", f"done {number}")
        world.advance(WINDOW_S)
    typed = [e["text"] for e in world.entries("engine.inject")]
    assert len(typed) > 8
    assert len(set(typed)) == len(typed)


def test_send_relay_learns_what_it_must_check(world: World) -> None:
    """Required keys, the checks that agents run themselves and the number of refusals go from duo.yaml to them."""
    world.up(handoff={"require": ["issue"], "commands": ["verdict"], "gates": ["required-keys"], "max_blocks": 5})
    about = json.loads(world.folder_of().about.read_text())
    assert (about["require"], about["commands"], about["max_blocks"]) == (["issue"], ["verdict"], 5)


def test_three_refusals_in_a_row_are_told_once(world: World) -> None:
    """The third one, with the check, the reason and the file; passes and further refusals are only on record."""
    world.up()
    for blocks, approved in ((0, True), (1, False), (2, False), (3, True), (3, False), (4, False)):
        world.says(
            "dev", record="handoff.checked", approved=approved, check="verdict", blocks=blocks, max_blocks=3,
            reason=None if approved else "none of `ok`", file="/w/v.md",
        )  # fmt: skip
    assert len(world.entries("handoff.checked")) == 6
    (told,) = world.told
    assert "dev was refused 3 times in a row by verdict; nothing was sent" in told
