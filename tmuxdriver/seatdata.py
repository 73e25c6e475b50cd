"""What is journalled of a seat: JSON data that `launch` and `restart` return, and that is handed back to `adopt`."""

from __future__ import annotations

from collections.abc import Mapping

from tmuxdriver.panes import Identity, Pane


def noted(pane: Pane) -> dict[str, object]:
    """What a pane's options say of the agent that was started in it."""
    values = pane.values
    return {
        "started_s": float(values["@mat_started_s"] or 0.0),
        "agent_session": values["@mat_agent_session"] or None,
        "needs_prompt": values["@mat_needs_prompt"] == "1",
    }


def of(identity: Identity, about: Mapping[str, object], *, started: bool) -> dict[str, object]:
    """The data of the seat `identity`. `about` is what `noted` says, or the plan of a start."""
    return {
        "server_pid": identity.server_pid,
        "server_start": identity.server_start,
        "pane_id": identity.pane_id,
        "pane_pid": identity.pane_pid,
        "started": started,
        **about,
    }


def identity_of(seat: Mapping[str, object] | None) -> Identity | None:
    """The identity within the JSON data of a seat."""
    if not seat or not seat.get("pane_id"):
        return None
    return Identity(*(str(seat[name]) for name in ("server_pid", "server_start", "pane_id", "pane_pid")))
