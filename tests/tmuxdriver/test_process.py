"""What processes tell of panes and of their server."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import psutil

from tests.waiting import wait_for
from tmuxdriver.process import is_tmux


def named_tmux(folder: Path, program: str, *args: str) -> subprocess.Popen[bytes]:
    path = shutil.copy(str(shutil.which(program)), folder / "tmux")
    return subprocess.Popen([path, *args])


def test_a_tmux_server_that_lives_is_one(tmp_path: Path) -> None:
    """By its name, for its pid may be another program's by now."""
    with named_tmux(tmp_path, "sleep", "60") as server, subprocess.Popen(["sleep", "60"]) as other:
        assert is_tmux(server.pid)
        assert not is_tmux(other.pid)
        server.kill()
        other.kill()
    assert not is_tmux(server.pid)


def test_a_tmux_server_that_has_ended_and_that_nobody_reaps_is_none(tmp_path: Path) -> None:
    """As in a container whose first process waits for no children: its agents are gone, not behind a gate for ever."""
    with named_tmux(tmp_path, "true") as server:
        wait_for(lambda: psutil.Process(server.pid).status() == psutil.STATUS_ZOMBIE)
        assert not is_tmux(server.pid)
