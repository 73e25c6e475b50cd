"""Two real Codex as a duo under the real supervisor: its hooks are trusted, its sandbox lets our commands do their work."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.agents.duo import DEV, GIVES_IN, NOTHING_TO_ADD, RELAY, REVIEW, SAYS_ONLY, assert_woken_once, lab_duo
from tests.agents.lab import Lab

# Its commands run in a login shell, for which /etc/profile may set PATH anew: mat's texts then name the whole path.
OURS = Path(sys.executable).parent
REPLIES = [
    {"name": "kick", "system": DEV, "user": r"Work on TASK\.md", "run": f"echo Ready. >H.md && {OURS}/send-relay H.md"},
    {
        "name": "handoff",
        "system": REVIEW,
        "user": RELAY.format(sender="dev"),
        "run": f"cat '{{{{path}}}}' && echo Fine. >R.md && {OURS}/send-relay dev R.md",
    },
    SAYS_ONLY,
    NOTHING_TO_ADD,
    {**GIVES_IN, "run": f"{OURS}/mat cycle complete"},
]


def test_a_stalled_duo_is_woken_and_the_model_sees_it_once(codex: Lab) -> None:
    """Handed over, answered by the agent's own send-relay, final-checked, nudged, completed; nobody is asked."""
    with lab_duo(codex, "codex", REPLIES, window=4.0) as duo:
        duo.up()
        assert_woken_once(duo)
        assert "hook" in {e.data["evidence"] for e in duo.entries("turn.ended")}
        assert not duo.entries("gate.raised", gate="dialog")
        assert not duo.entries("question.asked")
