"""The console script `mat`, and how little agents' commands load."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from matcore import fast
from matcore.places import state_dir
from matcore.said_here import default_state_dir
from tests.matcore.said_scene import ROOT

HEAVY = (
    "click",
    "pathlib",
    "dataclasses",
    "typing",
    "argparse",
    "subprocess",
    "inspect",
    "uuid",
    "logging",
    "tempfile",
)


@pytest.mark.parametrize("module", ["matcore.fast", "matcore.said_relay", "matcore.said_human", "matcore.said_hook"])
def test_what_starts_hundreds_of_times_a_day_loads_little(module: str) -> None:
    """Only the standard library, and of it nothing that costs as much as the work; `-S` leaves out what sites add."""
    code = f"import {module}, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    loaded = set(done.stdout.split())
    assert loaded & set(HEAVY) == set()
    ours = {name for name in loaded if name.partition(".")[0] in ("matcore", "baton", "tmuxdriver")}
    words = ("matcore.words.handoff", "matcore.words.front", "matcore.words.verdict")
    allowed = ("matcore.said", *words, "matcore.errors", "matcore.spoolfile", "matcore.fast")
    assert [name for name in ours if name not in ("matcore", "matcore.words") and not name.startswith(allowed)] == []


@pytest.mark.parametrize(
    ("argv", "agent", "fast_path"),
    [
        (["wait", "30m", "x"], False, True),
        (["wait", "--help"], True, False),
        (["cycle", "complete"], True, True),
        (["cycle", "complete"], False, False),
        (["cycle", "complete", "--session", "s1"], True, False),
        (["cycle", "complete", "--session=s1"], True, False),
        (["cycle", "-h"], True, False),
        (["status"], True, False),
        ([], True, False),
    ],
)
def test_only_agents_commands_are_answered_here(
    argv: list[str], agent: bool, fast_path: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A human's cycle, help and everything else go to the full command."""
    called: list[str] = []

    def answered(_argv: list[str]) -> int:
        called.append("fast")
        return 0

    monkeypatch.setattr("matcore.said.wait_main", answered)
    monkeypatch.setattr("matcore.said.cycle_main", answered)
    monkeypatch.setattr("matcore.cli.main.main", lambda: called.append("full"))
    monkeypatch.setattr("sys.argv", ["mat", *argv])
    if agent:
        monkeypatch.setenv("MAT_SESSION", "s1")
    assert fast.main() == 0
    assert called == ["fast" if fast_path else "full"]


def test_completion_goes_to_the_full_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell that completes `mat hook` gets names, not a record."""
    called: list[str] = []
    monkeypatch.setattr("matcore.cli.main.main", lambda: called.append("full"))
    monkeypatch.setattr("sys.argv", ["mat", "hook"])
    monkeypatch.setenv("_MAT_COMPLETE", "bash_complete")
    assert fast.main() == 0
    assert called == ["full"]


@pytest.mark.parametrize(("named", "base"), [("/var/s", "/var/s"), *((n, "/h/.local/state") for n in ("", "s", "./s"))])
def test_both_state_folders_are_one(named: str, base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lean spelling and `matcore.places` name the same folder; a name that is not absolute is ignored, for it would
    be another folder in each directory."""
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.setenv("XDG_STATE_HOME", named)
    assert default_state_dir() == str(state_dir()) == f"{base}/mat"
