"""The tty: raw while we use it, put back in good order when we leave it so."""

from __future__ import annotations

import contextlib
import os
import termios
import tty
from typing import Any

from matcore.scripted.signals import Signals


class Closed(Exception):
    """The terminal is gone."""


class Terminal:
    """Reads from and writes to two descriptors of one tty. `size` is columns and rows, at least 1."""

    def __init__(self, signals: Signals, source: int = 0, sink: int = 1) -> None:
        self.signals = signals
        self.source = source
        self._sink = sink
        self._before: list[Any] | None = None

    def open(self) -> None:
        """Raises termios.error where it is no terminal."""
        self._before = termios.tcgetattr(self.source)
        tty.setraw(self.source, termios.TCSANOW)

    def close(self) -> None:
        if self._before is not None:
            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self.source, termios.TCSANOW, self._before)

    @property
    def size(self) -> tuple[int, int]:
        try:
            columns, rows = os.get_terminal_size(self._sink)
        except OSError:
            return 80, 24
        return max(columns, 1), max(rows, 1)

    def read(self) -> bytes:
        """What is there. Raises Closed."""
        try:
            data = os.read(self.source, 65536)
        except OSError as error:
            raise Closed from error
        if not data:
            raise Closed
        return data

    def write(self, text: str) -> None:
        """Raises Closed, and Told for a signal meanwhile."""
        data = text.encode("utf-8", "replace")
        self.signals.at_once = True  # a write to a terminal that nobody reads may take for ever
        try:
            while data:
                data = data[os.write(self._sink, data) :]
        except OSError as error:
            raise Closed from error
        finally:
            self.signals.at_once = False
