"""Hook commands: told of an event by JSON on stdin, in order, one at a time, each for 5 s at most, beside the UI."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import signal
import subprocess
import threading
from collections.abc import Mapping

from matcore.scripted.log import Log
from matcore.scripted.script import EVENTS

LONGEST_S = 5.0


def commands(of_script: Mapping[str, tuple[str, ...]], template: str | None) -> dict[str, list[tuple[str, ...]]]:
    """For each event its commands: that of the script, and the template of this launch. Raises ValueError."""
    found = {event: [argv] for event, argv in of_script.items()}
    words = shlex.split(template) if template else []
    if words:
        for event in EVENTS:
            found.setdefault(event, []).append(tuple(word.replace("{event}", event) for word in words))
    return found


class Hooks:
    """`fire` returns at once; `close` waits for what was fired, within a bound, and leaves no process."""

    def __init__(self, by_event: Mapping[str, list[tuple[str, ...]]], log: Log) -> None:
        self._by_event = by_event
        self._log = log
        self._waiting: queue.Queue[tuple[str, tuple[str, ...], bytes] | None] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._running: subprocess.Popen[bytes] | None = None
        self._over = False

    def fire(self, event: str, facts: Mapping[str, object]) -> None:
        data = json.dumps({"event": event, **facts}).encode()
        for argv in self._by_event.get(event, ()):
            self._waiting.put((event, argv, data))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True, name="hooks")
                self._thread.start()

    def close(self, patience_s: float) -> None:
        """After that time what still runs is killed and what still waits is dropped."""
        if self._thread is None:
            return
        self._waiting.put(None)
        self._thread.join(patience_s)
        self._over = True
        self._kill()
        self._thread.join(1.0)

    def _work(self) -> None:
        while (item := self._waiting.get()) is not None and not self._over:
            event, argv, data = item
            self._log.write("hook", event=event, argv=list(argv), **self._run(argv, data))

    def _run(self, argv: tuple[str, ...], data: bytes) -> dict[str, object]:
        try:
            self._running = process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            return {"exit": None, "error": str(error)}
        if self._over:  # `close` may have looked for something to kill just before
            self._kill()
        try:
            _, said = process.communicate(data, LONGEST_S)
        except subprocess.TimeoutExpired:
            self._kill()
            process.wait()
            for pipe in (process.stdin, process.stderr):  # something that got away may still hold the other end
                if pipe is not None:
                    pipe.close()
            return {"exit": None, "error": f"took longer than {LONGEST_S:g} s"}
        return {"exit": process.returncode, "error": said.decode("utf-8", "replace").strip() or None}

    def _kill(self) -> None:
        process = self._running
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
