"""What watching panes costs: CPU, process starts and memory of a whole mat, with 10, 50, 100 and 500 panes.

`python -m benchmarks.panes [--panes 10 50 100 500] [--minutes 2]`. Asked for by `quality.md`: idle panes cost 1.2, 1.6
and 5 CPU-seconds a minute (supervisor, guard, their children and the tmux server) at 50, 100 and 500, growing slower
than the panes; 50 panes of which 10 print all the time cost 2.5 on top of what tmux burns then without us; 130 process
starts a minute at rest, however many panes.

Real duos on a real tmux, with a home, a state folder and a socket of their own. Their agents are a shell that waits at
an empty composer, or a program that prints like one at work. All of it runs in a PID namespace: there the newest pid
tells how many processes and threads were started, and nothing outlives the run. A minute of CPU is what the kernel
says that the processes ran, so that other load on the machine hardly moves it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import yaml

from benchmarks._figures import load, machine, say
from matcore.engine import heartbeat, launch
from matcore.engine.book import Book
from matcore.engine.config import load as load_config
from matcore.places import StatePlaces
from tmuxdriver import panes
from tmuxdriver.server import Tmux

IDLE_LIMITS = {50: 1.2, 100: 1.6, 500: 5.0}
PRINTING = (50, 10)
PRINTING_LIMIT = 2.5
PARTS = ("supervisor", "children", "guard", "tmux")
STARTS_LIMIT = 130
SETTLE_S = 15.0
FLOOR_RUNS = 20
INSIDE = "BENCH_PANES_INSIDE"

AGENT = """#!/bin/sh
case "$1" in print) exec {python} "$(dirname "$0")/bench-printer.py" ;; esac
printf '\\033[2J\\033[H'
n=0; while [ $n -lt 30 ]; do n=$((n + 1)); echo "  Line $n of what an agent has said before it came to rest."; done
echo; echo '──────────────────────────────'; printf '> \\n──────────────────────────────\\n  ready\\033[2A\\033[3G'
while read -r _; do :; done
"""
PRINTER = """import sys, time
rule, n = "\\u2500" * 30, 0
foot = f"\\n{rule}\\n> \\n{rule}\\n  esc to interrupt"
print(foot, end="")
while True:
    n += 1
    print(f"\\033[4A\\r\\033[J  \\033[1mStep {n}\\033[0m: one more line of what an agent has to say while it works.")
    print(foot, end="", flush=True)
    time.sleep(0.25)
"""
PROFILE = {
    "name": "bench",
    "recorded": "1",
    "process": ["bench-agent", "bench-printer"],
    "composer": {"top": "^─{10,}", "bottom": "^─{10,}", "mark": "^> ?"},
    "busy": [{"match": "^  esc to interrupt$", "where": "footer"}],
}


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds so far of the parts, and the newest pid."""

    supervisor: float
    children: float
    guard: float
    tmux: float
    pid: int

    @property
    def ours(self) -> float:
        return self.supervisor + self.children + self.guard + self.tmux


