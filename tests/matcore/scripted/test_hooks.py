"""Hook commands: what they are told, in which order, and that none can hold the program up."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from matcore.scripted import hooks
from matcore.scripted.hooks import Hooks, commands
from matcore.scripted.log import Log
from matcore.scripted.script import EVENTS
from tests.waiting import json_lines

KEEP = (sys.executable, "-c", "import sys; open(sys.argv[1], 'a').write(sys.stdin.read() + chr(10))")


def logged(path: Path) -> list[dict[str, Any]]:
    return json_lines(path)


def test_a_template_holds_for_every_event() -> None:
    """Split as a shell does, the event filled in, beside what the script says."""
    found = commands({"turn-ended": ("mine",)}, "mat hook 'scripted x' {event}")
    assert found["turn-ended"] == [("mine",), ("mat", "hook", "scripted x", "turn-ended")]
    assert set(found) == set(EVENTS)
    assert commands({}, None) == {}
    with pytest.raises(ValueError, match="quotation"):
        commands({}, "mat 'hook")


def test_hooks_are_told_in_order(tmp_path: Path) -> None:
    """One after the other, with JSON on stdin."""
    told = Hooks({"turn-started": [(*KEEP, str(tmp_path / "told"))]}, Log(None, ""))
    for turn in range(3):
        told.fire("turn-started", {"turn": turn})
    told.fire("turn-ended", {})
    told.close(30)
    assert logged(tmp_path / "told") == [{"event": "turn-started", "turn": turn} for turn in range(3)]


def test_a_hook_that_fails_is_logged(tmp_path: Path) -> None:
    """Its exit code and what it said; a command that is not there as well."""
    log = tmp_path / "log"
    told = Hooks({"compaction": [("sh", "-c", "echo why >&2; exit 3"), ("/nowhere/hook",)]}, Log(log, "dev"))
    told.fire("compaction", {})
    told.close(30)
    first, second = logged(log)
    assert (first["exit"], first["error"]) == (3, "why")
    assert second["exit"] is None
    assert "nowhere" in second["error"]


def test_a_hook_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one runs all the same."""
    monkeypatch.setattr(hooks, "LONGEST_S", 0.2)
    log = tmp_path / "log"
    told = Hooks({"compaction": [("sleep", "60"), ("true",)]}, Log(log, "dev"))
    told.fire("compaction", {})
    told.close(30)
    assert [record["exit"] for record in logged(log)] == [None, 0]


def test_closing_is_bounded_and_leaves_no_process(tmp_path: Path) -> None:
    """What still runs is killed, what still waits is dropped."""
    log = tmp_path / "log"
    told = Hooks({"compaction": [("sleep", "60")]}, Log(log, "dev"))
    began = time.monotonic()
    told.fire("compaction", {})
    told.fire("compaction", {})
    told.close(0.2)
    assert time.monotonic() - began < 5
    assert len(logged(log)) <= 1
