"""Keeps the environment of `mat up`: the small process that starts the session's worker, and starts it again.

A worker runs its turns in the environment that it was started with, which must be the user's: keys, proxies, language.
It is written down nowhere (no secret may be), so it is lost with the last process that has it, and the supervisor has
another. So `mat up` starts this process, which starts the worker, and one more whenever the driver asks for it. It
decides nothing: how often a worker may die is the driver's affair.

`keeper.lock` is held for its lifetime. It says the process's number, how many workers it has started, and the number of
the one that runs or 0. SIGUSR1: start a worker when none runs. SIGTERM: end it, and end.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from baton import lock

AGAIN = signal.SIGUSR1
ASKED_FOR_S = 15.0
"""So long an order holds that came while a worker was about to end."""
WAITS_S = 15.0
"""So long a folder that was cleaned away may take to be there again."""
LOOK_S = 0.5
ENDS_WITHIN_S = 12.0
KEPT_ALREADY = 3
_NOT_BEGUN = (1, 2, 3)
"""Exit codes of a worker that could not begin: Python's own, and that of nothing to serve."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a keeper says of itself. `worker` is 0 while none runs."""

    pid: int
    starts: int
    worker: int


def lock_path(root: Path) -> Path:
    return root / "keeper.lock"


def look(root: Path) -> Kept | None:
    """The living keeper of a session's folder; None where there is none."""
    if not lock.is_held(lock_path(root)):
        return None
    try:
        pid, starts, worker = (int(word) for word in lock_path(root).read_text(encoding="ascii").split())
    except (OSError, ValueError):  # it is just writing it down
        return None
    return Kept(pid, starts, worker)


class Keeper:
    """`handle` is its lock's. `signals`: from where the numbers of arriving signals can be read."""

    def __init__(self, root: Path, handle: int, signals: int) -> None:
        self._root = root
        self._handle = handle
        self._signals = signals
        self._starts = 0
        self._worker: subprocess.Popen[bytes] | None = None
        self._asked_s = float("-inf")
        self._missed_s: float | None = None

    def run(self, *, idle: bool) -> int:
        """Until it is ended, or its folder is gone. Returns the exit code: that of a first worker that never served.

        `idle`: a worker is there already, so none is started before one is asked for.
        """
        if idle:
            self._write()
        else:
            self._start()
        while True:
            code = self._buried()
            if code is not None:
                return code
            if self._worker is None and time.monotonic() - self._asked_s < ASKED_FOR_S:
                self._start()
            if self._worker is None and not self._is_wanted():
                return 0
            for number in self._arrived(LOOK_S if self._worker is None else None):
                if number in (signal.SIGTERM, signal.SIGINT):
                    return self._end()
                if number == AGAIN:
                    self._asked_s = time.monotonic()

    def _start(self) -> None:
        self._asked_s = float("-inf")
        self._starts += 1
        argv = [sys.executable, "-m", "baton.worker", str(self._root)]
        self._worker = subprocess.Popen(argv, stdin=subprocess.DEVNULL, cwd="/")
        self._write()

    def _buried(self) -> int | None:
        """The exit code of a first worker that never came to serve. Others that have ended are only written down."""
        worker = self._worker
        if worker is None or worker.poll() is None:
            return None
        self._worker = None
        self._write()
        began = self._starts > 1 or worker.returncode not in _NOT_BEGUN or self._has_served(worker.pid)
        return None if began else worker.returncode

    def _has_served(self, worker: int) -> bool:
        """Whether it came as far as to write itself down when it took its lock."""
        try:
            return (self._root / "serve.lock").read_text(encoding="ascii").strip() == str(worker)
        except OSError:
            return False

    def _is_wanted(self) -> bool:
        """Whether it is still this folder's keeper. One that was cleaned away and is there again is taken anew."""
        if lock.is_the_one(self._handle, lock_path(self._root)):
            self._missed_s = None
            return True
        now_s = time.monotonic()
        self._missed_s = now_s if self._missed_s is None else self._missed_s
        if not self._root.is_dir():
            return now_s - self._missed_s < WAITS_S
        handle = lock.take(lock_path(self._root))
        if handle is None:
            return False
        os.close(self._handle)
        self._handle = handle
        self._write()
        return True

    def _write(self) -> None:
        worker = self._worker.pid if self._worker is not None else 0
        data = f"{os.getpid()} {self._starts} {worker}".encode().ljust(64) + b"\n"
        os.pwrite(self._handle, data, 0)  # always of one length, so that no reader sees half of another

    def _arrived(self, timeout_s: float | None) -> Iterator[int]:
        if select.select([self._signals], [], [], timeout_s)[0]:
            yield from os.read(self._signals, 4096)

    def _end(self) -> int:
        worker = self._worker
        if worker is not None and worker.poll() is None:
            worker.terminate()
            try:
                worker.wait(ENDS_WITHIN_S)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        return 0


def main(argv: list[str] | None = None) -> int:
    """`python -m baton.keeper ROOT [--idle]`."""
    words = sys.argv[1:] if argv is None else argv
    root = Path(words[0])
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, AGAIN):
        signal.signal(number, lambda _number, _frame: None)
    handle = lock.take(lock_path(root))  # only now: whoever finds it may send a signal
    if handle is None:
        return KEPT_ALREADY
    return Keeper(root, handle, reading).run(idle="--idle" in words)


if __name__ == "__main__":
    sys.exit(main())
