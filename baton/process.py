"""The worker as a process: started detached, found by its lock, ended with all that it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from baton import left, lock, record
from baton.mailbox import Mailbox
from baton.record import IDLE
from matcore.errors import Unavailable
from matcore.places import SessionPlaces

STARTS_WITHIN_S = 15.0
ENDS_WITHIN_S = 14.0
LOOK_S = 0.005
_OF_A_TURN = ("MAT_SESSION", "MAT_ROLE", "MAT_DIR", left.TURN)


def begin(places: SessionPlaces) -> subprocess.Popen[bytes]:
    """Start a worker, detached, and don't wait for it. Raises `OSError`."""
    env = {name: value for name, value in os.environ.items() if name not in _OF_A_TURN}
    with record.log_path(places).open("ab") as out:
        worker = subprocess.Popen(
            [sys.executable, "-m", "baton.worker", str(places.root)],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, cwd="/", env=env,
        )  # fmt: skip
    # Reaped when it ends, so that a dead worker of this process is no zombie that looks alive.
    threading.Thread(target=worker.wait, daemon=True).start()
    return worker


def start(places: SessionPlaces) -> None:
    """Start a worker and wait until it, or another, holds the lock. Raises `Unavailable`."""
    try:
        worker = begin(places)
    except OSError as error:
        raise Unavailable(f"no worker can be started: {error}") from error
    where = f"see {record.log_path(places)}"
    wait(lambda: is_alive(places) or worker.poll() is not None, STARTS_WITHIN_S, f"no worker started; {where}")
    if not is_alive(places):
        raise Unavailable(f"the worker ended at once; {where}")


def is_alive(places: SessionPlaces) -> bool:
    return lock.is_held(record.lock_path(places))


def stop(places: SessionPlaces, roles: Sequence[str]) -> None:
    """End the worker and all that its turns have started. What waited in the mailboxes is set aside."""
    pid = lock.holder(record.lock_path(places))
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        try:
            wait(lambda: not is_alive(places), ENDS_WITHIN_S, "the worker does not end")
        except Unavailable:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            wait(lambda: not is_alive(places), ENDS_WITHIN_S, "the worker does not end")
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
