"""One thread for each seat: texts go into an agent one after the other, and a slow one delays nobody else."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

Work = Callable[[], None]


class Lane:
    """Runs what is handed to it in order, on a thread of its own that starts with the first piece of work.

    The work reports its outcome itself, and lets nothing escape (`effects` sees to that).
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def submit(self, work: Work) -> None:
        """Run `work` after all that was submitted before it. Returns at once."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"lane {self._name}", daemon=True)
            self._thread.start()
        self._work.put(work)

    def close(self) -> None:
        """Let the thread end after the work that it has. Does not wait for it: a hanging effect holds nobody up."""
        if self._thread is not None:
            self._work.put(None)
            self._thread = None

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()
