"""What people wait for: `mat status`, `mat why`, `mat log` and others as processes, on a journal of a million entries.

Asked for by `quality.md`: at most 300 ms each for status, `log -n 100` and `why`. The floor is `python -c pass`. The
journal is made by the real core from a duo that hands over to and fro and now and then stalls, and is checkpointed as
the supervisor does it. `python -m benchmarks.reading N` makes one of N entries instead of a million.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from matcore.engine.book import CHECKPOINT_EVERY, RULES_VERSION, Book
from matcore.engine.journal import Journal, NewEntry
from matcore.places import StatePlaces

SESSION = "bench-duo"
RUNS = 11
WINDOW_S = 600.0
STEP_S = 20.0
EPISODE_EVERY = 40
CYCLE_EVERY = 200
A_BATCH = 5_000
ASKED_MS = 300
COMMANDS = (
    ("status",), ("status", SESSION, "--json"), ("why", SESSION), ("why", SESSION, "--at", "2h"),
    ("log", SESSION, "-n", "100"), ("log", SESSION, "-n", "100", "--kind", "decision"),
    ("log", SESSION, "-n", "100", "--kind", "nudge"), ("log", SESSION, "--episode", "1"),
    ("log", SESSION, "--since", "10h"), ("episodes", SESSION), ("metrics",), ("--help",),
    ("pause", "--help"),
)  # fmt: skip
ONCE = (("verify", SESSION),)


class Batched(Journal):
    """Appends many entries as one transaction: only a benchmark makes a million of them at once."""

    waiting: list[NewEntry]

    def append(self, new: Any) -> list[Any]:  # noqa: ANN401 - the book's own entries
        """Nothing is on the disk before `flush`."""
        self.waiting.extend(new)
        return [_Shown(len(self.waiting), entry) for entry in new]

    def flush(self) -> None:
        waiting, self.waiting = self.waiting, []
        super().append(waiting)


class _Shown:
    """What the book asks of an entry that it has just written."""

    def __init__(self, seq: int, entry: NewEntry) -> None:
        self.seq, self.at, self.name, self.data = seq, entry.at, entry.name, entry.data


def facts(start_s: float) -> Iterator[tuple[float, str, Mapping[str, Any]]]:
    """A duo that works without end; in every so many exchanges nobody hands over for a while."""
    yield start_s, "session.configured", {"roles": ["dev", "review"], "policy": {"window": WINDOW_S}, "rules": "1"}
    yield start_s, "watch.resumed", {}
    yield start_s, "cycle.opened", {"cycle": "c1", "goal": "a million entries"}
    at, turn = start_s, 0
    while True:
        turn += 1
        me, you = ("dev", "review") if turn % 2 else ("review", "dev")
        relay = f"r-{turn:06d}"
        said: tuple[tuple[str, Mapping[str, Any]], ...] = (
            ("role.busy", {"role": me, "evidence": "hook"}),
            ("relay.sent", {"id": relay, "from": me, "to": you, "kind": "request", "seq": turn, "path": "/h"}),
            ("relay.delivered", {"id": relay, "evidence": "composer empty; pasted; Enter 1; busy (title)"}),
            ("turn.ended", {"role": me, "outcome": "ok", "started": at, "evidence": "hook"}),
            ("role.idle", {"role": me, "evidence": "hook"}),
        )  # fmt: skip
        for name, fields in said:
            at += STEP_S / 5
            yield at, name, fields
        if turn % EPISODE_EVERY == 0:
            at += 1.5 * WINDOW_S
        if turn % CYCLE_EVERY == 0:
            yield at, "cycle.opened", {"cycle": f"c{turn // CYCLE_EVERY + 1}", "goal": "a million entries"}


def make(path: Path, count: int) -> None:
    """A journal of about `count` entries that ends about now."""
    with Journal.create(path, session=SESSION, rules=RULES_VERSION):
        pass
    journal = Batched.open(path)
    journal.waiting = []
    book = Book(journal)
    per_fact = (STEP_S * EPISODE_EVERY + 1.5 * WINDOW_S) / (EPISODE_EVERY * 7)
    start_s = time.time() - count * per_fact
    role = {"backend": "scripted", "prompt": "duo-dev"}
    config = {
        "session": SESSION, "driver": "tmux", "roles": {"dev": role, "review": role}, "recovery": {"window": WINDOW_S},
    }  # fmt: skip
    up = {
        "session": SESSION,
        "workdir": "/w",
        "path": "/bin",
        "command": "send-relay",
        "size": [160, 48],
        "config": config,
    }
    book.note(start_s, start_s, "engine.up", {**up, "seats": {}})
    written = 0
    for at, name, fields in facts(start_s):
        while (due := book.deadline()) is not None and due < at:
            _confirm(book, book.reach(due, due), due)
        _confirm(book, book.take(at, at, name, fields), at)
        if len(journal.waiting) >= A_BATCH:
            written += len(journal.waiting)
            journal.flush()
            book.seq = written
            book.checkpoint()
            if written >= count:
                break
    book.close()
    _go_on(path)


def _go_on(path: Path) -> None:
    """As many entries after the last checkpoint as there are on average."""
    book = Book(Journal.open(path))
    for n in range(CHECKPOINT_EVERY // 2):
        name = "role.busy" if n % 2 else "role.idle"
        book.take(book.at + 1, book.at + 1, name, {"role": "dev", "evidence": "hook"})
    book.close()


def _confirm(book: Book, decided: Any, at: float) -> None:  # noqa: ANN401 - decisions of every class
    for decision in decided:
        if type(decision).__name__ in ("Nudge", "FinalCheck"):
            _confirm(book, book.take(at, at, "effect.ended", {"decision": decision.number, "ok": True}), at)


def timed(argv: list[str], env: Mapping[str, str], runs: int = RUNS) -> list[float]:
    """Milliseconds of each run of a process."""
    took = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(argv, env=dict(env), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        took.append((time.perf_counter() - start) * 1000)
    return took


def say(what: str, took: list[float]) -> None:
    ordered = sorted(took)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    print(
        f"{what:44} n={len(took):<3} median {statistics.median(took):8.1f} ms  p95 {p95:8.1f}  max {ordered[-1]:8.1f}"
    )


def measured(what: str, work: Callable[[], None]) -> None:
    start = time.perf_counter()
    work()
    print(f"{what}: {time.perf_counter() - start:.1f} s")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    mat = str(Path(sys.executable).parent / "mat")
    # Beside the repository's own files and not in /tmp, which is memory on many machines.
    with tempfile.TemporaryDirectory(prefix="bench-reading-", dir=Path(__file__).parent) as folder:
        state = StatePlaces(Path(os.environ.get("BENCH_STATE", folder)) / "mat")
        path = state.journal(SESSION)
        if not path.exists():
            measured(f"a journal of {count:,} entries made", lambda: make(path, count))
        env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        env["XDG_STATE_HOME"] = str(state.root.parent)
        subprocess.run([mat, "status"], env=env, check=True, stdout=subprocess.DEVNULL)  # compiles what is new
        print(f"python {sys.version.split()[0]}, {platform.machine()}, {os.cpu_count()} cores; asked: {ASKED_MS} ms")
        say("floor: python -c pass", timed([sys.executable, "-c", "pass"], env))
        for command in COMMANDS:
            say(f"mat {' '.join(command)}", timed([mat, *command], env))
        for command in ONCE:
            say(f"mat {' '.join(command)}", timed([mat, *command], env, 1))


if __name__ == "__main__":
    main()
