"""Commands really run, and leave nothing behind."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from matcore.scripted.shell import RunningShell
from matcore.scripted.stage import ShellResult
from tests.waiting import wait_for


def finished(command: str) -> ShellResult:
    shell = RunningShell(command)
    result = wait_for(shell.poll, what="the end of the command")
    assert result is not None
    return result


def test_a_command_runs_in_our_folder_and_environment() -> None:
    """Both outputs come in order, with the exit code."""
    result = finished("echo out; echo err >&2; pwd; echo $HOME; exit 3")
    assert (result.code, result.output) == (3, f"out\nerr\n{Path.cwd()}\n{os.environ['HOME']}\n")


def test_what_is_not_text_is_marked() -> None:
    """Bytes that are no UTF-8 don't stop it."""
    assert finished(r"printf 'a\377b'").output == "a\ufffdb"


def test_a_signal_is_a_negative_code() -> None:
    """As in `subprocess`."""
    assert finished("kill -9 $$").code == -9


def test_much_output_is_bounded() -> None:
    """The command is not blocked by it."""
    result = finished("head -c 5000000 /dev/zero | tr '\\0' x")
    assert result.code == 0
    assert 1_000_000 <= len(result.output) < 2_000_000


def test_a_background_child_neither_holds_the_result_nor_survives(tmp_path: Path) -> None:
    """A grandchild that keeps the pipe open is ended with the command."""
    result = finished(f"sleep 60 & echo $! > {tmp_path}/pid; echo done")
    assert result.output == "done\n"
    pid = int((tmp_path / "pid").read_text())
    wait_for(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie", what="end of the child")


def test_a_killed_command_takes_its_children_along(tmp_path: Path) -> None:
    """And killing it again is harmless."""
    shell = RunningShell(f"sleep 60 & echo $! > {tmp_path}/pid; wait")
    pid = int(wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip()))
    assert shell.poll() is None
    shell.kill()
    shell.kill()
    assert shell.fd is None
    wait_for(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie", what="end of the child")


def test_a_command_cannot_write_on_our_terminal() -> None:
    """It has a session of its own, so /dev/tty is closed to it."""
    assert finished("echo x > /dev/tty").code != 0
