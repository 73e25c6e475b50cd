"""Whether the agent runs in its pane's foreground, from the process tree: a pane's command name may be anything."""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path

import psutil

from tmuxdriver.profile import Profile

_ENDING = re.compile(r"\.(?:exe|js|cjs|mjs|py)$")


def runs_agent(profile: Profile, pane_pid: int) -> bool:
    """Whether `pane_pid` or a process below it is the agent program, alive and not in the background.

    A process that can't be looked at counts as the agent: the answer "no" must be certain.
    """
    try:
        root = psutil.Process(pane_pid)
        if _is_agent(profile, root):
            return _in_foreground(root)
        return any(_is_agent(profile, child) and _in_foreground(child) for child in root.children(recursive=True))
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def end_tree(pane_pid: int, grace_s: float = 3.0) -> None:
    """End a pane's process and all that it started; what is still there after `grace_s` is killed."""
    try:
        root = psutil.Process(pane_pid)
        family = [*root.children(recursive=True), root]
    except psutil.NoSuchProcess:
        return
    for process in family:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    end_s = time.monotonic() + grace_s
    while (left := [process for process in family if _lives(process)]) and time.monotonic() < end_s:
        time.sleep(0.02)
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()


def _lives(process: psutil.Process) -> bool:
    """A zombie has ended; that its parent has not looked yet is the parent's affair."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _is_agent(profile: Profile, process: psutil.Process) -> bool:
    try:
        argv = process.cmdline()
        names = {process.name(), *(Path(word).name for word in argv[:2])}
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False
    if len(argv) > 2 and argv[1] == "-m":
        names.add(argv[2])
    return any(_ENDING.sub("", name) in profile.process for name in names)


def _in_foreground(process: psutil.Process) -> bool:
    """Whether its process group has the terminal. Where the system does not say, it has."""
    if process.status() in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE):
        return False
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
    except OSError:
        return process.is_running()
    group, foreground = int(fields.split()[2]), int(fields.split()[5])
    return foreground <= 0 or group == foreground
