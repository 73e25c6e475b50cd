"""A permission dialog and a working agent, seen from a whole session: only a person answers, nobody interrupts."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from matcore.engine.driver import Verdict
from tests.duo import Duo
from tests.live.rig import READY, Rig
from tests.waiting import wait_for

QUIET = [{"work": 0.2}, {"print": "Noted."}]


@pytest.fixture
def duo(tmp_path: Path) -> Iterator[Duo]:
    duo = Duo(tmp_path, window=120.0)
    yield duo
    duo.end()


@pytest.mark.slow
@pytest.mark.slow
def test_a_question_on_a_screen_survives_the_supervisor_and_a_persons_yes_ends_it(duo: Duo) -> None:
    """Asked after half a minute; after SIGKILL it is the same question, asked and told once, answered by nobody; when a
    person approves in the pane, the command runs and what waited is delivered."""
    ask = {"when": "ask me", "once": True, "steps": [{"ask": {"permission": "touch granted"}}]}
    duo.role("dev", {"rules": [ask], "default": QUIET}, prompt="duo-dev")
    duo.role("review", {"default": QUIET}, prompt="duo-dev")
    duo.up()
    duo.wait("role.idle", 30, role="dev")
    duo.mat("send", duo.session, "dev", "Please ask me.")
    duo.wait("gate.raised", 20, gate="dialog", role="dev")
    duo.mat("send", duo.session, "dev", "This one waits.")
    asked = duo.wait("question.asked", 45, role="dev")
    before = duo.supervisor_pid()
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: duo.supervisor_pid() != before, 20, "another supervisor")
    duo.wait("watch.resumed", 20, count=2)
    time.sleep(40)  # longer than the new one needs to ask for itself
    assert [e.data["question"] for e in duo.entries("question.asked")] == [asked.data["question"]], duo.story()
    assert not duo.entries("question.answered"), duo.story()
    assert duo.told().count("dialog") <= 2
    assert len([e for e in duo.entries("engine.telling") if e.data["kind"] == "question"]) == 1
    assert not (duo.work / "granted").exists()
    assert not any("This one waits." in text for text in duo.submitted("dev"))
    duo.keys("dev", "Enter")
    duo.wait("question.answered", 20, question=asked.data["question"])
    wait_for(lambda: (duo.work / "granted").exists(), 10, "the command")
    wait_for(lambda: any("This one waits." in text for text in duo.submitted("dev")), 30, "what waited")
    assert len(duo.entries("question.answered")) == 1


@pytest.mark.slow
@pytest.mark.parametrize("queue", ["after", "steer", "lose"])
def test_whatever_a_program_does_with_keys_while_it_works_none_are_sent(
    make_rig: Callable[..., Rig], queue: str
) -> None:
    """It would queue them, be steered by them, or lose them: the text waits for the turn's own end."""
    rules: list[dict[str, Any]] = [{"when": "long", "steps": [{"work": 2.0}]}]
    rig = make_rig(script={"queue": queue, "rules": rules})
    rig.up()
    rig.wait_to_see("role.idle", role="dev")
    rig.keys("long", "Enter")
    rig.wait_to_see("role.busy", role="dev")
    before = rig.typed()
    outcome = rig.deliver("[relay r-1] hello")
    assert (outcome.verdict, outcome.gate) == (Verdict.REFUSED, "busy"), outcome
    rig.wait_to_see("turn.ended", role="dev", outcome="ok")
    assert rig.typed() == before
    assert [turn["outcome"] for turn in rig.log("turn-ended")] == ["done"]
    rig.wait_for_screen(READY)
    assert rig.deliver("[relay r-1] hello").verdict is Verdict.SUBMITTED
    assert "\x1b[200~" not in before
    assert "\x03" not in rig.typed()
    wait_for(lambda: rig.messages() == ["long", "[relay r-1] hello"])
