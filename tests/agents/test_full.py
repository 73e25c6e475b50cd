"""Real programs whose context is full, or is being compacted: what becomes of the seat and of what was owed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.agents.duo import LabDuo, lab_duo
from tests.agents.lab import lab

Make = Callable[..., LabDuo]
TOO_LONG = {
    "claude": "prompt is too long: 213462 tokens > 200000 maximum",
    "codex": "Your input exceeds the context window of this model. Please adjust your input and try again.",
}


@pytest.fixture
def make(home: Path) -> Iterator[Make]:
    """Makes a duo of which only the reviewer runs: `make(program, rules)`."""
    with ExitStack() as ends:

        def made(program: str, rules: Any = ()) -> LabDuo:
            there = ends.enter_context(lab(program, home / program))
            return ends.enter_context(lab_duo(there, program, rules, window=600)).alone("review")

        yield made


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_a_full_context_is_told_and_a_fresh_agent_takes_the_seat(make: Make, program: str) -> None:
    """Not a failed turn like any other: the next agent begins with nothing, and gets what comes then."""
    duo = make(program, [{"name": "full", "user": "Look at all of it", "status": 400, "say": TOO_LONG[program]}])
    duo.up()
    duo.at_rest()
    duo.mat("send", "duo", "review", "Look at all of it.")
    duo.wait("context.exhausted", 60, role="review")
    duo.wait("turn.ended")
    assert [e.data["outcome"] for e in duo.entries("turn.ended")] == ["error"], duo.story()
    duo.wait("context.fresh", 60, role="review")
    duo.at_rest()
    duo.mat("send", "duo", "review", "Go on.")
    duo.wait_arrived("Go on.$")
    last = next(request for request in reversed(duo.model.requests()) if request["tools"])
    assert all("Look at all of it" not in user["head"] for user in last["users"]), "a fresh agent knows nothing of it"


def test_a_compaction_of_claude_holds_texts_until_it_is_done(make: Make) -> None:
    """From its first hook to its second; what was sent meanwhile is typed afterwards, once."""
    summary = {
        "name": "summary",
        "user": "(?i)detailed summary",
        "wait_s": 4,
        "say": "<summary>It was short.</summary>",
    }
    duo = make("claude", [summary])
    duo.up()
    duo.at_rest()
    for number in (1, 2):
        duo.mat("send", "duo", "review", f"Hello {number}.")
        duo.wait("turn.ended", 60, count=number)
        duo.at_rest()
    duo.keys("review", "-l", "/compact")
    duo.keys("review", "Enter")
    raised = duo.wait("gate.raised", 30, gate="compacting", role="review")
    duo.mat("send", "duo", "review", "Go on.")
    cleared = duo.wait("gate.cleared", 30, gate="compacting", role="review")
    assert (cleared.data["evidence"], cleared.at - raised.at > 3) == ("hook", True), duo.story()
    delivered = duo.wait("relay.delivered", 60, count=3)
    assert (delivered.data["confirmed"], delivered.at >= cleared.at) == (True, True), duo.story()
    assert len(duo.entries("engine.inject")) == 3, "nothing was tried meanwhile"
