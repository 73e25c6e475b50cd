"""The worker: one process that serves the roles of a session. It outlives supervisors, and they find it again.

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
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import msgspec
import watchfiles

from baton import lock, record
from baton.mailbox import Mailbox
from baton.record import Job
from baton.seat import Seat
from matcore.errors import OurMistake, Unavailable
from matcore.places import SessionPlaces

log = logging.getLogger("mat.worker")
STEP_MS = 10
SWEEP_MS = 2000
AGAIN_S = 1.0
SAID_AGAIN_S = 3600.0
_ENDS_WITHIN_S = 10.0


class _OnceAnHour(logging.Filter):
    """A fault that goes on is said once an hour: the log of a worker that lives for weeks has no other end."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        said, now_s = record.getMessage(), record.created
        self._said = {line: at_s for line, at_s in self._said.items() if at_s <= now_s < at_s + SAID_AGAIN_S}
        is_new = said not in self._said
        self._said.setdefault(said, now_s)
        return is_new


def serve(root: Path) -> int:
    """Serve until SIGTERM, or until another worker could serve this session as well.

    Returns the exit code: 0; 70 when a role could not be served any more. Raises `Unavailable` where there is nothing
    to serve, or somebody else serves it.
    """
    places = SessionPlaces(root)
    try:
        job = msgspec.json.decode(record.job_path(places).read_bytes(), type=Job)
    except (OSError, msgspec.MsgspecError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Unavailable(f"{record.job_path(places)} can't be read: {why}; `mat up` writes it anew") from error
    held = lock.take(record.lock_path(places))
    if held is None:
        raise Unavailable(f"{job.session} is served already; what its worker does: mat log {job.session} -f")
    stop, fault = threading.Event(), threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    def on_fault() -> None:
        fault.set()
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    try:
        _serve(places, job, held, stop, on_fault)
    finally:
        os.close(held)
    return OurMistake.exit_code if fault.is_set() else 0


def _serve(places: SessionPlaces, job: Job, held: int, stop: threading.Event, on_fault: Callable[[], None]) -> None:
    record.turns_path(places).mkdir(mode=0o700, exist_ok=True)
    for role in job.roles:
        Mailbox(places, role).make()
    seats = [Seat(places, job, role, on_fault) for role in job.roles]
    for seat in seats:
        seat.start()
    while not stop.is_set() and lock.is_the_one(held, record.lock_path(places)):
        _watch(places, seats, stop, held)
    for seat in seats:
        seat.close()
    for seat in seats:
        seat.join(_ENDS_WITHIN_S)


def _watch(places: SessionPlaces, seats: list[Seat], stop: threading.Event, held: int) -> None:
    """Wake each role whose mailbox has changed. A watch that fails leaves the seats' own sweep, which needs none."""
    roots = {str(seat.mailbox.root): seat for seat in seats}
    folders = {str(seat.mailbox.inbox / "pending"): seat for seat in seats} | roots
    try:
        for changes in watchfiles.watch(
            *folders, step=STEP_MS, debounce=STEP_MS, stop_event=stop, recursive=False, rust_timeout=SWEEP_MS,
            yield_on_timeout=True, watch_filter=None, raise_interrupt=False,
        ):  # fmt: skip
            told = {
                folders[place] for _, path in changes for place in (path, str(Path(path).parent)) if place in folders
            }
            for seat in told if changes else seats:
                seat.wake()
            if not changes and not lock.is_the_one(held, record.lock_path(places)):
                return
    except (OSError, RuntimeError) as error:
        log.warning("the mailboxes can't be watched: %s", error)
        for seat in seats:
            with contextlib.suppress(OSError):
                seat.mailbox.make()
        stop.wait(AGAIN_S)


def main(argv: list[str] | None = None) -> int:
    """`python -m baton.worker ROOT`."""
    words = sys.argv[1:] if argv is None else argv
    handler = logging.StreamHandler()
    handler.addFilter(_OnceAnHour())
    form = "%(asctime)s %(name)s %(levelname)s %(message)s"
    logging.basicConfig(level=logging.INFO, format=form, handlers=[handler])
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    try:
        return serve(Path(words[0]))
    except Unavailable as error:
        log.error("%s", error)  # noqa: TRY400 - a sentence for people
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
