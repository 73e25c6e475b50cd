"""Says when something lies in a spool: at once by the file system's events, and by looking every other second.

Events get lost (a full queue, a folder that was removed and made again, a limit of the host), so both are needed. A
change of the set of folders starts the watch anew, which is followed by a look; so does a folder that is another one
than was watched. Where the host gives no watch at all, looking goes on, more often.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from watchfiles import watch

Identity = tuple[int, int]
"""Device and inode: another one is another folder, however it is called."""

log = logging.getLogger("mat.spools")

SWEEP_S = 2.0
SWEEP_WITHOUT_EVENTS_S = 0.5
STEP_MS = 10
"""A tenth of the default's latency for a fifth of a CPU second a minute."""


class Watcher:
    """A thread that calls `on_change(folder)` when `folder/new` has something in it, or is gone.

    `on_change` is called on that thread, must not raise and should do no more than enqueue. `on_fault(sentence)` is
    called when the host refuses to watch, once until it works again.
    """

    def __init__(self, on_change: Callable[[Path], None], on_fault: Callable[[str], None] = log.error) -> None:
        self._on_change = on_change
        self._on_fault = on_fault
        self._folders: set[Path] = set()
        self._lock = threading.Lock()
        self._again = threading.Event()
        self._stopping = threading.Event()
        self._fault = ""
        self._thread = threading.Thread(target=self._run, name="mat-spools", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when the thread has ended. Harmless before `start`, and when called again."""
        self._stopping.set()
        self._again.set()
        if self._thread.is_alive():
            self._thread.join()

    def add(self, folder: Path) -> None:
        """Watch one more spool. What lies in it already is said, too."""
        with self._lock:
            self._folders.add(folder)
        self._again.set()

    def remove(self, folder: Path) -> None:
        """Watch it no longer."""
        with self._lock:
            self._folders.discard(folder)
        self._again.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._again.clear()
            with self._lock:
                folders = sorted(self._folders)
            watched = {folder: _identity(folder) for folder in folders}
            try:
                self._watch(watched)
            except (OSError, RuntimeError) as error:  # what watchfiles raises: too many watches, a folder just gone
                self._watch_failed(error, watched)

    def _watch(self, watched: dict[Path, Identity | None]) -> None:
        """Until the set of folders, or one of the folders, is another one."""
        by_name = {str(folder / "new"): folder for folder, identity in watched.items() if identity is not None}
        self._sweep(watched)
        if not by_name:
            self._again.wait(SWEEP_S)
            return
        next_sweep = time.monotonic() + SWEEP_S
        for changes in watch(
            *by_name,
            step=STEP_MS,
            rust_timeout=int(SWEEP_S * 1000),
            yield_on_timeout=True,
            stop_event=self._again,
            watch_filter=None,
            recursive=False,
            raise_interrupt=False,
        ):
            self._fault = ""
            for folder in {by_name[place] for _, name in changes for place in _here_or_above(name) if place in by_name}:
                self._on_change(folder)
            if time.monotonic() >= next_sweep:
                next_sweep = time.monotonic() + SWEEP_S
                if not self._sweep(watched):
                    return

    def _watch_failed(self, error: Exception, watched: dict[Path, Identity | None]) -> None:
        if all(_identity(folder) == identity for folder, identity in watched.items()) and not self._fault:
            self._fault = str(error)
            self._on_fault(
                f"the spools can't be watched, so they are looked at every {SWEEP_WITHOUT_EVENTS_S:g} s: {error}"
            )
        self._sweep(watched)
        self._again.wait(SWEEP_WITHOUT_EVENTS_S)

    def _sweep(self, watched: dict[Path, Identity | None]) -> bool:
        """Say what events did not. False where a folder is not the one that is watched."""
        same = True
        for folder, identity in watched.items():
            if _identity(folder) != identity:
                same = False
            if _has_something(folder):
                self._on_change(folder)
        return same


def _here_or_above(name: str) -> tuple[str, str]:
    return name, name.rpartition("/")[0]


def _identity(folder: Path) -> Identity | None:
    try:
        about = os.lstat(_new(folder))
    except OSError:
        return None
    return about.st_dev, about.st_ino


def _has_something(folder: Path) -> bool:
    """Or is gone, or can't be read: the reader sees to that."""
    try:
        with os.scandir(_new(folder)) as found:
            return next(found, None) is not None
    except OSError:
        return True


def _new(folder: Path) -> str:
    """As `folder / "new"`, which would be the greater part of a sweep over hundreds of spools."""
    return os.path.join(folder, "new")  # noqa: PTH118
