"""How soon a killed supervisor watches again: 100 sessions on a real tmux, with a million entries in their journals.

`python -m benchmarks.restart [--sessions 100] [--entries 1000000] [--times 7]`. Asked for by `quality.md`: watching
again within 2 s. Counted from the start of the new process, Python's own included, until its heartbeat names all
sessions; and until a relay that was sent meanwhile is taken up. Duos as in `benchmarks.panes`, with checkpoints as far
back in their journals as the supervisor leaves them on average; SIGKILL ends it each time.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from benchmarks._figures import load, machine, say
from benchmarks.panes import House
from benchmarks.reading import Batched
from matcore import spoolfile
from matcore.engine import heartbeat
from matcore.engine.book import CHECKPOINT_EVERY, Book
from matcore.engine.journal import Journal
from matcore.places import SessionPlaces

LIMIT_S = 2.0
A_BATCH = 2_000
LOOK_S = 0.005
PATIENCE_S = 60.0
SUPERVISE = [str(Path(sys.executable).parent / "mat"), "supervise"]


def pad(path: Path, count: int) -> None:
    """Let a session have `count` entries, the last checkpoint half as far back as it ever is."""
    journal = Batched.open(path)
    journal.waiting = []
    book = Book(journal)
    written = book.seq
    while written < count:
        for n in range(min(A_BATCH, count - written)):
            at = book.at + 1e-5
            book.take(at, time.time(), "role.busy" if n % 2 else "role.idle", {"role": "dev", "evidence": "screen"})
        written += len(journal.waiting)
        journal.flush()
        book.seq = written
        book.checkpoint()
    book.close()
    rest = Book(Journal.open(path))
    for n in range(CHECKPOINT_EVERY // 2):
        name = "role.idle" if n % 2 else "role.busy"
        rest.take(rest.at + 1e-5, time.time(), name, {"role": "dev", "evidence": "screen"})
    rest.close()


def until(what: Callable[[], bool], since_s: float) -> float:
    """Seconds from `since_s` until it is so."""
    while not what():
        if time.monotonic() - since_s > PATIENCE_S:
            raise TimeoutError("the supervisor does not watch again")
        time.sleep(LOOK_S)
    return time.monotonic() - since_s


def restart(house: House) -> tuple[subprocess.Popen[bytes], float, float, float]:
    """A new supervisor; the seconds until its heartbeat, its CPU seconds by then, the seconds until a relay is in."""
    places = SessionPlaces.of(house.folder / house.names[-1], house.names[-1])
    ack: dict[str, object] = {
        "session": house.names[-1],
        "fact": "relay.acked",
        "message_id": "r-000001",
        "role": "dev",
    }
    spoolfile.write(places.spool("dev"), ack)
    new = places.spool("dev") / "new"
    with house.state.log.open("ab") as log:
        start_s = time.monotonic()
        process = subprocess.Popen(SUPERVISE, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def watches() -> bool:
        beat = heartbeat.read(house.state)
        return beat is not None and beat.pid == process.pid and len(beat.sessions) == len(house.names)

    watching_s = until(watches, start_s)
    times = psutil.Process(process.pid).cpu_times()
    return process, watching_s, times.user + times.system, until(lambda: not any(new.iterdir()), start_s)


def run(folder: Path, sessions: int, entries: int, times: int) -> None:
    house = House(folder)
    process: subprocess.Popen[bytes] | None = None
    try:
        for _ in range(sessions):
            house.up()
        house.settle()
        before = house.process()
        house.guard().terminate()
        psutil.wait_procs([before], timeout=20)
        start_s = time.monotonic()
        for name in house.names:
            pad(house.state.journal(name), entries // sessions)
        size = sum(house.state.journal(name).stat().st_size for name in house.names) / 1e6
        print(f"{sessions} sessions, {entries:,} entries, {size:.0f} MB, made in {time.monotonic() - start_s:.0f} s")
        watching, cpu, taken = [], [], []
        for _ in range(times):
            print(f"   load {load()}")
            process, watching_s, cpu_s, taken_s = restart(house)
            watching.append(watching_s)
            cpu.append(cpu_s)
            taken.append(taken_s)
            time.sleep(3)
            rss = psutil.Process(process.pid).memory_info().rss / 2**20
            process.kill()
            process.wait()
        say("start → its heartbeat names all sessions", watching, "s", LIMIT_S)
        say("    CPU by then", cpu, "s")
        say("start → a relay sent meanwhile is taken up", taken, "s", LIMIT_S)
        print(f"RSS after {statistics.median(taken) + 3:.0f} s: {rss:.0f} MiB")
    finally:
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()
        house.end()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=7)
    given = parser.parse_args()
    print(machine())
    folder = Path(tempfile.mkdtemp(prefix="mat-r-", dir="/var/tmp"))  # a socket's path may have 107 bytes
    try:
        run(folder, given.sessions, given.entries, given.times)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
