"""What a demonstration shows, with whichever driver: one list for all who promise it."""

from __future__ import annotations

import json
from typing import Any

STORY = [
    "cycle.opened",
    "relay.sent r-000001 human dev",
    "relay.sent r-000002 dev review",
    "final_check review",
    "episode.opened",
    "nudge 1 review",
    "relay.sent r-000003 review dev",
    "episode.closed",
    "cycle.completed",
    "goal.wrapup dev",
    "notify cycle-completed",
]
"""In this order. When a wake is closed beside it depends on how soon the turn's end is seen."""
WAKES = {
    "r-000001 dev": "completed_without_visible_reply",
    "r-000002 review": "completed_without_visible_reply",
    "r-000003 dev": "completed_without_visible_reply",
}
_NAMES = {line.split()[0] for line in STORY}


def entries(stdout: str) -> list[dict[str, Any]]:
    """What `mat demo --json` has printed."""
    return [json.loads(line) for line in stdout.splitlines()]


def story(told: list[dict[str, Any]]) -> list[str]:
    """The lines of it that make the story."""
    names = ((entry.get("event") or entry.get("fact"), entry) for entry in told)
    return [" ".join([str(name), *_who(entry)]) for name, entry in names if name in _NAMES]


def wakes(told: list[dict[str, Any]]) -> dict[str, str]:
    """How each wake was closed."""
    closed = [entry for entry in told if entry.get("event") == "wake.closed"]
    return {f"{entry['message']} {entry['role']}": entry["status"] for entry in closed}


def _who(entry: dict[str, Any]) -> list[str]:
    keys = ("kind",) if entry.get("event") == "notify" else ("id", "from", "to", "rung", "role")
    return [str(entry[key]) for key in keys if key in entry]
