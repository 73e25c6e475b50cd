"""Random runs of a session: facts from a small alphabet, at times that like to meet, with outcomes of every kind."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from matcore.rules import decisions, policy, session
from matcore.rules import facts as f
from matcore.rules.decisions import Decision
from matcore.rules.state import State
from tests.matcore.rules.monitor import Monitor

LARGE = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
GAPS = (0, 0, 0, 0, 1, 1, 5, 20, 29, 30, 31, 50, 60, 61, 99, 100, 101, 200, 300, 700, 2000, 4000)
RELAYS = tuple(f"r{number}" for number in range(1, 40))


@dataclass(frozen=True)
class Setting:
    """How a run is set up. `outcome`: chances that an effect succeeds at once, fails at once, ends later, never."""

    roles: tuple[str, ...]
    window: float
    deadline: float | None
    outcome: tuple[int, int, int, int]

    @property
    def policy(self) -> policy.Policy:
        return policy.parse({"window": self.window, "progress_deadline": self.deadline})


SETTINGS = tuple(
    Setting(roles, window, deadline, outcome)
    for roles in (("solo",), ("dev", "review"), ("dev", "review", "plan"))
    for window, deadline in ((100, None), (40, 1000), (600, 0))
    for outcome in ((1, 0, 0, 0), (6, 2, 2, 1))
)


class Run:
    """A session under a monitor. Facts are fed by `do`; the clock runs by itself, outcomes come as the setting says."""

    def __init__(self, setting: Setting, choice: random.Random) -> None:
        self.setting, self.choice = setting, choice
        self.state: State = session.initial()
        self.facts: list[f.Fact] = []
        self.decided: list[Decision] = []
        self.later: list[tuple[float, int, bool]] = []
        self.sent = 0
        deadline = setting.policy.progress_deadline_us / 1_000_000
        self.monitor = Monitor(setting.window, deadline)
        self.feed(f.SessionConfigured(0, setting.roles, setting.policy))

    def feed(self, fact: f.Fact) -> None:
        before = self.state
        self.state, decided = session.step(before, fact)
        if decided or not isinstance(fact, f.ClockReached):
            self.facts.append(fact)
        self.decided += decided
        self.monitor.sees(before, fact, self.state, decided)
        for decision in decided:
            if type(decision) in decisions.AWAITED:
                self._ends(decision)

    def run_to(self, at: float) -> None:
        """All clocks before `at`, and the outcomes that come meanwhile."""
        while True:
            clock = session.next_deadline(self.state)
            outcome = min(self.later, default=None)
            if outcome is not None and outcome[0] < at and (clock is None or outcome[0] <= clock):
                self.later.remove(outcome)
                self.feed(f.EffectEnded(*outcome))
            elif clock is not None and clock < at:
                self.feed(f.ClockReached(clock))
            else:
                return

    def do(self, at: float, make: Callable[[Run, float], f.Fact]) -> None:
        self.run_to(at)
        self.feed(make(self, at))

    def role(self) -> str:
        return self.choice.choice((*self.setting.roles, *self.setting.roles, *self.setting.roles, "ghost"))

    def relay(self) -> str:
        return self.choice.choice(RELAYS[max(0, self.sent - 4) : self.sent + 1])

    def _ends(self, decision: Decision) -> None:
        how = self.choice.choices(("ok", "failed", "later", "never"), self.setting.outcome)[0]
        if how in ("ok", "failed"):
            self.feed(f.EffectEnded(decision.at, decision.number, how == "ok"))
        elif how == "later":
            delay = self.choice.choice((1, 10, 59, 60, 61, 90, 500))
            self.later.append((decision.at + delay, decision.number, self.choice.random() < 0.7))


def _sent(run: Run, at: float) -> f.Fact:
    sender = run.choice.choice((run.role(), run.role(), f.HUMAN))
    run.sent = min(run.sent + 1, len(RELAYS) - 1)
    kind = run.choice.choice((f.Kind.REQUEST, f.Kind.REQUEST, f.Kind.FYI))
    name = RELAYS[run.sent] if run.choice.random() < 0.9 else run.relay()
    seen = run.choice.choice((None, None, None, 0, 2, 5))
    return f.RelaySent(at, name, sender, run.role(), kind, seen)


def _handed(run: Run, at: float) -> f.Fact:
    """Sent and delivered at once, as it mostly goes."""
    sent = _sent(run, at)
    run.feed(sent)
    return f.RelayDelivered(at, RELAYS[run.sent])


def _full(run: Run, at: float) -> f.Fact:
    """A context that is full while something waits in it, and the fresh runtime after it."""
    role = run.choice.choice(run.setting.roles)
    run.feed(f.ContextExhausted(at, role))
    return f.ContextFresh(at, role)


def _gate(run: Run) -> tuple[str, str | None]:
    name = run.choice.choice(("copy-mode", "rate-limited", "tmux-unreachable"))
    return name, None if name == "tmux-unreachable" else run.role()


def _until(run: Run, at: float) -> float | None:
    return run.choice.choice((None, None, at + 10, at + 100, at + 1500))


def _idle_all(run: Run, at: float) -> f.Fact:
    for role in run.setting.roles[1:]:
        run.feed(f.RoleIdle(at, role))
    return f.RoleIdle(at, run.setting.roles[0])


def _turn(run: Run, at: float) -> f.Fact:
    outcome = run.choice.choice((f.TurnOutcome.OK, f.TurnOutcome.OK, f.TurnOutcome.ERROR))
    return f.TurnEnded(at, run.role(), outcome, None, run.choice.choice((None, None, at - 1, at - 50)))


def _cycle(run: Run, at: float) -> f.Fact:
    name = run.choice.choice(("c1", "c2"))
    by = run.choice.choice((run.role(), f.HUMAN))
    return run.choice.choice((f.CycleCompleted(at, name, by), f.CycleBlocked(at, name, by)))


MAKERS: tuple[tuple[int, Callable[[Run, float], f.Fact]], ...] = (
    (5, lambda run, at: f.CycleOpened(at, run.choice.choice(("c1", "c2")))),
    (1, _cycle),
    (8, lambda run, at: f.RoleBusy(at, run.role())),
    (10, lambda run, at: f.RoleIdle(at, run.role())),
    (10, _idle_all),
    (2, lambda run, at: f.RoleGone(at, run.role())),
    (2, lambda run, at: f.RoleUnknown(at, run.role())),
    (8, _turn),
    (5, _sent),
    (8, _handed),
    (2, _full),
    (8, lambda run, at: f.RelayDelivered(at, run.relay())),
    (1, lambda run, at: f.RelayAlreadySent(at, run.relay(), run.choice.choice((run.role(), f.HUMAN)), run.role())),
    (2, lambda run, at: f.RelayAcked(at, run.relay(), run.role())),
    (2, lambda run, at: f.RelayUndeliverable(at, run.relay())),
    (4, lambda run, at: f.GateRaised(at, *_gate(run), _until(run, at))),
    (4, lambda run, at: f.GateCleared(at, *_gate(run))),
    (1, lambda run, at: f.HumanPaused(at, _until(run, at))),
    (1, lambda _, at: f.HumanResumed(at)),
    (1, lambda run, at: f.HumanActed(at, run.choice.choice((None, run.role())))),
    (1, lambda run, at: f.QuestionAsked(at, run.choice.choice(("q1", "q2")), run.role())),
    (2, lambda run, at: f.QuestionAnswered(at, run.choice.choice(("q1", "q2", "q9")))),
    (2, lambda run, at: f.ContextExhausted(at, run.role())),
    (2, lambda run, at: f.ContextFresh(at, run.role())),
    (1, lambda run, at: f.AgentRenewed(at, run.role())),
    (1, lambda _, at: f.WatchStopped(at)),
    (2, lambda run, at: f.WatchResumed(at, run.choice.choice((None, 1)))),
    (2, lambda _, at: f.ClockReached(at)),
)
_WEIGHTS = tuple(weight for weight, _ in MAKERS)


def facts_of(setting: Setting, seed: int, length: int) -> Run:
    """One run of that length, the same for the same seed, to its quiet end."""
    choice = random.Random(seed)
    run = Run(setting, choice)
    at = 0.0
    for _ in range(length):
        at += choice.choice(GAPS)
        run.do(at, choice.choices([make for _, make in MAKERS], _WEIGHTS)[0])
    run.run_to(at + 40 * setting.window)
    return run


def many(runs: int, length: int) -> Iterator[Run]:
    for seed in range(runs):
        yield facts_of(SETTINGS[seed % len(SETTINGS)], seed, length)
