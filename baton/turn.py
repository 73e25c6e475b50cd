"""One headless turn: a process group of its own, the text on its stdin, its output streamed into a log with a cap.

The group is ended as a whole, at its time limit, when the worker ends, and after the program itself has left: what an
agent leaves running in it would go on working for a turn that is over.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

GRACE_S = 3.0
READ_BYTES = 4 * 1024 * 1024
"""So much of the end of each stream is kept in memory to be read; the log may hold less or more."""


@dataclass(frozen=True, slots=True)
class Ran:
    """`exit_code` None: we ended it. `why` says what for: `timeout`, `stopped`."""

    exit_code: int | None
    stdout: str
    stderr: str
    duration_s: float
    why: str | None = None
    truncated: bool = False


class Turn:
    """Start it, `wait` for it; `stop` from any thread."""

    def __init__(
        self, argv: Sequence[str], text: str, *, cwd: Path, env: Mapping[str, str], log: Path, cap_bytes: int
    ) -> None:
        """Raises `OSError` when the program can't be started."""
        self._began_s = time.monotonic()
        self._stopped: str | None = None
        self._log = _Log(log, cap_bytes)
        try:
            self._process = subprocess.Popen(
                list(argv), cwd=cwd, env=dict(env), start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError:
            self._log.close()
            raise
        self.pid = self._process.pid
        self._out, self._err = _Tail(READ_BYTES), _Tail(READ_BYTES)
        self._threads = [
            threading.Thread(target=work, args=(stream, with_), daemon=True)
            for work, stream, with_ in (
                (self._pump, self._process.stdout, self._out),
                (self._pump, self._process.stderr, self._err),
                (self._feed, self._process.stdin, text.encode()),
            )
        ]
        for thread in self._threads:
            thread.start()

    def wait(self, timeout_s: float) -> Ran:
        """Wait for its end, and end it when that takes too long."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._stopped = self._stopped or "timeout"
        self._end_group()
        for thread in self._threads:
            thread.join(GRACE_S)
        self._log.close()
        why = self._stopped
        code = None if why else self._process.returncode
        duration_s = time.monotonic() - self._began_s
        return Ran(code, self._out.text(), self._err.text(), duration_s, why, self._log.truncated)

    def stop(self) -> None:
        """End it; `wait` returns soon."""
        self._stopped = self._stopped or "stopped"
        self._signal(signal.SIGTERM)
        killer = threading.Timer(GRACE_S, lambda: self._signal(signal.SIGKILL))
        killer.daemon = True
        killer.start()

    def _end_group(self) -> None:
        if self._process.poll() is None:
            self._signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_S)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _pump(self, stream: IO[bytes], tail: _Tail) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), 65_536):
                tail.add(chunk)
                self._log.write(chunk)

    def _feed(self, stream: IO[bytes], data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError), stream:
            stream.write(data)


class _Tail:
    """The end of a stream."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()

    def add(self, chunk: bytes) -> None:
        self._data += chunk
        if len(self._data) > 2 * self._limit:
            del self._data[: -self._limit]

    def text(self) -> str:
        return bytes(self._data[-self._limit :]).decode("utf-8", "replace")


class _Log:
    """A file that never grows beyond its cap, whatever is written."""

    def __init__(self, path: Path, cap_bytes: int) -> None:
        self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb", 0)
        self._left = cap_bytes
        self._lock = threading.Lock()
        self.truncated = False

    def write(self, chunk: bytes) -> None:
        with self._lock:
            if self._left <= 0:
                self.truncated = True
                return
            part = chunk[: self._left]
            self._left -= len(part)
            with contextlib.suppress(OSError):  # a full disk costs the log, not the turn
                self._file.write(part)
            if self._left <= 0:
                self.truncated = True
                with contextlib.suppress(OSError):
                    self._file.write(b"\n[the rest was not kept]\n")

    def close(self) -> None:
        self._file.close()
