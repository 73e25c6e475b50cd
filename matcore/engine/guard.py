"""The guard: starts the supervisor, starts it again when it ends wrongly or hangs, and tells the human after three
failures in ten minutes. It does nothing else, so that little in it could fail; systemd can take its place.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import IO

from matcore import said_here
from matcore.engine import heartbeat
from matcore.engine.clock import SystemClock
from matcore.errors import Unavailable
from matcore.places import StatePlaces, state_dir

log = logging.getLogger("mat.guard")
BACK_OFF_S = (0.2, 1.0, 5.0, 15.0, 60.0)
TOO_MANY, WITHIN_S = 3, 600.0
HANGS_AFTER_S = 90.0
LOOK_S = 1.0
LOG_BYTES = 8 * 1024 * 1024


class Guard:
    """Runs until the supervisor has ended well, or the guard itself is told to end (which ends the supervisor)."""

    def __init__(self, places: StatePlaces, *, hangs_after_s: float = HANGS_AFTER_S) -> None:
        self._places = places
        self._hangs_after_s = hangs_after_s
        self._last_beat: tuple[int, int] = (0, 0)
        self._since_s = self._looked_s = float("-inf")
        self._clock = SystemClock()
        self._failures: deque[float] = deque()
        self._told = False
        self._stopping = False
        self._signals, self._signalled = os.pipe()

    def run(self) -> int:
        """In the main thread. Returns once the supervisor has ended well, or it and we were told to."""
        os.set_blocking(self._signals, False)
        os.set_blocking(self._signalled, False)
        signal.set_wakeup_fd(self._signalled, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only one with a handler wakes us
        while not self._stopping:
            code = self._watch()
            if code == 0 or self._stopping:
                return 0
            self._failed(code)
        return 0

    def _watch(self) -> int:
        """Wait for the end of one supervisor, the living one or else a new one. Returns its exit code."""
        if heartbeat.alive(self._places):
            return self._watch_another()
        child = self._started()
        while (code := self._wait(LOOK_S, child)) is None:
            if self._stopping:
                child.terminate()
                return child.wait()
            if self._hangs(child.pid):
                log.error("the supervisor (pid %d) has had no heartbeat for too long; killing it", child.pid)
                child.kill()
        return code

    def _wait(self, seconds: float, child: subprocess.Popen[bytes] | None = None) -> int | None:
        """Until that time has passed, we are told to end, or `child` has ended: its exit code then.

        A signal ends the wait; `Popen.wait` with a timeout would look 20 times a second, for months.
        """
        until_s = time.monotonic() + seconds
        while True:
            code = child.poll() if child is not None else None
            left_s = until_s - time.monotonic()
            if code is not None or self._stopping or left_s <= 0:
                return code
            select.select([self._signals], [], [], left_s)
            with contextlib.suppress(BlockingIOError):
                os.read(self._signals, 4096)

    def _started(self) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "matcore.cli.main", "supervise", "--until-idle"]
        with _log_file(self._places) as out:
            return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def _watch_another(self) -> int:
        """A supervisor that lives already (the guard before us is gone). Its exit code can't be had: its last
        heartbeat says whether it ended well."""
        while heartbeat.alive(self._places):
            beat = heartbeat.read(self._places)
            self._wait(LOOK_S)
            if self._stopping:
                if beat is not None:
                    _signal(beat.pid, signal.SIGTERM)
                return 0
            if beat is not None and self._hangs(beat.pid):
                log.error("the supervisor (pid %d) has had no heartbeat for too long; killing it", beat.pid)
                _signal(beat.pid, signal.SIGKILL)
        last = heartbeat.read(self._places)
        return 0 if last is not None and last.ended else 1

    def _hangs(self, pid: int) -> bool:
        """Whether its heartbeat has stood still for too long while we were awake: a suspended machine is no hang, and
        where nobody can write, a heartbeat says nothing. One of another process is none of this one's yet."""
        touched = heartbeat.touched_ns(self._places)
        now = self._clock.mono_s()
        if (pid, touched) != self._last_beat or now - self._looked_s > 5 * LOOK_S or not self._has_beaten(pid):
            self._last_beat, self._since_s = (pid, touched), now
        self._looked_s = now
        return now - self._since_s > self._hangs_after_s and os.access(self._places.root, os.W_OK)

    def _has_beaten(self, pid: int) -> bool:
        beat = heartbeat.read(self._places)
        return beat is not None and beat.pid == pid

    def _failed(self, code: int) -> None:
        now = self._clock.boot_s()
        self._failures.append(now)
        while self._failures and now - self._failures[0] > WITHIN_S:
            self._failures.popleft()
        log.error("the supervisor ended with %d (%d times in %d min)", code, len(self._failures), WITHIN_S // 60)
        if len(self._failures) < TOO_MANY:
            self._told = False
        elif not self._told:
            self._told = True
            self._tell(code)
        self._wait(BACK_OFF_S[min(len(self._failures), len(BACK_OFF_S)) - 1])

    def _tell(self, code: int) -> None:
        from matcore.engine.notify import channels, tell_now  # in here: for months there is nothing to tell
        from matcore.words.notices import notice

        text = notice("guard", failures=TOO_MANY, log=str(self._places.log), reason=f"exit code {code}")
        told = tell_now(channels(configured(self._places)), text)
        log.error("told the human: %s", told.said)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True


def configured(places: StatePlaces) -> list[object]:
    """The channels of all sessions, as the supervisor last wrote them down for the guard."""
    try:
        found = json.loads(places.channels.read_bytes())
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def main() -> int:
    """`python -m matcore.engine.guard`: what `mat up` starts."""
    places = StatePlaces(state_dir())
    places.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    try:
        heartbeat.take_lock(places.guard_lock, "guard")
    except Unavailable as e:
        log.info("%s", e)
        return 0
    return Guard(places).run()


def spawn(places: StatePlaces) -> subprocess.Popen[bytes]:
    """Start a guard that outlives us, also where an agent starts it. A second one ends at once."""
    env = {name: value for name, value in os.environ.items() if name not in said_here.VARIABLES}
    with _log_file(places) as out:
        return subprocess.Popen(
            [sys.executable, "-m", "matcore.engine.guard"],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, cwd="/", env=env,
        )  # fmt: skip


def start(places: StatePlaces, *, patience_s: float = 10.0) -> None:
    """Start guard and supervisor when none is alive, and wait for a living supervisor. Raises `Unavailable`."""
    places.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    until = time.monotonic() + patience_s
    guard: subprocess.Popen[bytes] | None = None
    while not heartbeat.alive(places):
        if not heartbeat.guarded(places) and (guard is None or guard.poll() is not None):
            guard = spawn(places)
        if time.monotonic() > until:
            raise Unavailable(f"the supervisor did not start within {patience_s:g} s; see {places.log}")
        time.sleep(0.05)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


@contextlib.contextmanager
def _log_file(places: StatePlaces) -> Iterator[IO[bytes]]:
    """The log, the former one put aside where it has grown large. Where it can't be written nothing is."""
    with contextlib.suppress(OSError):
        if places.log.stat().st_size > LOG_BYTES:
            places.log.rename(places.log.with_name(f"{places.log.name}.1"))
    try:
        out = places.log.open("ab")
    except OSError:
        out = Path(os.devnull).open("ab")  # noqa: SIM115 - closed below
    with out:
        yield out


if __name__ == "__main__":
    sys.exit(main())
