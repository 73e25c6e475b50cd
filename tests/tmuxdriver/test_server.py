"""The tmux client: an answer, an authoritative no, or nothing that can be trusted."""

from __future__ import annotations

import subprocess
import time
import uuid
from pathlib import Path

import pytest

from tmuxdriver import panes
from tmuxdriver.server import CommandFailed, NoServer, Tmux, TmuxError, Unreachable


def fake(tmp_path: Path, script: str) -> Tmux:
    """A tmux that does as the script says."""
    binary = tmp_path / "tmux"
    binary.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    binary.chmod(0o755)
    return Tmux(socket="none", binary=str(binary), timeout_s=0.5)


def test_no_server_is_an_authoritative_no() -> None:
    """A socket that nobody listens on."""
    with pytest.raises(NoServer):
        Tmux(socket=f"mat-{uuid.uuid4().hex[:12]}").run(["list-panes", "-a"])


@pytest.mark.parametrize(
    "script",
    [
        "sleep 60",
        "sleep 60 & echo mat-pane",
        "yes",
        "exit 1",
        "echo 'server exited unexpectedly' >&2; exit 1",
        "echo 'error connecting to /x (Permission denied)' >&2; exit 1",
        "printf '\\377\\376 garbage'",
        "kill -9 $$",
    ],
)
@pytest.mark.field_case("tmux")
def test_a_tmux_that_hangs_floods_or_raves_has_not_answered(tmp_path: Path, script: str) -> None:
    """Within a bounded time, and never as if there were no panes."""
    began = time.monotonic()
    with pytest.raises(Unreachable):
        panes.look(fake(tmp_path, script))
    assert time.monotonic() - began < 5


def test_a_tmux_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    """Not installed is not "no panes" either."""
    with pytest.raises(Unreachable):
        Tmux(binary=str(tmp_path / "nothing")).run(["list-panes"])


@pytest.mark.field_case("Load")
def test_a_hanging_client_leaves_no_process(tmp_path: Path) -> None:
    """The whole process group is ended."""
    mark = f"4{uuid.uuid4().int % 10**6:06}"
    with pytest.raises(TmuxError):
        fake(tmp_path, f"sleep {mark} & sleep {mark}").run(["list-panes"])
    left = subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True, text=True, check=False)
    assert left.stdout == ""


def test_what_was_printed_before_a_failure_is_kept(tmp_path: Path) -> None:
    """One pane that is gone does not cost the captures of the others."""
    with pytest.raises(CommandFailed) as caught:
        fake(tmp_path, 'echo first; echo "can\'t find pane: %9" >&2; exit 1').run(["list-panes"])
    assert caught.value.output == "first\n"


@pytest.mark.parametrize(("word", "sent"), [("a;", "a\\;"), (";", "\\;"), ("a;b", "a;b"), ("", "")])
@pytest.mark.field_case("tmux")
def test_a_final_semicolon_is_no_separator(tmp_path: Path, word: str, sent: str) -> None:
    """tmux would lose it."""
    out = fake(tmp_path, 'for word; do echo "<$word>"; done').run(["set-buffer", word])
    assert f"<{sent}>" in out.splitlines()


@pytest.mark.parametrize("line", ["", "mat-pane|", "mat-pane|1|2|3", "mat-pane|" + "|".join("x" * 30), "%1|a"])
def test_a_row_that_is_none_is_no_pane(line: str) -> None:
    """Whatever else stands between the rows."""
    assert panes.parse_pane(line) is None
