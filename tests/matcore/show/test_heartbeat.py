"""Who watches: what a heartbeat is worth, and that what came of a decision is told as it came."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from matcore.engine.clock import SystemClock
from matcore.engine.heartbeat import Beat
from matcore.places import StatePlaces
from tests.duo import Duo
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S, supervised
from tests.waiting import wait_for


def test_a_heartbeat_of_before_a_reboot_is_none(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """A boot's clock starts anew, so the old beat's may be ahead of it for weeks: it is no sign of life."""
    tell(ago=60).working()
    with supervised(state, "duo"):
        beat = Beat(4242, "the boot before", SystemClock().boot_s() + 9e5, time.time() - 3600, 0.0, ["duo"])
        state.heartbeat.write_bytes(msgspec.json.encode(beat))
        out = mat("status")[1]
    assert "supervisor starting: no heartbeat yet" in out
    assert "supervisor watching" not in out


def test_the_last_heartbeat_of_before_a_reboot_is_as_old_as_the_calendar_says(
    mat: Mat, tell: Tell, state: StatePlaces
) -> None:
    """Where nobody runs."""
    tell(ago=60).working()
    beat = Beat(4242, "the boot before", SystemClock().boot_s() + 9e5, time.time() - 3600, 0.0, ["duo"])
    state.heartbeat.write_bytes(msgspec.json.encode(beat))
    assert "supervisor NOT RUNNING; its last heartbeat 1h ago" in " ".join(mat("status")[1].split())


def test_a_session_that_is_younger_than_the_last_heartbeat_is_in_the_hands_of_who_hangs(
    mat: Mat, tell: Tell, state: StatePlaces
) -> None:
    """It can't be listed there: the supervisor took it up and stopped before it wrote the next one."""
    tell(ago=10).working()
    with supervised(state, age_s=20):
        assert "SUPERVISOR HANGS" in mat("status")[1]


@pytest.mark.parametrize("command", ["why", "status"])
def test_a_notification_that_reached_nobody_did_not_tell_you(
    mat: Mat, tell: Tell, state: StatePlaces, command: str
) -> None:
    """The decision was made, and nothing came of it: neither view says that you were told."""
    told = tell(ago=400).working().fact("cycle.completed", cycle="c1", by="human")
    number = told.book.journal.tail(1, kinds=["decision"])[0].data["number"]
    told.note("engine.telling", notice=f"n{number}", kind="cycle-completed", action=False, text="duo: c1 is completed.")
    told.note("engine.told", notice=f"n{number}", ok=False, said="exit code 3")
    with supervised(state, "duo"):
        out = " ".join(mat(command, "duo")[1].replace("│", " ").split())
    assert "you were told" not in out
    assert "has not reached you (exit code 3)" in out
    if command == "why":
        assert "you were to be told that c1 is completed; that did not arrive." in out


def test_a_nudge_that_did_not_arrive_says_so(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """In why, as what was decided last; the gate that it raised says when it is repeated."""
    told = tell(ago=WINDOW_S + 100).stalled(0.9)
    told.now += WINDOW_S / 10
    [*_, nudge] = told.book.reach(told.now, told.now)
    told.fact("effect.ended", decision=nudge.number, ok=False, detail="human-typing")
    with supervised(state, "duo"):
        out = mat("why", "duo")[1]
    assert "review was nudged (rung 1 of episode 1); that did not arrive." in out
    assert "nudge-failed/review" in out


@pytest.fixture
def duo(tmp_path: Path) -> Iterator[Duo]:
    duo = Duo(tmp_path)
    yield duo
    for process in duo.ours():
        process.resume()
    duo.end()


@pytest.mark.live
@pytest.mark.slow
def test_a_stopped_or_killed_supervisor_is_seen_to_be(duo: Duo) -> None:
    """SIGSTOP: red before twenty seconds have passed, and well again after SIGCONT. SIGKILL: red at once."""
    duo.role("dev", {})
    duo.role("review", {})
    duo.up("--goal", "nothing")
    wait_for(lambda: "supervisor watching" in duo.mat("status").stdout, 10, "a supervisor that watches")
    supervisor = duo.supervisor_pid()
    for process in duo.ours():
        if process.pid != supervisor:
            process.suspend()  # the guard would start another one
    os.kill(supervisor, signal.SIGSTOP)
    wait_for(lambda: "SUPERVISOR HANGS" in duo.mat("status").stdout, 20, "red")
    seen = duo.mat("status").stdout
    assert seen.startswith(f"supervisor HANGS (pid {supervisor})")
    assert "last seen" in seen
    assert "The supervisor hangs" in duo.mat("why").stdout
    os.kill(supervisor, signal.SIGCONT)
    wait_for(lambda: "supervisor watching" in duo.mat("status").stdout, 10, "it watches again")
    os.kill(supervisor, signal.SIGKILL)
    wait_for(lambda: duo.mat("status").stdout.startswith("supervisor NOT RUNNING"), 5, "red at once")
    assert "NOT WATCHED" in duo.mat("status").stdout
    assert duo.mat("why").stdout.startswith("Nobody watches this session")
