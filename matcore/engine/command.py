"""Runs a program that may hang, flood its output, or leave children behind, within a bounded time and memory.

It is the leader of a process group of its own, which is ended as a whole. What it prints is drained and the last of it
kept. A grandchild that holds the pipe open after the program has ended is not waited for.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

KEPT_BYTES = 2000
_LOOK_S = 0.02
_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: `code` is None where its time was up. `said`: the last of its stdout and stderr."""

    code: int | None
    said: str


def run(argv: Sequence[str], stdin: bytes, timeout_s: float, cwd: Path | None = None) -> Ended:
    """Run `argv` with `stdin`, in the directory `cwd` where that is there. Raises OSError when it can't be started."""
    process = subprocess.Popen(
        list(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        cwd=cwd if cwd is not None and cwd.is_dir() else None,
    )  # fmt: skip
    with contextlib.ExitStack() as held:
        assert process.stdin is not None  # noqa: S101 - for the type checker
        assert process.stdout is not None  # noqa: S101
        held.enter_context(_quietly_closed(process.stdin))
        held.enter_context(_quietly_closed(process.stdout))
        talk = _Talk(process.stdin, process.stdout, stdin)
        held.callback(talk.selector.close)
        end = time.monotonic() + timeout_s
        while process.poll() is None and time.monotonic() < end:
            talk.turn()
        code = process.poll()
        if code is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        talk.drain()
    return Ended(code, talk.said.decode("utf-8", "replace").strip())


class _Talk:
    """Both pipes at once, so that neither side waits for the other."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes], to_say: bytes) -> None:
        self.said = b""
        self._rest = memoryview(to_say)
        self._stdin, self._stdout = stdin, stdout
        self.selector = selectors.DefaultSelector()
        for pipe, event in ((stdin, selectors.EVENT_WRITE), (stdout, selectors.EVENT_READ)):
            os.set_blocking(pipe.fileno(), False)
            self.selector.register(pipe, event)

    def turn(self) -> None:
        """Say and hear what goes without waiting, or wait a moment."""
        if not self.selector.get_map():
            time.sleep(_LOOK_S)
            return
        for key, _ in self.selector.select(_LOOK_S):
            if key.fileobj is self._stdin:
                self._say()
            elif not self._hear():
                self.selector.unregister(self._stdout)

    def drain(self) -> None:
        """Hear what is there already, however much a grandchild goes on to say."""
        for _ in range(64):
            if not self._hear():
                return

    def _say(self) -> None:
        try:
            self._rest = self._rest[os.write(self._stdin.fileno(), self._rest) :] if self._rest else self._rest
        except BlockingIOError:
            return
        except OSError:  # it does not read what it is told; its exit code says whether that matters
            self._rest = self._rest[:0]
        if not self._rest:
            self.selector.unregister(self._stdin)
            self._stdin.close()

    def _hear(self) -> bool:
        """False at the end."""
        try:
            data = os.read(self._stdout.fileno(), _CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.said = (self.said + data)[-KEPT_BYTES:]
        return bool(data)


@contextlib.contextmanager
def _quietly_closed(pipe: IO[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            pipe.close()
