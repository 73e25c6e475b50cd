"""Whether the agent runs in its pane's foreground, from the process tree: a pane's command name may be anything."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from tmuxdriver.profile import Profile

_NOT_RUNNING = frozenset((b"T", b"t", b"Z", b"X", b"x"))
"""Stopped, traced, zombie, dead: the letters of /proc/PID/stat."""
_ENDING = re.compile(r"\.(?:exe|js|cjs|mjs|py)$")


def find_agent(profile: Profile, pane_pid: int) -> int | None:
    """Of `pane_pid` and the processes below it the agent program, alive and not in the background: its pid.

    A process that can't be looked at counts as the agent: the answer None must be certain.
    """
    try:
        root = psutil.Process(pane_pid)
        family = [root] if _is_agent(profile, root) else root.children(recursive=True)
        return next((each.pid for each in family if _is_agent(profile, each) and in_foreground(each.pid)), None)
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:
        return pane_pid


def runs_agent(profile: Profile, pane_pid: int) -> bool:
    """Whether `find_agent` finds one."""
    return find_agent(profile, pane_pid) is not None


def end_agents_of(profile: Profile, own: Mapping[str, str]) -> bool:
    """End every agent program that was started with these variables: it may have outlived its pane.

    Whether none is left; two agents must never be on one agent session.
    """
    found = [process for process in psutil.process_iter() if _is_of(profile, process, own)]
    for process in found:
        end_tree(process.pid)
    return not any(_lives(process) for process in psutil.wait_procs(found, timeout=1.0)[1])


def _is_of(profile: Profile, process: psutil.Process, own: Mapping[str, str]) -> bool:
    try:
        return _is_agent(profile, process) and own.items() <= process.environ().items()
    except (psutil.Error, OSError):
        return False


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


def in_foreground(pid: int) -> bool:
    """Whether a process lives, is not stopped, and its group has the terminal. Where the system does not say, it has.

    One small file is read, by the barest means, so that it may be asked of every agent in each tick.
    """
    try:
        handle = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return _lives_elsewhere(pid)
    try:
        fields = os.read(handle, 4096).rpartition(b")")[2].split(None, 6)
    except OSError:  # it has ended since
        return False
    finally:
        os.close(handle)
    group, foreground = int(fields[2]), int(fields[5])
    return fields[0] not in _NOT_RUNNING and (foreground <= 0 or group == foreground)


def _lives_elsewhere(pid: int) -> bool:
    """As `in_foreground`, on systems without /proc."""
    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def is_tmux(pid: int) -> bool:
    """Whether a tmux server lives with this pid, for one whose socket was removed can't be asked and is not gone."""
    try:
        process = psutil.Process(pid)
        return process.name().startswith("tmux") and _lives(process)
    except psutil.Error:
        return False
