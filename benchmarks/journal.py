"""What the journal costs: an append, and the reads of `status`, `log` and `why` on a long one.

Asked for by `quality.md`: reading the newest 100 of a million entries within 300 ms, restarting within 2 s. The floor
of an append is one write and fsync into a plain file on the same disk. `python -m benchmarks.journal N` makes a journal
of N entries instead of a million.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks._figures import machine, say
from matcore.engine.journal import Journal, Kind, NewEntry

APPENDS = 500
READS = 15
A_BATCH = 2_000
STATE = b"x" * 20_000


def entry(n: int) -> NewEntry:
    """Facts and decisions as a duo has them, now and then one of the engine's."""
    cells: list[tuple[Kind, str]] = [("fact", "role.busy"), ("fact", "turn.ended"), ("fact", "role.idle")]
    kind, name = cells[n % 3]
    if n % 10 == 9:
        kind, name = "decision", "wake.closed"
    if n % 5_000 == 4_999:
        kind, name = "engine", "engine.telling"
    data = {"role": "dev", "evidence": "hook", "relay": f"r-{n:06d}", "started": n * 1.5}
    return NewEntry(n * 0.5, 1.7e9 + n * 0.5, kind, name, data, f"{n:032x}" if n % 7 == 0 else None)


def timed(work: Callable[[], object], times: int) -> list[float]:
    """Milliseconds of each call."""
    took = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        took.append((time.perf_counter() - start) * 1000)
    return took


def appends(folder: Path) -> None:
    with (folder / "floor").open("wb", buffering=0) as file:

        def write_and_sync() -> None:
            file.write(b"x" * 400)
            os.fsync(file.fileno())

        say("floor: write and fsync of 400 bytes", timed(write_and_sync, APPENDS))
    with Journal.create(folder / "small.db", session="bench") as journal:
        numbers = iter(range(10**9))
        say("append of one entry", timed(lambda: journal.append([entry(next(numbers))]), APPENDS))
        say("append of four entries", timed(lambda: journal.append([entry(next(numbers)) for _ in range(4)]), APPENDS))


def reads(folder: Path, count: int) -> None:
    path = folder / "long.db"
    start = time.perf_counter()
    with Journal.create(path, session="bench", rules="1") as journal:
        for first in range(0, count, A_BATCH):
            journal.append([entry(n) for n in range(first, min(count, first + A_BATCH))])
            journal.checkpoint(journal.last_seq, 0.0, STATE)
        print(f"{count} entries written in {time.perf_counter() - start:.1f} s, {path.stat().st_size / 1e6:.0f} MB")
        say(
            "append of one entry to the long one", timed(lambda: journal.append([entry(7 * journal.last_seq + 1)]), 100)
        )

    def reading(work: Callable[[Journal], object]) -> Callable[[], None]:
        def run() -> None:
            with Journal.read(path) as journal:
                work(journal)

        return run

    def state_at(journal: Journal) -> None:
        seq = journal.seq_at(count * 0.2)
        kept = journal.latest_checkpoint(before=seq + 1)
        list(journal.entries(after=kept.seq if kept else 0, before=seq + 1))

    say("open, newest 100", timed(reading(lambda j: j.tail(100)), READS))
    say("open, newest 100 decisions", timed(reading(lambda j: j.tail(100, kinds=["decision"])), READS))
    say("open, newest 100 of the engine's", timed(reading(lambda j: j.tail(100, kinds=["engine"])), READS))
    say("open, newest 100 of a rare name", timed(reading(lambda j: j.tail(100, names=["engine.telling"])), READS))
    say("open, newest checkpoint and what follows it", timed(reading(lambda j: newest_state(j)), READS))
    say("open, checkpoint and entries of an earlier time", timed(reading(state_at), READS))
    say("open, entries since a wall time, 100 of them", timed(reading(lambda j: since(j, 1.7e9 + count * 0.25)), READS))
    say("open for writing, with the look at the newest", timed(lambda: Journal.open(path).close(), READS))
    argv = [sys.executable, "-c", f"from pathlib import Path\nfrom matcore.engine.journal import Journal\nJournal.read(Path({str(path)!r})).tail(100)"]  # fmt: skip  # noqa: E501
    say("floor: python -c pass", timed(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), READS))
    say("a process that reads the newest 100", timed(lambda: subprocess.run(argv, check=True), READS))
    say("verify_chain", timed(reading(lambda j: j.verify_chain()), 1))


def newest_state(journal: Journal) -> None:
    kept = journal.latest_checkpoint()
    list(journal.entries(after=kept.seq if kept else 0))


def since(journal: Journal, wall: float) -> None:
    first = journal.seq_since(wall) or 1
    list(journal.entries(after=first - 1, before=first + 100))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    # On a disk and not in /tmp, which is memory on many machines.
    print(machine())
    with tempfile.TemporaryDirectory(prefix="bench-journal-", dir="/var/tmp") as folder:
        appends(Path(folder))
        reads(Path(folder), count)


if __name__ == "__main__":
    main()
