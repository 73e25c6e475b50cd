"""`mat worker`: one process that serves the roles of a session. It outlives supervisors, and they find it again.

Started by the driver in the user's environment, detached; it holds the session's `serve.lock` while it lives. New post
is seen through watchfiles, and by a sweep every few seconds as well, since events get lost.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

import msgspec
import watchfiles

from baton import lock, record
from baton.mailbox import Mailbox
from baton.record import Job
from baton.seat import Seat
from matcore.places import SessionPlaces

log = logging.getLogger("mat.worker")
STEP_MS = 10
_ENDS_WITHIN_S = 10.0


def serve(root: Path) -> int:
    """Serve until SIGTERM. Returns the exit code: 0, or 3 when somebody else serves this session."""
    places = SessionPlaces(root)
    job = msgspec.json.decode(record.job_path(places).read_bytes(), type=Job)
    held = lock.take(record.lock_path(places))
    if held is None:
        log.info("%s is served already", job.session)
        return 3
    record.turns_path(places).mkdir(mode=0o700, exist_ok=True)
    for role in job.roles:
        Mailbox(places, role).make()
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    seats = {role: Seat(places, job, role) for role in job.roles}
    for seat in seats.values():
        seat.start()
    _watch(seats, stop)
    for seat in seats.values():
        seat.close()
    for seat in seats.values():
        seat.join(_ENDS_WITHIN_S)
    os.close(held)
    return 0


def _watch(seats: dict[str, Seat], stop: threading.Event) -> None:
    """Wake each role whose mailbox has changed. A watcher that fails leaves the sweep, which needs none."""
    folders = [seat.mailbox.inbox / "pending" for seat in seats.values()]
    folders += [seat.mailbox.root for seat in seats.values()]
    while not stop.is_set():
        with contextlib.suppress(OSError, RuntimeError):
            for changes in watchfiles.watch(
                *folders, step=STEP_MS, debounce=STEP_MS, stop_event=stop, recursive=False, rust_timeout=2000,
                yield_on_timeout=True, watch_filter=None,
            ):  # fmt: skip
                paths = {path for _, path in changes}
                for seat in seats.values():
                    if any(Path(path).is_relative_to(seat.mailbox.root) for path in paths) or not paths:
                        seat.wake()
        stop.wait(1.0)


def main(argv: list[str] | None = None) -> int:
    """`python -m baton.worker ROOT`."""
    words = sys.argv[1:] if argv is None else argv
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    return serve(Path(words[0]))


if __name__ == "__main__":
    sys.exit(main())
