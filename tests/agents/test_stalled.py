"""The incident with real programs: a developer who answers in plain text only is woken, once, and completes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.duo import DEV, GIVES_IN, NOTHING_TO_ADD, RELAY, REVIEW, SAYS_ONLY, assert_woken_once, lab_duo
from tests.agents.lab import OPENCODE, lab

# Codex runs commands in a login shell, for which /etc/profile may set PATH anew: mat's texts then name the whole path.
OURS = Path(sys.executable).parent
HANDS_BACK = {"name": "hands back", "system": REVIEW, "user": RELAY.format(sender="dev")}
RULES: dict[str, list[dict[str, Any]]] = {
    # By its defaults Claude Code asks before it writes a file: here they are there already.
    "claude": [
        {"name": "hands over", "system": DEV, "user": r"Work on TASK\.md", "run": "send-relay review HANDOFF.md"},
        {**HANDS_BACK, "run": "cat '{{path}}' && send-relay dev REVIEW.md"},
    ],
    "codex": [
        {
            "name": "kick",
            "system": DEV,
            "user": r"Work on TASK\.md",
            "run": f"echo Go. >H.md && {OURS}/send-relay H.md",
        },
        {**HANDS_BACK, "run": f"cat '{{{{path}}}}' && echo Fine. >R.md && {OURS}/send-relay dev R.md"},
        {**GIVES_IN, "run": f"{OURS}/mat cycle complete"},
    ],
}


@pytest.mark.parametrize("program", ["pi", "claude", "codex", OPENCODE])
def test_a_stalled_duo_is_woken_and_the_model_sees_it_once(home: Path, program: str) -> None:
    """Handed over, answered by the agent's own send-relay, final-checked, nudged, completed: each text arrives once,
    and no dialog stops what a duo needs."""
    rules = [*RULES.get(program, ()), SAYS_ONLY, NOTHING_TO_ADD, GIVES_IN]
    with lab(program, home / program) as there, lab_duo(there, program, rules, window=4.0) as duo:
        for name in ("HANDOFF.md", "REVIEW.md"):
            (there.work / name).write_text(f"# {name}\n\nNo finding.\n", encoding="utf-8")
        duo.up()
        assert_woken_once(duo)
        by_hook = "hook" in {e.data["evidence"] for e in duo.entries("turn.ended", role="dev")}
        assert by_hook is (program != "opencode"), "its screen alone tells of opencode"
        assert not duo.entries("gate.raised", gate="dialog")
        assert not duo.entries("question.asked")
