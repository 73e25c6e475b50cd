"""A duo in which both roles are pi, and what the scripted model says as each of them.

The developer is kicked off, writes HANDOFF.md and hands it over; the reviewer reads what was sent, writes REVIEW.md and
hands that back; the developer completes the cycle. Nothing else is ever called, so each further relay, wake or turn in
the journal is mat's own doing.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.agents.lab import Lab

KICK = "Work on TASK.md."
DEV, REVIEW = r"You are dev, the developer", r"You are review, the reviewer"
RELAY = r"\[relay (?P<relay>r-\d+) from {sender}\].*?Read (?P<path>\S+)"

HANDS_OVER = "printf '# Handoff\\n\\nThe parser is ready to be judged.\\n' >HANDOFF.md && send-relay review HANDOFF.md"
HANDS_BACK = (
    "cat '{{path}}' && printf '# Review of {{relay}}\\n\\nNo finding.\\n' >REVIEW.md && send-relay dev REVIEW.md"
)

REPLIES: list[dict[str, Any]] = [
    {"name": "kick", "system": DEV, "user": r"Work on TASK\.md", "say": "I start.", "run": HANDS_OVER},
    {"name": "handoff", "system": REVIEW, "user": RELAY.format(sender="dev"), "say": "I look.", "run": HANDS_BACK},
    {"name": "review", "system": DEV, "user": RELAY.format(sender="review"), "run": "mat cycle complete"},
    {"name": "sent", "result": r"^sent (r-\d+) to (\w+)", "say": "Handed to {{2}} as {{1}}."},
    {"name": "done", "system": DEV, "result": r"\"cycle\"", "say": "The cycle is complete."},
    {"name": "closing", "user": r"<goal_(complete|blocked)>", "say": "In closing: the parser is done and reviewed."},
]


def duo_config(lab: Lab, *, session: str = "pi-duo", window: str = "10m", **more: Any) -> dict[str, Any]:
    """What `duo.yaml` says. The tmux socket has a short path of its own; notifications go to `told.txt`."""
    return {
        "session": session,
        "driver": "tmux",
        "roles": {
            "dev": {"backend": "pi", "prompt": "duo-dev", "kick": KICK},
            "review": {"backend": "pi", "prompt": "duo-review"},
        },
        "recovery": {"window": window, "gate_settle": "1s"},
        "tmux": {"socket": str(lab.root / "mat")},
        "notify": [{"command": ["tee", "-a", str(lab.root / "told.txt")]}],
        **more,
    }


def mat(lab: Lab, *args: str, timeout_s: float = 60.0) -> subprocess.CompletedProcess[str]:
    """Run `mat` as its user would, in the lab's network, home and environment; its state is below `lab.home`."""
    return lab.run([Path(sys.executable).with_name("mat"), *args], timeout_s=timeout_s)
