"""The worker and its keeper as processes: started detached, found by their locks, ended with all that they run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import psutil

from baton import keeper, left, lock, record
from baton.keeper import Kept
from baton.mailbox import Mailbox
from baton.record import IDLE
from matcore.errors import Unavailable
from matcore.places import SessionPlaces

STARTS_WITHIN_S = 15.0
ENDS_WITHIN_S = 14.0
LOOK_S = 0.005
LOST = (
    "the process that kept the environment of `mat up` has ended, and no turn is run in another one; "
    "start it where the agents' variables are set: mat up"
)
_OF_A_TURN = ("MAT_SESSION", "MAT_ROLE", "MAT_DIR", left.TURN)


def begin(places: SessionPlaces, *, idle: bool = False) -> subprocess.Popen[bytes]:
    """Start a keeper in this process's environment, detached, and don't wait for it; it starts a worker unless `idle`.
    Raises `OSError`."""
    env = {name: value for name, value in os.environ.items() if name not in _OF_A_TURN}
    argv = [sys.executable, "-m", "baton.keeper", str(places.root), *(["--idle"] if idle else [])]
    log = os.open(record.log_path(places), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(log, "ab") as out:
        started = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, cwd="/", env=env
        )
    # Reaped when it ends, so that a dead keeper of this process is no zombie that looks alive.
    threading.Thread(target=started.wait, daemon=True).start()
    return started


def start(places: SessionPlaces) -> None:
    """Start a keeper with its worker and wait until this, or another, holds the lock. Raises `Unavailable`."""
    end_keeper(places)  # one of an earlier `mat up` has that one's environment
    try:
        started = begin(places)
    except OSError as error:
        raise Unavailable(f"no worker can be started: {error}") from error
    _until_it_serves(places, lambda: started.poll() is not None)


def keep(places: SessionPlaces) -> None:
    """See to it that a worker which serves already is started again in an environment like this one, should it die."""
    if keeper.look(places.root) is None:
        with suppress(OSError, Unavailable):
            begin(places, idle=True)
            wait(lambda: keeper.look(places.root) is not None, STARTS_WITHIN_S, "no keeper")


def again(places: SessionPlaces) -> None:
    """Have another worker started in the environment of `mat up`, and wait for it. Raises `Unavailable`."""
    kept = ask(places)
    _until_it_serves(places, lambda: has_failed(places, kept.starts))


def ask(places: SessionPlaces) -> Kept:
    """Ask for another worker, and don't wait for it. Returns what its keeper said before. Raises `Unavailable`."""
    kept = keeper.look(places.root)
    if kept is None:
        raise Unavailable(LOST)
    try:
        os.kill(kept.pid, keeper.AGAIN)
    except ProcessLookupError as error:
        raise Unavailable(LOST) from error
    return kept


def has_failed(places: SessionPlaces, before: int) -> bool:
    """Whether the worker that was asked for after so many starts has ended."""
    kept = keeper.look(places.root)
    return kept is not None and kept.starts > before and kept.worker == 0


def end_keeper(places: SessionPlaces) -> None:
    """With the worker that it has started, if any. Raises `Unavailable` where one of them does not end."""
    kept = keeper.look(places.root)
    if kept is None:
        return
    worker = _process(kept.worker)
    _end([kept.pid], lambda: keeper.look(places.root) is None, "the keeper of the worker does not end")
    if worker is not None and _lives(worker):  # a keeper that was killed has left it
        _end([worker.pid], lambda: not _lives(worker), "the worker does not end")


def _process(pid: int) -> psutil.Process | None:
    with suppress(psutil.Error):
        return psutil.Process(pid) if pid else None
    return None


def _lives(process: psutil.Process) -> bool:
    """Dead, and not yet taken off by its parent, is dead."""
    with suppress(psutil.Error):
        return process.is_running() and bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def _end(pids: Sequence[int], has_ended: Callable[[], bool], what: str) -> None:
    """Gently, then not. Raises `Unavailable` when even that takes too long."""
    _signal(pids, signal.SIGTERM)
    with suppress(Unavailable):
        wait(has_ended, ENDS_WITHIN_S, what)
        return
    _signal(pids, signal.SIGKILL)
    wait(has_ended, ENDS_WITHIN_S, what)


def _signal(pids: Sequence[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _until_it_serves(places: SessionPlaces, has_ended: Callable[[], bool]) -> None:
    where = f"see {record.log_path(places)}"
    wait(lambda: is_alive(places) or has_ended(), STARTS_WITHIN_S, f"no worker started; {where}")
    if not is_alive(places):
        raise Unavailable(f"the worker ended at once; {where}")


def is_alive(places: SessionPlaces) -> bool:
    return lock.is_held(record.lock_path(places))


def stop(places: SessionPlaces, roles: Sequence[str]) -> None:
    """End the worker and all that its turns have started. What waited in the mailboxes is set aside.

    Raises `Unavailable` while a worker lives on.
    """
    end_keeper(places)
    if is_alive(places):
        path = record.lock_path(places)
        _end(lock.holders(path), lambda: not is_alive(places), f"the worker does not end; it holds {path}")
    for role in roles:
        state = record.read_state(places, role)
        left.end_group(state.pgid, state.born_s)
        Mailbox(places, role).empty("the session has ended")
        fresh = record.State(status=IDLE, turn=state.turn, exhausted=state.exhausted)
        with suppress(OSError):
            record.write(record.state_path(places, role), fresh)
    left.end_marked(places)


def wait(until: Callable[[], bool], timeout_s: float, what: str) -> None:
    """Raises `Unavailable` when it takes too long."""
    end_s = time.monotonic() + timeout_s
    while not until():
        if time.monotonic() > end_s:
            raise Unavailable(what)
        time.sleep(LOOK_S)
