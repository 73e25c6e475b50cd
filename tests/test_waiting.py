"""The helpers of the tests themselves."""

from __future__ import annotations

import os
import subprocess
import uuid
from pathlib import Path

import pytest

from tests import leftovers
from tests.waiting import json_lines, wait_for


def test_waiting_returns_what_the_predicate_found() -> None:
    """The caller gets the value that ended the wait, so that it need not look a second time."""
    answers = iter(["", "", "there"])
    assert wait_for(lambda: next(answers), what="an answer") == "there"


def test_waiting_in_vain_names_what_was_missing() -> None:
    """A deadline that passes says what did not happen, and what was there instead."""
    with pytest.raises(AssertionError, match=r"not within 0 s: the reply \(last seen: None\)"):
        wait_for(lambda: None, timeout_s=0, what="the reply")


@pytest.mark.parametrize("trace", ["environment", "folder"])
def test_a_process_that_a_run_left_is_found_and_ended(trace: str, tmp_path: Path) -> None:
    """Neither a new parent nor an empty environment hides what a run started."""
    mark = uuid.uuid4().hex
    marked = trace == "environment"
    env = {"PATH": os.environ["PATH"]} | ({leftovers.MARK: mark} if marked else {})
    folders = [tmp_path / "elsewhere" if marked else tmp_path]
    daemon = ["sh", "-c", "setsid sleep 60 >/dev/null 2>&1 & echo $!"]
    said = subprocess.run(daemon, cwd="/" if marked else tmp_path, env=env, check=True, capture_output=True, text=True)
    wait_for(lambda: leftovers.of_run(mark, folders, children=False), what="the stray process")
    found = leftovers.after_grace(mark, folders, grace_s=0, children=False)
    assert [f"pid {said.stdout.strip()}:" in line for line in found] == [True]
    wait_for(lambda: not leftovers.of_run(mark, folders, children=False), what="the end of the stray process")


def test_a_child_that_nobody_waited_for_is_found() -> None:
    """A direct child needs no trace at all."""
    with subprocess.Popen(["sleep", "60"], env={}, cwd="/") as child:
        assert child.pid in {process.pid for process in leftovers.of_run("no mark", [])}
        child.kill()


def test_a_bare_tmux_can_not_reach_the_users_server() -> None:
    """Even a test that forgets its socket talks to an empty folder of this run."""
    assert "TMUX" not in os.environ
    assert Path(os.environ["TMUX_TMPDIR"]).parent.name.startswith("mat-t-")


def test_each_test_has_an_empty_home(home: Path) -> None:
    """What mat keeps for a user lands in a folder that ends with the test."""
    assert list(home.iterdir()) == []
    assert Path.home() == home
    assert Path(os.environ["XDG_STATE_HOME"]).is_relative_to(home)


def test_a_line_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    """A log is read while its writer writes: half a record is none yet, and no fault."""
    log = tmp_path / "log"
    assert json_lines(log) == []
    log.write_bytes(b'{"a": 1}\n{"b": "\\u00')
    assert json_lines(log) == [{"a": 1}]