class House:
    """A home with duos in it, on a tmux server of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = StatePlaces(folder / "state" / "mat")
        self.tmux = Tmux(socket=str(folder / "s"))
        self.names: list[str] = []
        os.environ |= {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
        os.environ.pop("XDG_CONFIG_HOME", None)
        agent = folder / "bench-agent"
        agent.write_text(AGENT.format(python=sys.executable), encoding="utf-8")
        agent.chmod(0o755)
        (folder / "bench-printer.py").write_text(PRINTER, encoding="utf-8")
        profiles = folder / ".config" / "mat" / "agents" / "backends"
        profiles.mkdir(parents=True)
        profile = {**PROFILE, "launch": {"argv": [str(agent)]}}
        (profiles / "bench.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")

    def up(self, *, printing: bool = False) -> None:
        """One more duo."""
        name = f"duo-{len(self.names):03d}"
        work = self.folder / name
        work.mkdir()
        what = "print" if printing else "rest"
        roles = {role: {"backend": "bench", "prompt": f"duo-{role}", "args": [what]} for role in ("dev", "review")}
        told = [{"command": ["tee", "-a", str(self.folder / "told.txt")]}]
        config = {
            "session": name,
            "driver": "tmux",
            "roles": roles,
            "tmux": {"socket": self.tmux.socket},
            "notify": told,
        }
        (work / "duo.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
        launch.up(self.state, load_config(work / "duo.yaml"), work)
        self.names.append(name)

    def settle(self, printing: int = 0) -> None:
        """Until all seats are what they are to be, and whatever follows from that is over."""
        until_s = time.monotonic() + 120
        while sum(self._busy(name) for name in self.names) != printing or not all(map(self._known, self.names)):
            if time.monotonic() > until_s:
                raise TimeoutError(f"the agents are not at rest; see {self.state.log}")
            time.sleep(1)
        time.sleep(SETTLE_S)

    def _statuses(self, name: str) -> list[str | None]:
        book = Book.read(self.state.journal(name))
        book.close()
        return [book.ledger.status(role) for role in ("dev", "review")]

    def _busy(self, name: str) -> int:
        return self._statuses(name).count("busy")

    def _known(self, name: str) -> bool:
        return all(status in ("busy", "idle") for status in self._statuses(name))

    def process(self) -> psutil.Process:
        beat = heartbeat.read(self.state)
        assert beat is not None
        return psutil.Process(beat.pid)

    def guard(self) -> psutil.Process:
        return psutil.Process(int(self.state.guard_lock.read_text()))

    def server(self) -> psutil.Process:
        return psutil.Process(int(self.tmux.run(["display-message", "-p", "#{pid}"])))

    def end(self) -> None:
        with contextlib.suppress(psutil.Error, OSError):
            self.guard().terminate()
        with contextlib.suppress(Exception):
            self.tmux.run(["kill-server"])


def spent(house: House, server: psutil.Process) -> Spent:
    supervisor, guard = house.process(), house.guard()
    own, other, tmux = supervisor.cpu_times(), guard.cpu_times(), server.cpu_times()
    return Spent(
        own.user + own.system,
        own.children_user + own.children_system,
        other.user + other.system,
        tmux.user + tmux.system,
        newest_pid(),
    )


def newest_pid() -> int:
    """The newest pid of this PID namespace; nothing else than the run itself takes any there."""
    return int(Path("/proc/loadavg").read_text(encoding="ascii").split()[4])


def minutes(house: House, count: int) -> list[Spent]:
    """What each of so many minutes took."""
    server = house.server()
    found = []
    for _ in range(count):
        before, start_s = spent(house, server), time.monotonic()
        time.sleep(60)
        after, took = spent(house, server), (time.monotonic() - start_s) / 60
        parts = {name: (getattr(after, name) - getattr(before, name)) / took for name in PARTS}
        found.append(Spent(**parts, pid=round((after.pid - before.pid) / took)))
    return found


def idle(folder: Path, sizes: Sequence[int], count: int) -> None:
    house = House(folder)
    try:
        for size in sizes:
            start_s = time.monotonic()
            while 2 * len(house.names) < size:
                house.up()
            took = time.monotonic() - start_s
            house.settle()
            print(f"-- {size} idle panes, {len(house.names)} sessions (the last up in {took:.0f} s), load {load()}")
            floors(house)
            report(f"{size} idle", minutes(house, count), IDLE_LIMITS.get(size))
            for what, process in (("supervisor", house.process()), ("guard", house.guard())):
                memory = process.memory_info()
                print(f"{f'{size} idle: RSS of the {what}':44} {memory.rss / 2**20:6.1f} MiB")
    finally:
        house.end()


def printing(folder: Path, count: int) -> None:
    house = House(folder)
    size, loud = PRINTING
    try:
        for number in range(size // 2):
            house.up(printing=number < loud // 2)
        house.settle(loud)
        print(f"-- {size} panes of which {loud} print, load {load()}")
        found = minutes(house, count)
        report(f"{loud} of {size} print", found, None)
        server = house.server()
        guard, supervisor = house.guard(), house.process()
        guard.terminate()
        psutil.wait_procs([supervisor], timeout=20)
        without = []
        for _ in range(count):
            before = server.cpu_times()
            time.sleep(60)
            after = server.cpu_times()
            without.append(after.user + after.system - before.user - before.system)
        say("floor: the tmux server without us", without, "CPU s/min")
        floor = sum(without) / len(without)
        say(
            f"{loud} of {size} print: on top of that",
            [each.ours - floor for each in found],
            "CPU s/min",
            PRINTING_LIMIT,
        )
    finally:
        house.end()


def report(what: str, found: Sequence[Spent], limit: float | None) -> None:
    say(f"{what}: in all", [each.ours for each in found], "CPU s/min", limit)
    for name in PARTS:
        say(f"{what}: {name}", [getattr(each, name) for each in found], "CPU s/min")
    if os.environ.get(INSIDE):
        say(f"{what}: processes started", [each.pid for each in found], "a minute", STARTS_LIMIT)


def floors(house: House) -> None:
    """The same questions, asked once each as a subprocess."""
    rows, screens = [], []
    ids = list(panes.look(house.tmux).panes)
    for _ in range(FLOOR_RUNS):
        start_s = time.perf_counter()
        panes.look(house.tmux)
        rows.append((time.perf_counter() - start_s) * 1000)
    for _ in range(3):
        start_s = time.perf_counter()
        panes.capture(house.tmux, ids)
        screens.append((time.perf_counter() - start_s) * 1000)
    say("floor: one list of all panes", rows)
    say("floor: captures of all panes, read into rows", screens)


def in_namespace() -> int | None:
    """Run this again in a PID namespace; its exit code, or None where the machine lets us make none."""
    words = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--pid", "--fork", "--mount-proc"]
    with contextlib.suppress(OSError):
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            again = [sys.executable, "-m", "benchmarks.panes", *sys.argv[1:]]
            return subprocess.run([*words, *again], env={**os.environ, INSIDE: "1"}, check=False).returncode
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--panes", type=int, nargs="*", default=[10, 50, 100, 500])
    parser.add_argument("--minutes", type=int, default=2, help="of each measurement")
    parser.add_argument("--no-printing", action="store_true")
    given = parser.parse_args()
    if INSIDE not in os.environ and (code := in_namespace()) is not None:
        return code
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    print(machine())
    folder = Path(tempfile.mkdtemp(prefix="mat-p-", dir="/var/tmp"))  # a socket's path may have 107 bytes
    try:
        for name in ("idle", "printing"):
            (folder / name).mkdir()
        idle(folder / "idle", given.panes, given.minutes)
        if not given.no_printing:
            printing(folder / "printing", given.minutes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
