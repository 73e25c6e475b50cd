"""Signals, heard between two steps of a loop, so that nothing that was just started can be lost."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType

ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Told(Exception):
    """A signal that ends the program."""


class Signals:
    """`ending` is the signal that ends the program, once there was one. None is ignored: commands would inherit it."""

    def __init__(self) -> None:
        self.ending: signal.Signals | None = None
        self.at_once = False  # True while something runs that may never return by itself
        self._wake, waker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        for number in (signal.SIGWINCH, signal.SIGCHLD, *ENDING):
            signal.signal(number, self._heard)

    def wait(self, fds: list[int], seconds: float | None) -> list[int]:
        """Which of `fds` can be read; none after that time or a signal."""
        ready, _, _ = select.select([self._wake, *fds], [], [], seconds)
        if self._wake in ready:
            ready.remove(self._wake)
            os.read(self._wake, 512)
        return ready

    def check(self) -> None:
        """Raises Told."""
        if self.ending is not None:
            raise Told

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        if number in ENDING:
            self.ending = signal.Signals(number)
            if self.at_once:
                raise Told
