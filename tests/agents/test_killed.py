"""Real agent programs that are killed: they are taken up again in their session, with all that was said."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.agents.duo import LabDuo, lab_duo
from tests.agents.lab import OPENCODE, lab
from tests.waiting import wait_for


def kill_agent(duo: LabDuo) -> None:
    """SIGKILL, and wait until that was seen."""
    os.kill(int(duo.tmux("display-message", "-p", "-t", duo.pane("review"), "#{pane_pid}")), signal.SIGKILL)
    duo.wait("role.gone", 20, role="review")


def session_of(duo: LabDuo) -> str:
    """The agent session that the reviewer is on, as the journal knows it."""
    named = [e.data["agent_session"] for e in duo.entries("engine.on_session")]
    up: Any = duo.wait("engine.up").data["seats"]
    seats: list[Any] = [up["review"], *(e.data["seat"] for e in duo.entries("engine.seat"))]
    return str(named[-1] if named else seats[-1]["agent_session"])


@pytest.mark.parametrize("program", ["pi", "claude", "codex", OPENCODE])
def test_a_killed_agent_is_taken_up_again_with_all_that_was_said(home: Path, program: str) -> None:
    """`mat restart` after SIGKILL: the same agent session, the old turns before the new. Codex and opencode make the
    ids of their sessions themselves; Codex's hook names it, opencode's is found where our text is."""
    with lab(program, home / program) as there, lab_duo(there, program, window=600) as duo:
        duo.alone("review").up()
        duo.at_rest()
        duo.mat("send", "duo", "review", "SCRIPT:text one")
        duo.wait("turn.ended", 30, role="review")
        duo.at_rest()
        if program in ("codex", "opencode"):
            duo.wait("engine.on_session", 20)
        named = session_of(duo)
        if program == "claude":
            kept = f"{named}.jsonl"
            wait_for(lambda: "SCRIPT:text one" in saved(duo, kept), 30, "the session's file")
        kill_agent(duo)
        duo.mat("restart", "duo", "review")
        duo.wait("engine.seat", 20, role="review")
        assert session_of(duo) == named
        duo.at_rest("review")
        duo.mat("send", "duo", "review", "look at $HOME")
        duo.wait_arrived("look at .HOME$")
        last = [r for r in duo.model.requests() if r["tools"]][-1]
        assert [user["head"].splitlines()[1] for user in last["users"]] == ["SCRIPT:text one", "look at $HOME"]
        duo.at_rest("review")
        assert session_of(duo) == named, "it goes on in that session"


def test_claude_begins_anew_where_nothing_was_said(home: Path) -> None:
    """It refuses to resume such a session; and a session's file without a message is none to take up."""
    with lab("claude", home / "claude") as there, lab_duo(there, "claude", window=600) as duo:
        duo.alone("review").up()
        duo.at_rest()
        named = session_of(duo)
        kill_agent(duo)
        duo.mat("restart", "duo", "review")
        duo.wait("engine.seat", 20, role="review")
        assert session_of(duo) != named
        duo.at_rest("review")
        duo.mat("send", "duo", "review", "two")
        duo.wait_arrived("two$")


def saved(duo: LabDuo, name: str) -> str:
    """What Claude Code has saved of an agent session."""
    return "".join(file.read_text() for file in (duo.lab.home / ".claude").rglob(name))
