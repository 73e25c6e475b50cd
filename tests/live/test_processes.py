"""Guard and supervisor as real processes: ended, killed, stopped, doubled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import psutil
import pytest

from matcore import spoolfile
from matcore.engine import heartbeat
from matcore.engine.launch import record_of
from matcore.engine.ledger import Ledger
from matcore.places import StatePlaces
from tests.waiting import wait_for

MAT = [sys.executable, "-m", "matcore.cli.main"]
GUARD = """
import sys
from matcore.engine import guard, heartbeat
from matcore.places import StatePlaces, state_dir
places = StatePlaces(state_dir())
heartbeat.take_lock(places.guard_lock, "guard")
sys.exit(guard.Guard(places, hangs_after_s=float(sys.argv[1])).run())
"""


class Processes:
    """The guard and supervisor of a state folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.state = StatePlaces(folder / "state" / "mat")
        self.state.root.mkdir(parents=True)
        self.told = folder / "told.txt"
        self.state.channels.write_bytes(msgspec.json.encode([{"command": ["tee", "-a", str(self.told)]}]))
        self.env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)}
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *argv: str) -> subprocess.Popen[bytes]:
        with self.state.log.open("ab") as log:
            process = subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.started.append(process)
        return process

    def guard(self, hangs_after_s: float = 90.0) -> subprocess.Popen[bytes]:
        """With a session to be watched, so that the supervisor has no reason to end."""
        work = self.state.root.parent / "work"
        work.mkdir(exist_ok=True)
        config = {
            "driver": "tmux",
            "roles": {role: {"backend": "scripted", "prompt": f"duo-{role}"} for role in ("dev", "review")},
            "tmux": {"socket": str(self.state.root / "no-such-server")},
            "notify": [{"command": ["tee", "-a", str(self.told)]}],
        }
        ledger = Ledger(session="duo", workdir=str(work), path=os.environ["PATH"], config=config)
        spoolfile.write(self.state.spool, record_of(ledger, {}, None))
        return self.start(sys.executable, "-c", GUARD, str(hangs_after_s))

    def supervisor_pid(self, other_than: int = 0) -> int:
        def there() -> int:
            beat = heartbeat.read(self.state)
            fresh = beat is not None and not beat.ended and beat.pid != other_than and psutil.pid_exists(beat.pid)
            return beat.pid if fresh and beat is not None else 0

        return wait_for(there, 30, "a supervisor")

    def end(self) -> None:
        for process in self.started:
            with suppress(psutil.NoSuchProcess):
                for one in [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]:
                    with suppress(psutil.NoSuchProcess):
                        one.kill()
            process.wait(10)
        for path in (self.state.lock, self.state.guard_lock):
            with suppress(OSError, ValueError, psutil.NoSuchProcess):
                if heartbeat._held(path):
                    psutil.Process(int(path.read_text())).kill()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    processes = Processes(tmp_path)
    yield processes
    processes.end()


def test_sigterm_is_a_clean_end(processes: Processes) -> None:
    """Exit code 0, and the last heartbeat says that it ended well."""
    supervisor = processes.start(*MAT, "supervise")
    processes.supervisor_pid()
    supervisor.send_signal(signal.SIGTERM)
    assert supervisor.wait(20) == 0
    beat = heartbeat.read(processes.state)
    assert beat is not None
    assert beat.ended


def test_a_second_supervisor_refuses_and_names_the_first(processes: Processes) -> None:
    """Before any side effect; exit code 3."""
    first = processes.start(*MAT, "supervise")
    processes.supervisor_pid()
    second = subprocess.run(
        [*MAT, "supervise"], env=processes.env, capture_output=True, text=True, check=False, timeout=30
    )
    assert second.returncode == 3
    assert str(first.pid) in second.stderr
    assert first.poll() is None


def test_a_second_guard_ends_at_once(processes: Processes) -> None:
    """Two never restart the same supervisor."""
    processes.guard()
    pid = processes.supervisor_pid()
    second = processes.start(sys.executable, "-m", "matcore.engine.guard")
    assert second.wait(20) == 0
    assert psutil.pid_exists(pid)


def test_a_killed_supervisor_is_started_again(processes: Processes) -> None:
    """The guard sees to it, at once."""
    processes.guard()
    pid = processes.supervisor_pid()
    os.kill(pid, signal.SIGKILL)
    assert processes.supervisor_pid(other_than=pid) != pid


@pytest.mark.slow
def test_a_supervisor_that_hangs_is_ended_and_started_again(processes: Processes) -> None:
    """Stopped, it has no heartbeat any more."""
    processes.guard(hangs_after_s=2.0)
    pid = processes.supervisor_pid()
    os.kill(pid, signal.SIGSTOP)
    assert processes.supervisor_pid(other_than=pid) != pid
    assert not psutil.pid_exists(pid)


@pytest.mark.slow
def test_a_killed_guard_leaves_the_supervisor_and_the_next_guard_takes_it_over(processes: Processes) -> None:
    """Nothing starts twice: the living one is watched, and started again when it ends wrongly."""
    guard = processes.guard()
    pid = processes.supervisor_pid()
    guard.kill()
    guard.wait(10)
    assert psutil.pid_exists(pid)
    wait_for(lambda: heartbeat.guarded(processes.state), 20, "a guard that the supervisor started")
    assert processes.supervisor_pid() == pid
    os.kill(pid, signal.SIGKILL)
    assert processes.supervisor_pid(other_than=pid) != pid


@pytest.mark.slow
def test_a_crash_loop_is_told_once(processes: Processes) -> None:
    """Three failures in ten minutes; the fourth and fifth tell nothing more."""
    processes.state.lock.mkdir()  # no lock can be taken: each start fails
    processes.guard()
    log = processes.state.log
    wait_for(lambda: "(4 times in 10 min)" in log.read_text(), 40, "four failures")
    assert processes.told.read_text().count("failed 3 times in 10 minutes") == 1
