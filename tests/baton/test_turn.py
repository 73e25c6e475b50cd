"""One headless turn: text in, output kept with a cap, ended as a whole."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest

from baton import output, runtimes
from baton.turn import HEAD_BYTES, READ_BYTES, Ran, Turn
from tests.waiting import wait_for


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "turns" / "dev-000001.log"


def run(log: Path, code: str, text: str | None = "text", timeout_s: float = 20, cap: int = 10_000) -> Ran:
    turn = Turn(["sh", "-c", code], text, head="head\n", cwd=log.parents[1], env=os.environ, log=log, cap_bytes=cap)
    return turn.wait(timeout_s)


def is_running(pid_file: Path) -> bool:
    pid = int(pid_file.read_text())
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_the_text_goes_to_stdin_as_it_is(log: Path) -> None:
    """Quotes, dollars, markup and a megabyte of it; the log has a head for people, then what was printed."""
    text = "a \"b\" 'c' $HOME `id` ${x}\n" + "ü" * 500_000
    ran = run(log, "cat; echo err >&2; exit 3", text, cap=10_000_000)
    assert (ran.exit_code, ran.why, ran.stderr, ran.truncated) == (3, None, "err\n", False)
    assert ran.stdout == text
    assert log.read_text().startswith("head\n")
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_program_that_reads_nothing_is_no_fault(log: Path) -> None:
    """Its stdin breaks; the turn does not. Without a text it gets none."""
    assert run(log, "exec true", "x" * 1_000_000).exit_code == 0
    assert run(log, "cat", None).stdout == ""


def test_output_beyond_the_cap_is_not_kept(log: Path) -> None:
    """The log stays small, the turn goes on, and its end can still be read."""
    ran = run(log, "yes | head -c 3000000; echo the end", cap=5000)
    assert ran.exit_code == 0
    assert ran.truncated
    assert ran.stdout.endswith("the end\n")
    assert log.stat().st_size < 5100
    assert "[the rest was not kept]" in log.read_text()


def test_the_beginning_of_a_very_long_output_is_read_as_its_end_is(log: Path) -> None:
    """Codex names its session in the first line and never again: the next turn goes on in it all the same."""
    started = '{"type": "thread.started", "thread_id": "t-1"}'
    completed = '{"type": "turn.completed", "usage": {"input_tokens": 3, "output_tokens": 4}}'
    lines = 'yes \'{"type": "item.completed"}\''
    ran = run(log, f"echo '{started}'; {lines} | head -c {10 * READ_BYTES}; echo; echo '{completed}'", timeout_s=60)
    reading = output.read(runtimes.load("codex", log.parents[1]), ran.stdout, ran.stderr, ran.exit_code)
    assert (reading.session_id, reading.tokens) == ("t-1", 7)
    assert len(ran.stdout) <= READ_BYTES + HEAD_BYTES


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_what_is_not_too_long_is_read_whole(log: Path, more: int) -> None:
    """One line that is as long as the beginning and the end together."""
    size = HEAD_BYTES + READ_BYTES + more
    ran = run(log, f"head -c {size} /dev/zero | tr '\\0' x")
    assert len(ran.stdout) == (size if more <= 0 else READ_BYTES)


def test_a_turn_that_takes_too_long_is_ended_as_a_whole(log: Path, tmp_path: Path) -> None:
    """The program, deaf to SIGTERM, and its child."""
    began = time.monotonic()
    code = f"trap '' TERM; sleep 60 & echo $! >{tmp_path}/child; echo begun; while :; do sleep 1; done"
    ran = run(log, code, timeout_s=0.3)
    assert (ran.exit_code, ran.why, ran.stdout) == (None, "timeout", "begun\n")
    assert time.monotonic() - began < 10
    wait_for(lambda: not is_running(tmp_path / "child"), what="no child")


def test_what_a_program_leaves_running_ends_with_its_turn(log: Path, tmp_path: Path) -> None:
    """A background child that holds the pipe neither lives on nor delays the end."""
    began = time.monotonic()
    ran = run(log, f"sleep 60 & echo $! >{tmp_path}/child; echo done")
    assert (ran.exit_code, ran.stdout) == (0, "done\n")
    assert time.monotonic() - began < 3
    wait_for(lambda: not is_running(tmp_path / "child"), what="no child")


def test_a_killed_program_is_a_negative_exit_code(log: Path) -> None:
    """Its signal is known."""
    assert run(log, "kill -9 $$").exit_code == -9


def test_stop_ends_it_from_another_thread(log: Path) -> None:
    """And says that it was stopped."""
    turn = Turn(["sleep", "60"], "", cwd=log.parents[1], env=os.environ, log=log, cap_bytes=1000)
    turn.stop()
    assert turn.wait(20).why == "stopped"


def test_a_program_that_can_not_be_started_raises(log: Path) -> None:
    """Nothing is left open."""
    with pytest.raises(OSError, match="No such file"):
        Turn(["/no/such/program"], "", cwd=log.parents[1], env=os.environ, log=log, cap_bytes=1000)
