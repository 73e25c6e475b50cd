"""Twenty-four simulated hours of a hundred duos with random faults, in virtual time, on the real loop and journals.

    python -m benchmarks.soak [--sessions 100] [--hours 24] [--seed 1] [--acts 5]

Only the terminal, the clock and the threads are fakes. Agents hand over, ask, stall, end their turns in error, die and
come back; drivers refuse, lose track and fail; channels fail; the machine sleeps; the supervisor is killed. At the end
every journal is folded anew and held to the promises of the ladder: it raises where one is broken.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil

from matcore.engine.driver import Outcome, Verdict
from matcore.engine.journal import Journal
from matcore.rules import decisions as d
from matcore.rules.facts import ClockReached
from matcore.rules.records import parse
from matcore.rules.session import State, initial, next_deadline, step
from tests.matcore.rules.monitor import Monitor
from tests.stories.world import World

WINDOW_S = 600.0
REFUSED = Outcome(Verdict.REFUSED, "the soak", gate="human-typing")
UNCONFIRMED = Outcome(Verdict.UNCONFIRMED, "the soak")
ROLES = ("dev", "review")


class Soak:
    """One seeded run."""

    def __init__(self, folder: Path, sessions: int, seed: int) -> None:
        self.choice = random.Random(seed)
        self.world = World(folder)
        self.names = [f"duo-{n:03d}" for n in range(sessions)]
        self.seq = dict.fromkeys(self.names, 0)
        self.happened: Counter[str] = Counter()
        self.world.driver.on_text = self._on_text
        for name in self.names:
            self.world.up(name)

    def _on_text(self, session: str, role: str, _text: str) -> None:
        """Most turns end by themselves, some in error, some never."""
        luck = self.choice.random()
        if luck < 0.85:
            self.world.driver.end_turn(session, role)
        elif luck < 0.9:
            self.world.driver.end_turn(session, role, outcome="error", detail="the soak")

    def run(self, hours: float, step_s: float = 60.0, acts: int | None = None) -> None:
        """`acts`: how many things happen in each step, in all sessions together."""
        end_s = self.world.clock.boot_s() + hours * 3600
        while self.world.clock.boot_s() < end_s:
            for _ in range(acts or max(1, len(self.names) // 20)):
                self._something(self.choice.choice(self.names))
            if self.choice.random() < 0.01:
                self._to_all()
            self.world.advance(step_s)

    def _something(self, name: str) -> None:
        role = self.choice.choice(ROLES)
        peer = ROLES[1 - ROLES.index(role)]
        acts: dict[str, tuple[int, Callable[[], object]]] = {
            "relay": (10, lambda: self._relay(name, role, peer)),
            "turn": (10, lambda: self.world.driver.end_turn(name, role)),
            "busy": (5, lambda: self.world.driver.see(name, "role.busy", role)),
            "idle": (10, lambda: self.world.driver.see(name, "role.idle", role)),
            "unknown": (2, lambda: self.world.driver.see(name, "role.unknown", role)),
            "gone": (2, lambda: self.world.driver.see(name, "role.gone", role)),
            "gate": (3, lambda: self.world.driver.see(name, "gate.raised", role, gate="copy-mode")),
            "free": (4, lambda: self.world.driver.see(name, "gate.cleared", role, gate="copy-mode")),
            "refuse": (3, lambda: self.world.driver.seats[name, role].answers.append(REFUSED)),
            "lose": (2, lambda: self.world.driver.seats[name, role].answers.append(UNCONFIRMED)),
            "wait": (1, lambda: self.world.says(role, name, request="wait", until_s=900, reason="tests")),
            "blocked": (1, lambda: self.world.says(role, name, fact="cycle.blocked")),
            "open": (2, lambda: self.world.says(role, name, fact="cycle.opened")),
            "human": (1, lambda: self.world.human(name, fact="human.resumed")),
            "restart": (1, lambda: self.world.human(name, request="restart", role=role)),
            "junk": (1, lambda: self.world.says(role, name, fact="human.paused")),
        }
        what = self.choice.choices(list(acts), [weight for weight, _ in acts.values()])[0]
        self.happened[what] += 1
        acts[what][1]()

    def _relay(self, name: str, role: str, peer: str) -> None:
        self.seq[name] += 1
        self.world.relay(role, peer, self.seq[name], session=name)

    def _to_all(self) -> None:
        """What befalls the host."""
        what = self.choice.choice(("killed", "ended", "slept", "driver", "channel", "calendar"))
        self.happened[what] += 1
        match what:
            case "killed" | "ended":
                self.world.restart(clean=what == "ended")
            case "slept":
                self.world.clock.sleep(self.choice.choice((30, 3600, 8 * 3600)))
            case "driver":
                self.world.driver.fault = RuntimeError("the soak")
                self.world.advance(self.choice.choice((30, 900)))
                self.world.driver.fault = None
            case "channel":
                self.world.effects.channel_works = not self.world.effects.channel_works
            case _:
                self.world.clock.set_wall(self.world.clock.wall_s() + self.choice.choice((-7200, 7200)))

    def check(self) -> int:
        """Hold every journal to what was promised. Returns how many entries there are."""
        self.world.settle()
        assert not self.world.supervisor.failed
        entries = 0
        for name in self.names:
            watched = self.world.supervisor.watched[name]
            assert watched.fault is None, watched.fault
            entries += check_journal(self.world.places.journal(name))
            self._check_texts(name)
        return entries

    def _check_texts(self, name: str) -> None:
        """No relay typed twice."""
        for role in ROLES:
            heads = Counter(
                text.partition("\n")[0]
                for text in self.world.driver.seats[name, role].texts
                if text.startswith("[relay ") and "[relay-redelivery" not in text
            )
            assert all(count == 1 for count in heads.values()), (name, role, heads)

    def end(self) -> None:
        self.world.end()


def check_journal(path: Path) -> int:
    """Fold it anew: the same decisions, every relay with one end at most, and the monitor's invariants at each step."""
    with contextlib.closing(Journal.read(path)) as journal:
        assert journal.verify_chain() is None
        entries = list(journal.entries())
    state, again = initial(), list[dict[str, object]]()
    monitor = Monitor(WINDOW_S, 36 * WINDOW_S)
    for entry in entries:
        if entry.kind == "fact":
            fact = parse({**entry.data, "fact": entry.name, "at": entry.at})
            before = _quiet_clocks(state, fact.at, monitor)
            state, decided = step(before, fact)
            monitor.sees(before, fact, state, decided)
            again += [d.record(decision) for decision in decided]
    assert again == [{**e.data, "event": e.name, "at": e.at} for e in entries if e.kind == "decision"]
    ends = Counter(e.data["id"] for e in entries if e.name == "relay.delivered")
    assert all(count == 1 for count in ends.values()), ends
    return len(entries)


def _quiet_clocks(state: State, until: float, monitor: Monitor) -> State:
    """Where the loop looked at the clock and nothing came of it, the journal has no trace; the monitor must know."""
    while (moment := next_deadline(state)) is not None and moment < until:
        clock = ClockReached(moment)
        after, decided = step(state, clock)
        if decided:
            break
        monitor.sees(state, clock, after, ())
        state = after
    return state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--hours", type=float, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--acts", type=int, help="things that happen in a simulated minute, in all sessions together")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mat-soak-") as folder:
        soak = Soak(Path(folder), args.sessions, args.seed)
        process = psutil.Process()
        for hour in range(int(args.hours)):
            soak.run(1, acts=args.acts)
            rss = process.memory_info().rss / 2**20
            cpu = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
            sys.stdout.write(f"hour {hour + 1}: {rss:.0f} MiB, {cpu:.0f} CPU s\n")
            sys.stdout.flush()
        soak.world.restart()
        began = time.perf_counter()
        soak.world.restart()
        sys.stdout.write(f"restart with {args.sessions} sessions: {time.perf_counter() - began:.2f} s\n")
        sys.stdout.write(f"{soak.check()} entries checked; {dict(soak.happened)}\n")
        soak.end()


if __name__ == "__main__":
    main()
