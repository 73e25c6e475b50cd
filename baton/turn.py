"""One headless turn: a process group of its own, the text on its stdin, its output streamed into a log with a cap.

The group is ended as a whole, at its time limit, when the worker ends, and after the program itself has left, and so is
what has left the group: what an agent leaves running would go on working for a turn that is over. What can't be found
any more may hold the output open for as long as it likes; nobody waits for it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

GRACE_S = 3.0
LONGEST_S = 20 * 86_400.0
"""More milliseconds than this are too many for poll(2)."""
HEAD_BYTES, READ_BYTES = 64 * 1024, 4 * 1024 * 1024
"""So much of the beginning and the end of each stream is kept in memory to be read; the log may hold less or more."""
PIPE_HOLDS = 1024 * 1024
"""The most that Linux lets a user's pipe hold: what was written before the end is read at once."""


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
        self,
        argv: Sequence[str],
        text: str | None,
        *,
        head: str = "",
        cwd: Path,
        env: Mapping[str, str],
        log: Path,
        cap_bytes: int,
        end_strays: Callable[[], None] = lambda: None,
    ) -> None:
        """`text` None: the program gets nothing on stdin. `head` stands above the output in the log, for people.
        `end_strays` ends what the turn has started and what is no longer in its group.

        Raises `OSError` when the program can't be started.
        """
        self._began_s = time.monotonic()
        self._stopped: str | None = None
        self._over = False
        self._end_strays = end_strays
        self._log = _Log(log, cap_bytes)
        self._log.write(head.encode())
        # A pump that sees the other end of this closed reads what is there already, and no more.
        self._ended, self._running = os.pipe()
        try:
            self._process = subprocess.Popen(
                list(argv), cwd=cwd, env=dict(env), start_new_session=True,
                stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError:
            os.close(self._running)
            os.close(self._ended)
            self._log.close()
            raise
        self.pid = self._process.pid
        self._out, self._err = _Ends(HEAD_BYTES, READ_BYTES), _Ends(HEAD_BYTES, READ_BYTES)
        self._threads = [
            threading.Thread(target=self._pump, args=(self._process.stdout, self._out), daemon=True),
            threading.Thread(target=self._pump, args=(self._process.stderr, self._err), daemon=True),
        ]
        if text is not None:
            feed = (self._process.stdin, text.encode("utf-8", "replace"))
            self._threads.append(threading.Thread(target=self._feed, args=feed, daemon=True))
        for thread in self._threads:
            thread.start()

    def wait(self, timeout_s: float) -> Ran:
        """Wait for its end, and end it when that takes too long."""
        if not self._ended_within(timeout_s):
            self._stopped = self._stopped or "timeout"
        self._end_group()
        self._end_strays()
        os.close(self._running)
        for thread in self._threads:
            thread.join()
        os.close(self._ended)
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

    def _ended_within(self, timeout_s: float) -> bool:
        """Without looking again and again, where the system can say so: a busy duo costs nothing while it works."""
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):
                handle = os.pidfd_open(self.pid)
                try:
                    poll = select.poll()
                    poll.register(handle, select.POLLIN)
                    return bool(poll.poll(min(timeout_s, LONGEST_S) * 1000))
                finally:
                    os.close(handle)
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _end_group(self) -> None:
        if self._process.poll() is None and self._stopped:
            self._signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_S)
        self._signal(signal.SIGKILL)
        self._process.wait()
        self._over = True

    def _signal(self, number: int) -> None:
        if self._over:  # its number may be another's by now
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _pump(self, stream: IO[bytes], ends: _Ends) -> None:
        with stream:
            os.set_blocking(stream.fileno(), False)
            while self._is_ready(stream, select.POLLIN):
                chunk = os.read(stream.fileno(), 65_536)
                if not chunk:
                    return
                ends.add(chunk)
                self._log.write(chunk)
            with contextlib.suppress(BlockingIOError):  # one read, for somebody may be writing without end
                chunk = os.read(stream.fileno(), PIPE_HOLDS)
                ends.add(chunk)
                self._log.write(chunk)

    def _feed(self, stream: IO[bytes], data: bytes) -> None:
        with stream, contextlib.suppress(BrokenPipeError):
            os.set_blocking(stream.fileno(), False)
            rest = memoryview(data)
            while rest and self._is_ready(stream, select.POLLOUT):
                rest = rest[os.write(stream.fileno(), rest) :]

    def _is_ready(self, stream: IO[bytes], event: int) -> bool:
        """Wait until the stream can be used. False: the turn has ended."""
        poll = select.poll()
        poll.register(stream, event)
        poll.register(self._ended, 0)
        return self._ended not in dict(poll.poll())


class _Ends:
    """The beginning and the end of a stream: some programs name their session first and never again."""

    def __init__(self, head: int, tail: int) -> None:
        self._most, self._limit = head, tail
        self._head, self._tail = bytearray(), bytearray()
        self._is_whole = True

    def add(self, chunk: bytes) -> None:
        first = chunk[: self._most - len(self._head)]
        self._head += first
        self._tail += chunk[len(first) :]
        if len(self._tail) > 2 * self._limit:
            del self._tail[: -self._limit]
            self._is_whole = False

    def text(self) -> str:
        """Where the middle is not kept, the whole lines of the beginning stand above the end."""
        data = self._head + self._tail
        if not self._is_whole or len(self._tail) > self._limit:
            data = self._head[: self._head.rfind(b"\n") + 1] + self._tail[-self._limit :]
        return data.decode("utf-8", "replace")


class _Log:
    """A file that never grows beyond its cap, whatever is written."""

    def __init__(self, path: Path, cap_bytes: int) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb", 0)
        self._left = cap_bytes
        self._lock = threading.Lock()
        self.truncated = False

    def write(self, chunk: bytes) -> None:
        with self._lock:
            if self.truncated or self._file.closed:
                return
            part = chunk[: self._left]
            self._left -= len(part)
            self.truncated = len(part) < len(chunk)
            with contextlib.suppress(OSError):  # a full disk costs the log, not the turn
                self._file.write(part)
                if self.truncated:
                    self._file.write(b"\n[the rest was not kept]\n")

    def close(self) -> None:
        with self._lock:
            self._file.close()
