"""Two real Codex as a duo: its hooks are trusted, and its sandbox lets our commands do their work."""

from __future__ import annotations

import os
import signal
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


def test_a_killed_agent_is_taken_up_again_with_all_that_was_said(codex: Lab) -> None:
    """Codex makes the ids of its sessions itself; `mat restart` resumes the one that its hook named."""
    with lab_duo(codex, "codex", window=600) as duo:
        duo.alone("review")
        duo.up()
        duo.at_rest()
        duo.mat("send", "duo", "review", "SCRIPT:text one")
        duo.wait("turn.ended", 30, role="review")
        named = duo.wait("engine.on_session", 10).data["agent_session"]
        os.kill(int(duo.tmux("display-message", "-p", "-t", duo.pane("review"), "#{pane_pid}")), signal.SIGKILL)
        duo.wait("role.gone", 20, role="review")
        duo.mat("restart", "duo", "review")
        duo.at_rest("review")
        duo.mat("send", "duo", "review", "look at $HOME")
        duo.wait_arrived("look at .HOME$")
        last = [r for r in duo.model.requests() if r["tools"]][-1]
        heads = [user["head"].splitlines()[1] for user in last["users"]]
        assert heads == ["SCRIPT:text one", "look at $HOME"]
        assert {e.data["agent_session"] for e in duo.entries("engine.on_session")} == {named}
