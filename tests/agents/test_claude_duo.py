"""Two real Claude Code as a duo: no dialog stops what a duo needs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.agents.duo import (
    DEV,
    GIVES_IN,
    NOTHING_TO_ADD,
    RELAY,
    REVIEW,
    SAYS_ONLY,
    LabDuo,
    assert_woken_once,
    lab_duo,
)
from tests.agents.lab import Lab
from tests.waiting import wait_for

WINDOW_S = 4.0
# By its defaults Claude Code asks before it writes a file: here they are there already.
HANDS_OVER = {"name": "hands over", "system": DEV, "user": r"Work on TASK\.md", "run": "send-relay review HANDOFF.md"}
HANDS_BACK = {
    "name": "hands back",
    "system": REVIEW,
    "user": RELAY.format(sender="dev"),
    "run": "cat '{{path}}' && send-relay dev REVIEW.md",
}

Make = Callable[..., LabDuo]


@pytest.fixture
def make(claude: Lab) -> Iterator[Make]:
    """Makes the test's duo: `make(rules, window=…)`."""
    ends: list[Any] = []

    def made(rules: Any = (), *, window: float = WINDOW_S, **config: Any) -> LabDuo:
        context = lab_duo(claude, "claude", [*rules, HANDS_OVER, HANDS_BACK], window=window, **config)
        ends.append(context)
        for name in ("HANDOFF.md", "REVIEW.md"):
            (claude.work / name).write_text(f"# {name}\n\nNo finding.\n", encoding="utf-8")
        return context.__enter__()

    yield made
    for context in ends:
        context.__exit__(None, None, None)


def transcript(duo: LabDuo, session: str) -> str:
    """What Claude Code has saved of an agent session."""
    return "".join(file.read_text() for file in (duo.lab.home / ".claude").rglob(f"{session}.jsonl"))


def test_a_stalled_duo_is_woken_and_the_model_sees_it_once(make: Make) -> None:
    """Handed over, answered by the agent's own send-relay, final-checked, nudged, completed; nobody is asked."""
    duo = make([SAYS_ONLY, NOTHING_TO_ADD, GIVES_IN])
    duo.up()
    assert_woken_once(duo)
    assert not duo.entries("gate.raised", gate="dialog")
    assert not duo.entries("question.asked")


def test_an_error_of_the_model_ends_the_wakes_as_failed(make: Make) -> None:
    """Claude Code tries again and gives up; the hook for that tells, though the screen looks like any idle one."""
    duo = make(window=600).alone("review")
    duo.up()
    duo.at_rest()
    duo.mat("send", "duo", "review", "SCRIPT:err500")
    assert duo.wait("wake.closed", 60).data["status"] == "failed"
    assert [e.data["evidence"] for e in duo.entries("turn.ended")] == ["hook"]


@pytest.mark.parametrize("said", ["SCRIPT:text one", None], ids=["after a turn", "before any"])
def test_a_killed_agent_comes_back(make: Make, said: str | None) -> None:
    """`mat restart` after SIGKILL resumes what was said; where nothing was, Claude Code refuses to: it begins anew."""
    duo = make(window=600).alone("review")
    duo.up()
    duo.at_rest()
    seats: Any = duo.wait("engine.up").data["seats"]
    name = seats["review"]["agent_session"]
    if said:
        duo.mat("send", "duo", "review", said)
        duo.wait("turn.ended", 30, role="review")
        wait_for(lambda: said in transcript(duo, name), 30, "the session's file")
    os.kill(int(duo.tmux("display-message", "-p", "-t", duo.pane("review"), "#{pane_pid}")), signal.SIGKILL)
    duo.wait("role.gone", 20, role="review")
    duo.mat("restart", "duo", "review")
    seat: Any = duo.wait("engine.seat", 20, role="review").data["seat"]
    assert (seat["agent_session"] == name) is bool(said)
    duo.at_rest("review")
    duo.mat("send", "duo", "review", "two")
    duo.wait_arrived("two$")
    last = [r for r in duo.model.requests() if r["tools"]][-1]
    heads = [user["head"].splitlines()[1] for user in last["users"]]
    assert heads == [*([said] if said else []), "two"]
