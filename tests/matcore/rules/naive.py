"""The ladder once more, as slow and plain as can be: one tick a second, everything looked at anew in each.

It shares no code with the core. It knows the facts that the ladder lives on; outcomes come at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Told = tuple[object, ...]


@dataclass
class Hold:
    until: int | None = None
    ends: int | None = None
    sum: int = 0
    escalated: bool = False

    def end(self) -> float:
        return min(float("inf") if end is None else end for end in (self.until, self.ends))


@dataclass
class Naive:
    roles: tuple[str, ...]
    window: int
    settle: int
    deadline: int
    succeeds: Callable[[int, str, str | None], bool]
    now: int = 0
    told: list[Told] = field(default_factory=list)
    status: dict[str, tuple[str, int]] = field(default_factory=dict)
    active: dict[str, int] = field(default_factory=dict)
    debts: list[tuple[str, str]] = field(default_factory=list)
    gates: dict[str, Hold] = field(default_factory=dict)
    questions: set[str] = field(default_factory=set)
    cycle: str | None = None
    watched: bool = True
    episodes: int = 0
    episode: bool = False
    rung: int = 0
    first: str | None = None
    quiet: int = 0
    written: tuple[str, ...] = ()
    clock: int = 0
    human_told: bool = False

    def __post_init__(self) -> None:
        self.status = dict.fromkeys(self.roles, ("unknown", 0))

    def tick(self, facts: list[tuple[str, ...]]) -> None:
        """All facts of this second, then the ladder, then the deadline, then the second passes."""
        self.gates = {name: hold for name, hold in self.gates.items() if hold.end() >= self.now}
        self._look()
        for fact in facts:
            self._fact(*fact)
            self._look()
        while self._ladder():
            self._look()
        if self.cycle and self.watched and self.deadline and self.clock >= self.deadline and not self.human_told:
            self.human_told = True
            self.told += [(self.now, "progress.overdue", self.cycle), (self.now, "notify", "overdue")]
        due = self._due()
        for name in self._names():
            if due and self.gates[name].until is None:
                self.gates[name].sum += 1
        self.quiet += self._quiet()
        paused = self.gates.get("paused")
        if self.cycle and not (paused and paused.until is not None and paused.end() > self.now):
            self.clock += 1
        self.now += 1

    def _names(self) -> list[str]:
        return sorted(name for name, hold in self.gates.items() if hold.end() > self.now)

    def _quiet(self) -> bool:
        settled = all(
            status in ("idle", "gone") or (status == "unknown" and self.now - since >= self.window)
            for status, since in self.status.values()
        )
        return settled and self.watched and self.cycle is not None

    def _due(self) -> bool:
        return self._quiet() and self.quiet >= self.window and not (self.episode and self.rung == 3)

    def _look(self) -> None:
        for role, (status, since) in self.status.items():
            if self.watched and status == "unknown" and self.now - since >= self.window:
                self.gates.setdefault(f"unknown/{role}", Hold())
        if not self._quiet() and not self.episode:
            self.quiet = 0

    def _fact(self, name: str, *words: str) -> None:
        getattr(self, "_" + name.replace(".", "_"))(*words)

    def _seen(self, role: str, status: str) -> None:
        if self.status[role][0] != status:
            self.status[role] = (status, self.now)
        if status != "unknown" and f"unknown/{role}" in self.gates:
            self.gates[f"unknown/{role}"].ends = self.now
        if status == "busy":
            self.active[role] = self.now

    def _raised(self, gate: str, until: str = "") -> None:
        hold = self.gates.setdefault(gate, Hold())
        hold.until, hold.ends = (max(self.now, int(until)) if until else None), None

    def _cleared(self, gate: str) -> None:
        hold = self.gates.get(gate)
        if hold and hold.ends is None and hold.end() > self.now:
            hold.ends = self.now + self.settle

    def _resumed(self) -> None:
        if "paused" in self.gates:
            self.gates["paused"].ends = self.now
        self._acted()

    def _asked(self, question: str) -> None:
        if question not in self.questions:
            self.questions.add(question)
            self._raised("awaiting-human")
            self.told.append((self.now, "notify", "question"))

    def _answered(self, question: str) -> None:
        if question in self.questions:
            self.questions.remove(question)
            if not self.questions:
                self.gates["awaiting-human"].ends = self.now
            self._acted()

    def _opened(self, cycle: str) -> None:
        self._progress("boundary")
        self.cycle, self.debts = cycle, []

    def _handoff(self, relay: str, sender: str, to: str) -> None:
        """Sent and delivered at once."""
        self._progress("handoff")
        self.debts = [debt for debt in self.debts if debt[1] != sender]
        self.debts.append((relay, to))
        self.active[sender] = self.now

    def _stopped(self) -> None:
        self.watched = False

    def _watched(self) -> None:
        if not self.watched:
            self.watched = True
            for role in self.roles:
                self.status[role] = ("unknown", self.now)
                if f"unknown/{role}" in self.gates:
                    self.gates[f"unknown/{role}"].ends = self.now

    def _progress(self, by: str) -> None:
        if self.episode:
            self.told.append((self.now, "episode.closed", self.episodes, by, self.rung))
        self.episode, self.quiet = False, 0
        self._stretch()

    def _acted(self) -> None:
        if self.episode:
            if self.rung:
                self.told.append((self.now, "episode.rearmed", self.episodes))
            self.rung = self.quiet = 0
        self._stretch()

    def _stretch(self) -> None:
        self.written, self.clock, self.human_told = (), 0, False
        for hold in self.gates.values():
            hold.sum, hold.escalated = 0, False

    def _ladder(self) -> bool:
        """Whether anything was decided: then it is looked at once more."""
        if not self._due():
            return False
        names = self._names()
        if not names:
            self._act()
            return True
        before = len(self.told)
        if tuple(names) != self.written:
            self.written = tuple(names)
            self.told.append((self.now, "ladder.deferred", self.written))
        ripe = [name for name in names if self._ripe(self.gates[name])]
        for name in ripe:
            self.gates[name].escalated = True
            self.told.append((self.now, "gate.escalated", name))
        if ripe:
            self.told.append((self.now, "notify", "gate"))
        return len(self.told) > before

    def _ripe(self, hold: Hold) -> bool:
        return hold.until is None and not hold.escalated and hold.sum >= 3 * self.window

    def _act(self) -> None:
        if not self.episode:
            self.episode, self.rung, self.first = True, 0, None
            self.episodes += 1
            relay, owed = self.debts[0] if self.debts else (None, None)
            self.told.append((self.now, "episode.opened", self.episodes, owed, relay))
        rung = self.rung + 1
        role = None if rung == 3 else self._whom(rung)
        if role is not None and self.status[role][0] == "gone":
            self.told.append((self.now, "rung.skipped", rung, role))
        else:
            ok = self.succeeds(self.now, "notify" if role is None else "nudge", role)
            self.told.append((self.now, "notify", "idle-recovery") if role is None else (self.now, "nudge", rung, role))
            if not ok:
                hold = self.gates.setdefault("notify-failed" if role is None else f"nudge-failed/{role}", Hold())
                hold.ends = self.now + self.window
                return
            self.quiet, self.written = 0, ()
            for hold in self.gates.values():
                hold.sum = 0
            self.human_told = self.human_told or role is None
        self.rung = rung
        self.first = role if rung == 1 else self.first

    def _whom(self, rung: int) -> str:
        if rung == 1 and self.debts:
            return self.debts[0][1]
        some = [role for role in self.roles if rung == 1 or role != self.first] or list(self.roles)
        living = [role for role in some if self.status[role][0] != "gone"]
        return max(living or some, key=lambda role: self.active.get(role, -1))
