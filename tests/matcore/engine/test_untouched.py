"""What a refused launch leaves of the session's folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from matcore.engine.untouched import unless_launched
from matcore.errors import BadConfig, Unavailable
from matcore.places import SessionPlaces


def launch(places: SessionPlaces, error: Exception) -> None:
    """Renders a prompt; then the driver fails."""
    with unless_launched(places):
        places.prompts.mkdir(parents=True)
        (places.prompts / "dev.md").write_text("You are dev.")
        raise error


def refused(places: SessionPlaces, error: Exception) -> None:
    with pytest.raises(type(error)):
        launch(places, error)


@pytest.mark.parametrize("error", [Unavailable("no program"), BadConfig(["no such word"]), OSError("disk full")])
def test_a_refused_launch_leaves_nothing(tmp_path: Path, error: Exception) -> None:
    """Neither the session's folder nor `.mat`, where that was not there."""
    refused(SessionPlaces.of(tmp_path, "duo"), error)
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_stays(tmp_path: Path) -> None:
    """Another session's folder, the project's own prompts; and this session's, if it has run before."""
    (tmp_path / ".mat" / "agents").mkdir(parents=True)
    refused(SessionPlaces.of(tmp_path, "duo"), Unavailable("x"))
    assert [path.name for path in (tmp_path / ".mat").iterdir()] == ["agents"]
    handoff = tmp_path / ".mat" / "old" / "handoffs" / "x.md"
    handoff.parent.mkdir(parents=True)
    handoff.write_text("done")
    refused(SessionPlaces.of(tmp_path, "old"), Unavailable("x"))
    assert handoff.exists()


def test_an_agent_that_was_started_keeps_its_prompt(tmp_path: Path) -> None:
    """tmux failed at the second role: the first one works."""
    places = SessionPlaces.of(tmp_path, "duo")
    agent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE,
                             env={**os.environ, "MAT_DIR": str(places.root)})  # fmt: skip
    try:
        refused(places, Unavailable("tmux does not answer"))
    finally:
        agent.communicate(b"\n", timeout=10)
    assert (places.prompts / "dev.md").exists()


def test_a_launch_that_succeeds_leaves_all(tmp_path: Path) -> None:
    """And what is no refusal is looked into with everything in its place."""
    places = SessionPlaces.of(tmp_path, "duo")
    with unless_launched(places):
        places.prompts.mkdir(parents=True)
    assert places.prompts.exists()
    other = SessionPlaces.of(tmp_path, "other")
    refused(other, ZeroDivisionError())
    assert other.prompts.exists()
