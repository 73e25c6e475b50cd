"""Ends what a turn has left running: its process group, and what has left the group but still carries the turn's mark.

A process is known by its number together with the time of its birth, or by the variables that each turn is started
with: numbers are used again, and a worker may die before it has written one down.
"""

from __future__ import annotations

import contextlib
import os
import signal

import psutil

from matcore.places import SessionPlaces

TURN = "MAT_TURN"
"""In the environment of all that a turn starts: the turn's number. Beside it are MAT_DIR and MAT_ROLE."""
LOOKS = 5


def born_s(pid: int) -> float | None:
    """When a process was born: with its number, what tells it from a later one of the same number."""
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None


def end_group(pgid: int | None, born: float | None) -> None:
    """End a process group by the leader that it had."""
    if pgid is not None and born is not None and born_s(pgid) == born:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pgid, signal.SIGKILL)


def end_marked(places: SessionPlaces, role: str | None = None, turn: int | None = None) -> None:
    """End all that carries the mark of that turn, or of any turn of the session."""
    spared = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    for _ in range(LOOKS):
        if not _end_marked_of(places, role, turn, spared):
            return


def _end_marked_of(places: SessionPlaces, role: str | None, turn: int | None, spared: set[int]) -> bool:
    """Whether there was any: it may have started another one behind our back."""
    found = False
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid not in spared and _is_marked(process.environ(), places, role, turn):
                process.kill()
                found = True
    return found


def _is_marked(env: dict[str, str], places: SessionPlaces, role: str | None, turn: int | None) -> bool:
    return (
        TURN in env
        and env.get("MAT_DIR") == str(places.root)
        and role in (None, env.get("MAT_ROLE"))
        and (turn is None or env[TURN] == str(turn))
    )
