"""What a turn has started ends with it, also what has left its process group; what can't be found delays nobody."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import psutil
import pytest

from baton.turn import Turn
from matcore.engine import guard
from matcore.places import StatePlaces
from tests.baton.rig import Rig
from tests.contract import SESSION
from tests.waiting import wait_for


def strays(rig: Rig) -> list[psutil.Process]:
    """What runs in a session of its own."""
    return [process for process in rig.running() if process.name() == "sleep" and os.getsid(process.pid) == process.pid]


def begin(rig: Rig, text: str) -> None:
    rig.up()
    rig.put(text)


def test_a_turn_that_ends_leaves_nothing_in_a_session_of_its_own(rig: Rig) -> None:
    """No more than in its group."""
    begin(rig, "STRAY")
    rig.settle()
    assert strays(rig) == []


def test_a_turn_that_takes_too_long_is_ended_with_all_that_it_has_started(rig: Rig) -> None:
    """Also with what has left its group."""
    rig.driver = type(rig.driver)({"turn_timeout": 3})
    begin(rig, "STRAY SLEEP")
    wait_for(lambda: strays(rig), what="the stray")
    rig.settle()
    last = rig.role_state().last
    assert last is not None
    assert last.error_class == "timeout"
    assert strays(rig) == []


def test_a_restart_ends_all_that_the_turn_has_started(rig: Rig) -> None:
    """The next turn does not meet what the one before it has left at work."""
    begin(rig, "STRAY SLEEP")
    wait_for(lambda: strays(rig), what="the stray")
    rig.driver.restart(SESSION, "dev", resume=None)
    assert strays(rig) == []


def test_output_that_is_held_open_for_ever_delays_no_turn(tmp_path: Path) -> None:
    """By somebody whom nobody finds: what was said is read, and neither a thread nor a descriptor is left."""
    pid = tmp_path / "pid"
    code = f"setsid sleep 60 & echo $! >{pid}; sleep 0.2; echo said"
    threads, handles = threading.active_count(), len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - numbers, not paths
    began_s = time.monotonic()
    turn = Turn(
        ["sh", "-c", code], "x" * 300_000, cwd=tmp_path, env=os.environ, log=tmp_path / "turns" / "log", cap_bytes=1000
    )
    try:
        ran = turn.wait(20)
        assert (ran.exit_code, ran.stdout) == (0, "said\n")
        assert time.monotonic() - began_s < 2
        assert threading.active_count() == threads
        assert len(os.listdir("/proc/self/fd")) == handles  # noqa: PTH208 - numbers, not paths
    finally:
        psutil.Process(int(pid.read_text())).kill()


def test_somebody_who_writes_without_end_delays_no_turn(tmp_path: Path) -> None:
    """What is there at the end of the turn is read, and no more."""
    pid = tmp_path / "pid"
    code = f"setsid yes & echo $! >{pid}; sleep 0.2"
    turn = Turn(["sh", "-c", code], None, cwd=tmp_path, env=os.environ, log=tmp_path / "turns" / "log", cap_bytes=1000)
    try:
        began_s = time.monotonic()
        assert turn.wait(20).stdout.startswith("y\n")
        assert time.monotonic() - began_s < 2
    finally:
        with_number = int(pid.read_text())
        if psutil.pid_exists(with_number):
            psutil.Process(with_number).kill()


def test_a_guard_that_an_agent_starts_is_no_part_of_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`mat restart` in a turn may start the guard: it serves all sessions, and must not end with that turn."""
    for name in ("MAT_SESSION", "MAT_ROLE", "MAT_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    places = StatePlaces(tmp_path / "state")
    places.root.mkdir()
    started = guard.spawn(places)
    try:
        assert not {"MAT_SESSION", "MAT_ROLE", "MAT_DIR"} & set(psutil.Process(started.pid).environ())
    finally:
        started.terminate()
        started.wait(20)
