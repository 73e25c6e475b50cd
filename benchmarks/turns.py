"""From a turn's end to what follows from it, and from `send-relay` to a submitted text, in real panes.

    python -m benchmarks.turns [--count 40] [--panes 50] [--printing 10] [--seed 1]

A real supervisor, a real tmux, scripted agents that need no pause between a paste and Enter. What an agent says of
itself (its own log: when its turn ended, when a text was submitted) is held against the journal, by hooks and by the
screen alone. Then the same way of a handoff with many panes beside it, some of which print all the time. A time of
`send-relay` is from the start of its process, so that it holds the start of Python, too.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml

from matcore.engine.journal import Entry
from tests.duo import Duo
from tmuxdriver.profile import shipped_folder

T = TypeVar("T")
SEND_RELAY = Path(sys.executable).parent / "send-relay"
TASKS = 16
MOST_S = 60.0
LOOK_S = 0.05
PRINTS_S = 0.25
BY_HOOK_MS, BY_SCREEN_MS = 300.0, 3000.0
IDLE_MS, IDLE_P95_MS, LOADED = 250.0, 400.0, 1.5


@dataclass
class Bench:
    """Duos on one tmux server and one supervisor, in a folder of their own."""

    folder: Path
    choice: random.Random
    hooks: bool = True
    duos: list[Duo] = field(default_factory=list)

    def up(self, *, prints: bool = False) -> Duo:
        """One more duo. `prints`: its agents are at work and say something four times a second."""
        name = f"duo-{len(self.duos):03d}"
        duo = Duo(self.folder / name, session=name, window=86_400)
        if self.duos:
            first = self.duos[0]
            duo.env, duo.state, duo.socket, duo.server = first.env, first.state, first.socket, first.server
        duo.config["tmux"] = {"socket": str(duo.socket)}
        duo.config["notify"] = [{"command": ["tee", "-a", str(self.folder / "told.txt")]}]
        for role in ("dev", "review"):
            duo.role(role, self._script(), **({"kick": "print"} if prints else {}))
        self.duos.append(duo)
        self._profile(duo.work / ".mat" / "agents" / "backends")
        duo.up()
        return duo

    def _profile(self, folder: Path) -> None:
        """The shipped one, but for the pause before Enter, and without hooks where the screen is to tell."""
        profile = yaml.safe_load((shipped_folder() / "scripted.yaml").read_text(encoding="utf-8"))
        profile["submit"] = {"settle_s": 0.0}
        if not self.hooks:
            del profile["hooks"]
        folder.mkdir(parents=True)
        (folder / "scripted.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")

    def _script(self) -> dict[str, Any]:
        tasks = [
            {"when": rf"task-{n}\b", "steps": [{"work": round(self.choice.uniform(0.6, 1.4), 3)}]} for n in range(TASKS)
        ]
        line = [{"print": "One more line of what an agent has to say while it works."}, {"work": PRINTS_S}]
        return {
            "swallow_enter_ms": 0,
            "rules": [*tasks, {"when": r"\bprint$", "steps": line * 5000}],
            "default": [{"print": "Noted."}],
        }

    def end(self) -> None:
        for duo in self.duos[1:]:
            with suppress(subprocess.TimeoutExpired):
                duo.mat("down", duo.session, "--now", check=False, timeout_s=60)
        if self.duos:
            self.duos[0].end()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--panes", type=int, default=50)
    parser.add_argument("--printing", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores", flush=True)
    few = in_bench(given.seed, True, lambda bench: by_hook(bench, given.count))
    in_bench(given.seed, False, lambda bench: by_screen(bench, given.count))
    if given.panes:
        in_bench(given.seed, True, lambda bench: among_many(bench, given, few))
    return 0


def in_bench(seed: int, hooks: bool, measure: Callable[[Bench], T]) -> T:
    folder = Path(tempfile.mkdtemp(prefix="mat-b-", dir="/tmp"))  # a socket's path may have 107 bytes
    bench = Bench(folder, random.Random(seed), hooks)
    try:
        return measure(bench)
    finally:
        bench.end()
        shutil.rmtree(folder, ignore_errors=True)


def by_hook(bench: Bench, count: int) -> list[float]:
    duo = bench.up()
    say("turn ends → turn.ended in the journal, by hook", ends(bench, duo, count), BY_HOOK_MS)
    say("turn ends → queued relay submitted, by hook", queued(bench, duo, count), BY_HOOK_MS)
    took = relayed(bench, duo, count)
    say("send-relay starts → submitted, idle pane", took, IDLE_MS, IDLE_P95_MS)
    return took


def by_screen(bench: Bench, count: int) -> None:
    duo = bench.up()
    say("turn ends → turn.ended in the journal, by screen", ends(bench, duo, count), BY_SCREEN_MS)
    say("turn ends → queued relay submitted, by screen", queued(bench, duo, count), BY_SCREEN_MS)


def among_many(bench: Bench, given: argparse.Namespace, few: list[float]) -> None:
    duo = bench.up()
    for number in range(1, given.panes // 2):
        bench.up(prints=number <= given.printing // 2)
    for other in bench.duos[1 : given.printing // 2 + 1]:
        prints(other)
    took = relayed(bench, duo, given.count)
    what = f"send-relay starts → submitted, {given.panes} panes, {given.printing} print"
    say(what, took, LOADED * statistics.median(few), LOADED * p95(few))


def prints(duo: Duo) -> None:
    """Until both of its agents are at work."""
    until(lambda: duo.log("dev", "turn-started") and duo.log("review", "turn-started"))


def say(what: str, took: list[float], most: float, most_p95: float = math.inf) -> None:
    """One row, in milliseconds, with what was asked for."""
    median_ms, p95_ms = statistics.median(took), p95(took)
    asked = f"asked: ≤ {most:.0f}" + ("" if most_p95 == math.inf else f", p95 ≤ {most_p95:.0f}")
    met = "met" if median_ms <= most and p95_ms <= most_p95 else "MISSED"
    print(
        f"{what:52} n={len(took):<3} median {median_ms:6.0f} ms  p95 {p95_ms:6.0f}  max {max(took):6.0f}  "
        f"({asked}: {met}; load {os.getloadavg()[0]:.1f})",
        flush=True,
    )


# -- what is measured, in milliseconds ---------------------------------------------------------------------------


def ends(bench: Bench, duo: Duo, count: int) -> list[float]:
    """From the end of a turn as its agent logs it to the journal's entry."""
    took = []
    for _ in range(count):
        rest(bench, duo)
        turns, entries = logs(duo, "turn-ended"), len(duo.entries("turn.ended", role="review"))
        task(bench, duo)
        ended = logged(duo, "turn-ended", turns)
        took.append((journalled(duo, "turn.ended", entries).wall - ended) * 1000)
    return took


