"""The log of all that happened to the program: one JSON object a line, written at once, for tests to judge by.

Every object has `at` (wall clock), `boot_s` (CLOCK_BOOTTIME), `pid`, `role` and `what`; docs/scripted-agent.md lists
the kinds. Several programs may share one file: a line is one write to a file opened for appending.
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path


class Log:
    """Writes nothing without a path."""

    def __init__(self, path: Path | None, role: str) -> None:
        """Raises OSError when the file can't be opened."""
        self._role = role
        self._lock = threading.Lock()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._file = None if path is None else os.open(path, flags, 0o600)

    def write(self, what: str, **facts: object) -> None:
        """One line; `facts` beside what every line has."""
        if self._file is None:
            return
        record = {"at": time.time(), "boot_s": boot_s(), "pid": os.getpid(), "role": self._role, "what": what, **facts}
        line = (json.dumps(record, ensure_ascii=True) + "\n").encode()
        with self._lock:
            while line:
                line = line[os.write(self._file, line) :]

    def received(self, data: bytes) -> None:
        """`text` is the bytes as UTF-8, others as `\\xff`."""
        self.write("bytes", count=len(data), text=data.decode("utf-8", "backslashreplace"))


def boot_s() -> float:
    """Seconds since boot, sleep included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
