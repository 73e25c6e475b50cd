"""The guard: starts the supervisor, starts it again when it ends wrongly or hangs, and tells the human after three
failures in ten minutes. It does nothing else, so that there is little in it that could fail; systemd can take its place.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from types import FrameType

import msgspec

from matcore.engine import heartbeat
from matcore.engine.clock import SystemClock
from matcore.engine.notify import channels, tell_now
from matcore.errors import Unavailable
from matcore.places import StatePlaces, state_dir
from matcore.words.notices import notice

log = logging.getLogger("mat.guard")
BACK_OFF_S = (0.2, 1.0, 5.0, 15.0, 60.0)
TOO_MANY, WITHIN_S = 3, 600.0
HANGS_AFTER_S = 90.0
_LOOK_S = 1.0


class Guard:
    """Runs until the supervisor has ended well, or the guard itself is told to end (which ends the supervisor)."""

    def __init__(self, places: StatePlaces) -> None:
        self._places = places
        self._clock = SystemClock()
        self._failures: deque[float] = deque()
        self._told = False
        self._stop = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)
        while not self._stop.is_set():
            code = self._watch()
            if code == 0 or self._stop.is_set():
                return 0
            self._failed(code)
        return 0

    def _watch(self) -> int:
        """Start one supervisor and wait for its end. Returns its exit code."""
        with self._places.log.open("ab") as out:
            argv = [sys.executable, "-m", "matcore.cli.main", "supervise", "--until-idle"]
            self._child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._child.wait(_LOOK_S)
            if self._stop.is_set():
                self._child.terminate()
            elif self._hangs():
                log.error("the supervisor (pid %d) has no heartbeat; it is ended", self._child.pid)
                self._child.kill()

    def _hangs(self) -> bool:
        beat = heartbeat.read(self._places)
        if beat is None or self._child is None or beat.pid != self._child.pid:
            return False
        return self._clock.boot_s() - beat.boot_s > HANGS_AFTER_S

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
        self._stop.wait(BACK_OFF_S[min(len(self._failures), len(BACK_OFF_S)) - 1])

    def _tell(self, code: int) -> None:
        text = notice("guard", failures=TOO_MANY, log=str(self._places.log), reason=f"exit code {code}")
        told = tell_now(channels(configured(self._places)), text)
        log.error("told the human: %s", told)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._stop.set()


def configured(places: StatePlaces) -> list[object]:
    """The channels of all sessions, as the supervisor last wrote them down for the guard."""
    try:
        found: list[object] = msgspec.json.decode(places.channels.read_bytes(), type=list)
    except (OSError, msgspec.MsgspecError):
        return []
    return found


def main() -> int:
    """`python -m matcore.engine.guard`: what `mat up` starts."""
    places = StatePlaces(state_dir())
    places.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    logging.basicConfig(
        filename=places.log, level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s"
    )
    try:
        heartbeat.take_lock(places.guard_lock, "guard")
    except Unavailable as e:
        log.info("%s", e)
        return 0
    return Guard(places).run()


def start(places: StatePlaces, *, patience_s: float = 10.0) -> None:
    """Start guard and supervisor when none is alive, and wait for a living supervisor. Raises `Unavailable`."""
    places.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    until = time.monotonic() + patience_s
    guard: subprocess.Popen[bytes] | None = None
    while not heartbeat.alive(places):
        if not heartbeat.guarded(places) and (guard is None or guard.poll() is not None):
            with places.log.open("ab") as out:
                guard = subprocess.Popen(
                    [sys.executable, "-m", "matcore.engine.guard"],
                    stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, cwd="/",
                )  # fmt: skip
        if time.monotonic() > until:
            raise Unavailable(f"the supervisor did not start within {patience_s:g} s; see {places.log}")
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