def queued(bench: Bench, duo: Duo, count: int) -> list[float]:
    """From the end of a turn to the submission of what was sent meanwhile, both as the agent logs them."""
    took = []
    for _ in range(count):
        rest(bench, duo)
        texts, turns = logs(duo, "submitted"), logs(duo, "turn-ended")
        task(bench, duo)
        logged(duo, "submitted", texts)
        send_relay(duo)
        ended = logged(duo, "turn-ended", turns)
        submitted = logged(duo, "submitted", texts + 1)
        assert submitted > ended, "the handoff came into a turn that it should have waited for"
        took.append((submitted - ended) * 1000)
    return took


def relayed(bench: Bench, duo: Duo, count: int) -> list[float]:
    """From the start of `send-relay` to the submission, into an agent that rests."""
    took = []
    for _ in range(count):
        rest(bench, duo)
        texts = logs(duo, "submitted")
        began = send_relay(duo)
        took.append((logged(duo, "submitted", texts) - began) * 1000)
    return took


def logs(duo: Duo, what: str) -> int:
    """How often the agent has logged it."""
    return len(duo.log("review", what))


def logged(duo: Duo, what: str, after: int) -> float:
    """The Unix time at which the agent logged it for the time after `after`."""
    return float(until(lambda: duo.log("review", what)[after:])[0]["at"])


def journalled(duo: Duo, name: str, after: int) -> Entry:
    return until(lambda: duo.entries(name, role="review")[after:])[0]


def rest(bench: Bench, duo: Duo) -> None:
    """Until the agent is seen idle, and then at any moment of a tick."""
    until(lambda: [e.name for e in duo.entries("role.idle", "role.busy", role="review")][-1:] == ["role.idle"])
    time.sleep(bench.choice.uniform(0.2, 1.2))


def task(bench: Bench, duo: Duo) -> None:
    """A turn of a second or two, by a person's word."""
    duo.mat("send", duo.session, "review", f"task-{bench.choice.randrange(TASKS)}")


def send_relay(duo: Duo) -> float:
    """An agent's handoff to its reviewer, as its shell would start it; the Unix time of the start."""
    file = duo.work / "note.md"
    file.write_text(f"---\nkind: fyi\n---\nA note of {time.time()}.\n", encoding="utf-8")
    env = {**duo.env, "MAT_SESSION": duo.session, "MAT_ROLE": "dev", "MAT_DIR": str(duo.places.root)}
    began = time.time()
    subprocess.run([SEND_RELAY, "review", file], cwd=duo.work, env=env, check=True, stdout=subprocess.DEVNULL)
    return began


def until(there: Callable[[], T]) -> T:
    """What is there, as soon as it is; it carries its own time, so looking late costs nothing."""
    deadline = time.monotonic() + MOST_S
    while not (found := there()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {MOST_S:g} s: {there}")
        time.sleep(LOOK_S)
    return found


def p95(took: list[float]) -> float:
    return sorted(took)[min(len(took) - 1, int(len(took) * 0.95))]


if __name__ == "__main__":
    sys.exit(main())
