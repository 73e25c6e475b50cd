"""mat's own commands inside the programs' default sandbox and permissions: they work, and nobody is asked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.duo import DEV, REVIEW, lab_duo
from tests.agents.lab import lab

OURS = Path(sys.executable).parent
# Each as the agent calls it, and what it prints then.
COMMANDS = [
    ("send-relay dev HANDOFF.md", r"^sent r-\d+ to dev"),
    ("send-relay dev HANDOFF.md", r"^already sent as r-\d+"),
    ("notify-user 'It is done.'", "."),
    ("mat wait 30m 'the full run'", "."),
    ("mat wait --done", "."),
    ("notify-user --ask 'Shall I go on?'", r"q-\w+"),
    ("mat cycle blocked --reason 'nobody answers'", r'"cycle"'),
]


def rules(folder: str) -> list[dict[str, Any]]:
    """The model calls one after the other; the last result ends the turn."""
    steps: list[dict[str, Any]] = []
    before = {"user": "Try them"}
    for number, (command, _) in enumerate(COMMANDS):
        steps.append({"name": f"call {number}", "system": REVIEW, **before, "run": folder + command, "times": 1})
        before = {"result": "."}
    notes = {"name": "notes", "system": DEV, "user": "from review", "say": "Noted."}
    return [*steps, notes, {"name": "end", "result": ".", "say": "All tried."}]


@pytest.mark.parametrize(("program", "folder"), [("claude", ""), ("codex", f"{OURS}/"), ("pi", "")])
def test_our_commands_work_and_nobody_is_asked(home: Path, program: str, folder: str) -> None:
    """A handoff, a notice, a declared wait, a question and the end of the cycle: no dialog comes between."""
    with lab(program, home / program) as there, lab_duo(there, program, rules(folder), window=600) as duo:
        (there.work / "HANDOFF.md").write_text("# Ready\n\nTo be judged.\n", encoding="utf-8")
        duo.config["roles"]["dev"] = {"backend": program, "prompt": "duo-dev"}
        duo.up()
        duo.at_rest()
        duo.mat("send", "duo", "review", "Try them.")
        duo.wait("cycle.blocked", 60, by="review")
        duo.at_rest("review")
        results = max((r["results"] for r in duo.model.requests() if r["tools"]), key=len)
        assert len(results) == len(COMMANDS), duo.story()
        duo.wait("relay.delivered", 30, count=2)
        assert [e.data["to"] for e in duo.entries("relay.sent")] == ["review", "dev"]
        assert [e.data.get("dialog") for e in duo.entries("question.asked")] == [None], "only the agent's own question"
        assert not duo.entries("gate.raised", gate="dialog")
        assert "It is done." in duo.told()
        assert [e.data["gate"] for e in duo.entries("gate.raised")] == ["declared-wait"]
