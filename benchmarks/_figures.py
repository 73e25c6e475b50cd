"""How the scripts of this folder measure and say it: on which machine and tree, how often, against which limit.

A machine that does other things makes a wall clock say little. So a process is timed by both: what passed, and what the
kernel says that it ran; and what is compared is run in turns, so that load meets all of it alike.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_HERE = Path(__file__).parent
FLOOR = "floor: python -c pass"


@dataclass(slots=True)
class Times:
    """Milliseconds of each run of a process."""

    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)


def machine() -> str:
    """One line: tree, machine, versions, load."""
    tree = _printed(["git", "-C", str(_HERE), "rev-parse", "--short", "HEAD"]) or "no git"
    changed = "+" if _printed(["git", "-C", str(_HERE), "status", "--porcelain", "--", ".."]) else ""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return (
        f"tree {tree}{changed}, {os.cpu_count()} cores {platform.machine()}, {memory_gb:.0f} GB, "
        f"{platform.system()} {platform.release()}, {_printed(['tmux', '-V']) or 'no tmux'}, "
        f"python {sys.version.split()[0]}, load {load()}"
    )


def load() -> str:
    """What else the machine is doing: the load of the last minute."""
    return f"{os.getloadavg()[0]:.1f}"


def say(what: str, took: Sequence[float], unit: str = "ms", limit: float | None = None) -> None:
    """One row. `limit` is what the median must not exceed."""
    ordered = sorted(took)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    median = statistics.median(ordered)
    asked = "" if limit is None else f"  (≤ {limit:g}: {'met' if median <= limit else 'MISSED'})"
    sys.stdout.write(
        f"{what:44} n={len(took):<4} median {median:8.2f} {unit}  p95 {p95:8.2f}  max {ordered[-1]:8.2f}{asked}\n"
    )
    sys.stdout.flush()


def in_turns(commands: Mapping[str, Sequence[str]], env: Mapping[str, str], cwd: Path, runs: int) -> dict[str, Times]:
    """Run each command so many times, one after the other, with the floor among them. Raises where one fails."""
    every = {FLOOR: [sys.executable, "-c", "pass"], **commands}
    found = {name: Times() for name in every}
    for number in range(runs + 1):
        for name, argv in every.items():
            wall_ms, cpu_ms = _once(argv, env, cwd)
            if number:  # the first round compiles what is new and fills the caches
                found[name].wall_ms.append(wall_ms)
                found[name].cpu_ms.append(cpu_ms)
    return found


def say_process(what: str, times: Times, limit_ms: float | None = None, floor: Times | None = None) -> None:
    """Two rows, by the clock and by the kernel; with `floor` also how many times that was."""
    say(what, times.wall_ms, "ms", limit_ms)
    ratio = ""
    if floor is not None:
        passed = statistics.median(times.wall_ms) / statistics.median(floor.wall_ms)
        ran = statistics.median(times.cpu_ms) / statistics.median(floor.cpu_ms)
        ratio = f"; of the floor: {passed:.1f} times by the clock, {ran:.1f} times by CPU"
    sys.stdout.write(f"    CPU: median {statistics.median(times.cpu_ms):.1f} ms, max {max(times.cpu_ms):.1f}{ratio}\n")
    sys.stdout.flush()


def _once(argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> tuple[float, float]:
    start_s = time.perf_counter()
    process = subprocess.Popen(
        argv, env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    with process.stderr:
        said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    took_ms = (time.perf_counter() - start_s) * 1000
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, argv, stderr=said)
    return took_ms, (used.ru_utime + used.ru_stime) * 1000


def _printed(argv: list[str]) -> str:
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""
