"""What a test run left behind: processes, and a tmux server on the default socket.

A process belongs to a run if it descends from this process, or carries the run's mark in its environment, or works in,
or was started with, a folder of the run. So those are found too that changed their parent (tmux servers, guards,
workers) or were started with an empty environment.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

MARK = "MAT_TEST_RUN"

# Helpers of Python's own that end with the process that they serve.
_PYTHONS_OWN = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")


def of_run(mark: str, folders: Iterable[Path], *, children: bool = True) -> list[psutil.Process]:
    """The living processes that a run started, other than this process and those above it.

    Without `children`, only those that carry a trace of the run.
    """
    this = psutil.Process()
    spared = {process.pid for process in (this, *this.parents())}
    below = {process.pid for process in this.children(recursive=True)} if children else set()
    places = tuple(str(folder) for folder in folders)
    return [
        process
        for process in psutil.process_iter()
        if process.pid not in spared and _alive(process) and (process.pid in below or _belongs(process, mark, places))
    ]


def after_grace(mark: str, folders: Iterable[Path], grace_s: float = 5.0, *, children: bool = True) -> list[str]:
    """One line for each process that is still there after `grace_s` seconds; it is ended then."""
    places = tuple(folders)
    end = time.monotonic() + grace_s
    while (left := of_run(mark, places, children=children)) and time.monotonic() < end:
        time.sleep(0.05)
    lines = [_line(process) for process in left]
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
    return lines


def _alive(process: psutil.Process) -> bool:
    try:
        command = " ".join(process.cmdline())
        return process.status() != psutil.STATUS_ZOMBIE and not any(own in command for own in _PYTHONS_OWN)
    except psutil.Error:
        return False


def _belongs(process: psutil.Process, mark: str, places: tuple[str, ...]) -> bool:
    try:
        command = " ".join(process.cmdline())
        return (
            process.environ().get(MARK) == mark
            or any(_within(process.cwd(), place) for place in places)
            or any(place in command for place in places)
        )
    except (psutil.Error, OSError):
        return False


def _within(path: str, place: str) -> bool:
    return path == place or path.startswith(place + "/")


def _line(process: psutil.Process) -> str:
    try:
        return f"pid {process.pid}: {' '.join(process.cmdline())[:200]}"
    except psutil.Error:
        return f"pid {process.pid}: ended meanwhile"
