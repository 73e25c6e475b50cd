"""What people and agents wait for, as processes, with a journal of a million entries.

People: `mat status`, `why`, `log` and others; asked for by `quality.md`: at most 300 ms each for status, `why` and
`log -n 100`. Agents: `send-relay`, `notify-user` and `mat hook`, in a session with a few relays and in that one; at
most 60 ms and 5 times `python -c pass`. The journal is made by the real core from a duo that hands over to and fro and
now and then stalls, and is checkpointed as the supervisor does it, which takes minutes. `python -m benchmarks.reading
N` makes one of N entries instead of a million; with `BENCH_STATE=FOLDER` it is kept there, and used again.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks._figures import FLOOR, in_turns, load, machine, say_process
from matcore.engine.book import CHECKPOINT_EVERY, RULES_VERSION, Book
from matcore.engine.journal import Journal, NewEntry
from matcore.places import SessionPlaces, StatePlaces

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
ASKED = {f"mat {words}" for words in ("status", f"status {SESSION} --json", f"why {SESSION}", f"log {SESSION} -n 100")}
ROLES = ("dev", "review")
AGENTS_MS = 60
MAT = str(Path(sys.executable).parent / "mat")
ENV = {key: value for key, value in os.environ.items() if not key.startswith(("MAT_", "PYTHONDONTWRITE"))}


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


def people(state: StatePlaces, folder: Path) -> None:
    env = {**ENV, "XDG_STATE_HOME": str(state.root.parent)}
    found = in_turns({f"mat {' '.join(words)}": [MAT, *words] for words in COMMANDS}, env, folder, RUNS)
    for name, times in found.items():
        say_process(name, times, ASKED_MS if name in ASKED else None)


def agents(state: StatePlaces, folder: Path, relays: int) -> None:
    """In a session's folder as the loop keeps it; nobody takes up what is said."""
    work = folder / f"work-{relays}"
    places = SessionPlaces.of(work, SESSION)
    for place in (state.spool, places.root, places.handoffs):
        place.mkdir(parents=True, exist_ok=True)
    about = {
        "v": 1, "session": SESSION, "workdir": str(work), "state_dir": str(state.root), "require": [], "max_blocks": 3,
        "roles": [{"name": role, "dir": str(work)} for role in ROLES], "frontier": {}, "ended": False,
        "cycle": {"id": "c1", "goal": "a million entries"},
    }  # fmt: skip
    places.about.write_text(json.dumps(about), encoding="utf-8")
    with places.sent_index.open("w", encoding="utf-8") as index:
        index.write(f'{{"v":1,"session":"{SESSION}"}}\n')
        for seq in range(1, relays + 1):
            line = {
                "seq": seq, "id": f"r-{seq:06d}", "from": ROLES[seq % 2], "to": ROLES[1 - seq % 2], "kind": "request",
                "digest": hashlib.sha256(str(seq).encode()).hexdigest(), "cycle": "c1",
                "spool": f"{seq:020d}-{seq:032x}.json",
            }  # fmt: skip
            index.write(json.dumps(line, separators=(",", ":")) + "\n")
    (work / "handoff.md").write_text("# Done\n\n" + "A line of a handoff as it is.\n" * 60, encoding="utf-8")
    env = {**ENV, "XDG_STATE_HOME": str(state.root.parent)}
    env |= {"MAT_SESSION": SESSION, "MAT_ROLE": ROLES[0], "MAT_DIR": str(places.root)}
    commands = {
        "send-relay": [str(Path(MAT).with_name("send-relay")), "--again", "handoff.md"],
        "notify-user": [str(Path(MAT).with_name("notify-user")), "Which", "port?"],
        "mat hook": [MAT, "hook", "claude", "Stop", "{}"],
    }
    found = in_turns(commands, env, work, RUNS)
    print(f"-- after {relays:,} relays of the session, load {load()}")
    for name, times in found.items():
        say_process(name, times, AGENTS_MS if name in commands else None, found[FLOOR])


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    # On a disk and not in /tmp, which is memory on many machines.
    with tempfile.TemporaryDirectory(prefix="bench-reading-", dir="/var/tmp") as folder:
        state = StatePlaces(Path(os.environ.get("BENCH_STATE", folder)) / "mat")
        path = state.journal(SESSION)
        if not path.exists():
            start = time.perf_counter()
            make(path, count)
            print(f"a journal of {count:,} entries made in {time.perf_counter() - start:.0f} s")
        print(machine())
        for relays in (10, count // 7):
            agents(StatePlaces(Path(folder) / "state"), Path(folder), relays)
        people(state, Path(folder))
        start = time.perf_counter()
        env = {**ENV, "XDG_STATE_HOME": str(state.root.parent)}
        subprocess.run([MAT, "verify", SESSION], env=env, check=True, stdout=subprocess.DEVNULL)
        print(f"mat verify: {time.perf_counter() - start:.0f} s, load {load()}")


if __name__ == "__main__":
    main()
