"""The lines of "What must never happen" (ladder.md) as one watcher beside the core, with a bookkeeping of its own.

It sees facts and decisions, and of the state only which gates hold and whether the ladder is due under them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from matcore.rules import decisions as d
from matcore.rules import facts as f
from matcore.rules import session, view
from matcore.rules.state import State

LADDER = (d.EpisodeOpened, d.Nudge, d.RungSkipped, d.LadderDeferred, d.GateEscalated, d.ProgressOverdue)
INJECTED_S = 60
SLACK_S = 0.001


@dataclass
class Debt:
    to: str
    delivered: bool = False


@dataclass
class Monitor:
    window: float
    deadline: float
    roles: dict[str, str] = field(default_factory=dict)
    since: dict[str, float] = field(default_factory=dict)
    now: float = 0
    number: int = 0
    cycle: str | None = None
    watched: bool = True
    opened: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)
    checked: set[str] = field(default_factory=set)
    recovered: set[str] = field(default_factory=set)
    relays: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    arrived: set[str] = field(default_factory=set)
    debts: dict[str, Debt] = field(default_factory=dict)
    on_its_way: dict[int, tuple[str, float]] = field(default_factory=dict)
    effects: dict[int, d.Decision] = field(default_factory=dict)
    episode: int | None = None
    rung: int = 0
    told_by_rung: bool = False
    over: set[tuple[str, float]] = field(default_factory=set)
    escalated: set[tuple[str, float]] = field(default_factory=set)
    overdue: bool = False
    # the bound on silence
    failed: bool = False
    told: bool = False
    gate_free: float = 0
    after_first: float | None = None
    stretch: float = 0
    gate_sums: dict[tuple[str, float], float] = field(default_factory=dict)

    def sees(self, before: State, fact: f.Fact, after: State, decided: tuple[d.Decision, ...]) -> None:
        self._time(before, max(fact.at, self.now))
        self._fact(before, fact)
        for decision in decided:
            self.number += 1
            assert decision.number == self.number, "decisions are numbered one by one"
            assert decision.at == self.now, "a decision has the time of its fact"
            if isinstance(decision, LADDER):
                assert isinstance(fact, f.ClockReached), "the ladder decides only when the clock says so"
            self._decision(decision, after)
        owed = {relay.id for relay in after.relays if relay.owed}
        assert owed == set(self.debts), "debts are cleared by the holder's handoff or a boundary, by nothing else"
        if isinstance(fact, f.ClockReached) and not decided:
            moment = session.next_deadline(after)
            assert moment is None or moment > self.now, "a clock that led to nothing is not asked for again"

    # -- time ---------------------------------------------------------------------------------------------------------

    def _time(self, before: State, to: float) -> None:
        """Between two facts nothing changes but what the state says of the gates; the clock was fed at each change."""
        passed = to - self.now
        if passed > 0:
            gates = view.active_gates(before, self.now)
            self._holds(before, gates)
            if self.cycle is not None:
                if self.watched:
                    self._still(before, gates, passed)
                    self._gated(before, gates, passed)
                self._stretches(before, gates, passed)
        self.now = to

    def _holds(self, before: State, gates: tuple[view.ActiveGate, ...]) -> None:
        holding = {(gate.name, gate.since) for gate in gates}
        assert not holding & self.over, "a hold that has ended begins anew, with nothing added up"
        ended = {(gate.name, gate.since_us / 1_000_000) for gate in before.gates} - holding
        self.over |= {hold for hold in ended if "-failed" not in hold[0]}  # a retry goes on with its hold

        for gate in gates:
            name, _, role = gate.name.partition("/")
            if name == "unknown":
                assert self.roles[role] == "unknown", "it ends at once when the role is made out"
            if name == "relay-pending":
                waiting = set(self.relays) - self.arrived - self.lost
                assert any(self.relays[relay][1] == role for relay in waiting), "it ends with the last delivery"
            if name == "injected":
                into = {role for role, _ in self.on_its_way.values()}
                assert role in into, "it ends at once when the role is busy or no text is on its way any more"

    def _still(self, before: State, gates: tuple[view.ActiveGate, ...], passed: float) -> None:
        quiet = all(self._settled(role) for role in self.roles)
        if quiet and not gates and (view.episode(before) is None or self._climbs(before)):
            self.gate_free += passed
            if self.after_first is not None:
                self.after_first += passed
        elif self.episode is None and not quiet:
            self.gate_free = 0
        self._silence()

    def _gated(self, before: State, gates: tuple[view.ActiveGate, ...], passed: float) -> None:
        for gate in gates:
            if before.due and not gate.trusted:
                hold = (gate.name, gate.since)
                total = self.gate_sums[hold] = self.gate_sums.get(hold, 0) + passed
                assert total <= 3 * self.window + SLACK_S or gate.escalated, f"{gate.name} is never told"

    def _stretches(self, before: State, gates: tuple[view.ActiveGate, ...], passed: float) -> None:
        if not any(gate.name == "paused" and gate.trusted for gate in gates):
            self.stretch += passed
        if self.watched and self.deadline:
            episode = view.episode(before)
            waits = episode is not None and episode.awaits is not None
            allowed = self.deadline + SLACK_S + (INJECTED_S if waits else 0)
            assert self.stretch <= allowed or self.told, "a cycle without progress, and nobody was told"

    def _climbs(self, before: State) -> bool:
        episode = view.episode(before)
        return episode is not None and episode.awaits is None and episode.rung < 3

    def _silence(self) -> None:
        if self.failed or self.told:
            return
        assert self.gate_free <= 3 * self.window + SLACK_S, "three windows of quiet, and nobody was told"
        assert self.after_first is None or self.after_first <= 2 * self.window + SLACK_S, "two windows after rung 1"

    def _settled(self, role: str) -> bool:
        status = self.roles[role]
        return status in ("idle", "gone") or (
            status == "unknown" and self.now - self.since[role] >= self.window - SLACK_S
        )

    # -- facts --------------------------------------------------------------------------------------------------------

    def _fact(self, before: State, fact: f.Fact) -> None:  # noqa: C901, PLR0912 - a case for each kind
        match fact:
            case f.SessionConfigured():
                for role in fact.roles:
                    self._status(role, "unknown")
            case f.RoleBusy() | f.RoleIdle() | f.RoleGone() | f.RoleUnknown():
                if fact.role in self.roles:
                    status = type(fact).__name__.removeprefix("Role").lower()
                    self._status(fact.role, status)
                    if status == "busy":
                        self._taken_up(fact.role)
            case f.CycleOpened():
                self._boundary()
                self.cycle = fact.cycle
            case f.CycleCompleted() | f.CycleBlocked():
                if fact.cycle == self.cycle and (fact.by == f.HUMAN or fact.by in self.roles):
                    self._boundary()
                    self.cycle = None
            case f.RelaySent():
                self._sent(fact)
            case f.RelayAlreadySent():
                if fact.sender == f.HUMAN and fact.id in self.relays and fact.to in self.roles:
                    self._human()
            case f.RelayDelivered():
                self._delivered(fact.id)
            case f.RelayUndeliverable():
                self.lost |= {fact.id} & set(self.relays)
            case f.HumanResumed():
                self._human()
            case f.HumanActed():
                if fact.role is None or fact.role in self.roles:
                    self._human()
            case f.QuestionAnswered():
                if any(question.id == fact.question for question in before.questions):
                    self._human()
            case f.WatchStopped():
                self.watched = False
            case f.WatchResumed():
                if not self.watched:
                    self.watched = True
                    self.stretch -= fact.slept or 0
                    for role in self.roles:
                        self._status(role, "unknown", anew=True)
            case f.EffectEnded():
                self._outcome(before, fact)
            case _:
                pass

    def _status(self, role: str, status: str, *, anew: bool = False) -> None:
        if anew or self.roles.get(role) != status:
            self.since[role] = self.now
        self.roles[role] = status
        if self.episode is None and not self._settled(role):
            self.gate_free = 0

    def _taken_up(self, role: str) -> None:
        self.on_its_way = {number: text for number, text in self.on_its_way.items() if text[0] != role}

    def _sent(self, fact: f.RelaySent) -> None:
        seats = fact.to in self.roles and (fact.sender in self.roles or fact.sender == f.HUMAN)
        if fact.id in self.relays or not seats or fact.sender == fact.to:
            return
        self.relays[fact.id] = (fact.sender, fact.to, fact.kind)
        if fact.sender == f.HUMAN:
            self._human()
        elif fact.kind is f.Kind.REQUEST:
            self._progress()
            self.debts = {
                relay: debt for relay, debt in self.debts.items() if debt.to != fact.sender or not debt.delivered
            }
            self.debts[fact.id] = Debt(fact.to)

    def _delivered(self, relay: str) -> None:
        if relay in self.relays:
            self.arrived.add(relay)
            if relay in self.debts:
                self.debts[relay].delivered = True

    def _outcome(self, before: State, fact: f.EffectEnded) -> None:
        decision = self.effects.pop(fact.decision, None)
        if decision is None:
            return
        flight = None if before.episode is None else before.episode.flight
        current = flight is not None and flight.decision == fact.decision and not flight.disowned
        if not fact.ok:
            self.failed = True
            self.on_its_way.pop(fact.decision, None)
            return
        if fact.decision in self.on_its_way:
            self.on_its_way[fact.decision] = (self.on_its_way[fact.decision][0], self.now)
        if isinstance(decision, d.Nudge):
            if decision.redelivers:
                self._delivered(decision.redelivers)
            if current:
                self.rung = decision.rung
                self._counted()
        late_telling = any(late.decision == fact.decision for late in before.late)
        if isinstance(decision, d.Notify) and decision.kind is d.NotifyKind.IDLE_RECOVERY and (current or late_telling):
            assert not self.told_by_rung, "two rung-3 notifies in one episode without a human act between them"
            self.told_by_rung = self.told = True
            self.rung = 3
            self._counted()

    def _counted(self) -> None:
        self.gate_sums.clear()
        self.gate_free = min(self.gate_free, self.rung * self.window)
        if self.rung == 1:
            self.after_first = 0

    def _progress(self) -> None:
        self.episode = None
        self._stretch()

    def _boundary(self) -> None:
        self._progress()
        self.debts = {}

    def _human(self) -> None:
        self._stretch()

    def _stretch(self) -> None:
        self.rung = 0
        self.told_by_rung = self.told = self.overdue = self.failed = False
        self.gate_free = self.stretch = 0
        self.after_first = None
        self.gate_sums.clear()
        self.escalated.clear()

    # -- decisions ----------------------------------------------------------------------------------------------------

    def _decision(self, decision: d.Decision, after: State) -> None:  # noqa: C901, PLR0912 - a case for each kind
        if type(decision) in d.AWAITED:
            self.effects[decision.number] = decision
        match decision:
            case d.EpisodeOpened():
                assert self.episode is None, "one episode at a time"
                self.episode = decision.episode
            case d.EpisodeClosed():
                pass
            case d.RungSkipped():
                assert self.roles[decision.role] == "gone"
                self.rung = decision.rung
                if decision.rung == 1:
                    self.after_first = 0
            case d.Nudge():
                self._nudge(decision)
            case d.Notify():
                if decision.kind is d.NotifyKind.IDLE_RECOVERY:
                    assert not self.told_by_rung, "rung 3 has told already"
                    assert self.rung == 2
                if decision.action and decision.kind is not d.NotifyKind.QUESTION:
                    self.told = True if decision.kind is not d.NotifyKind.IDLE_RECOVERY else self.told
            case d.ProgressOverdue():
                assert not self.overdue, "overdue once in a stretch"
                assert not self.told_by_rung, "rung 3 has told already"
                self.overdue = True
            case d.GateEscalated():
                hold = next(gate for gate in view.active_gates(after, self.now) if gate.name == decision.gate)
                assert self.gate_sums.get((hold.name, hold.since), 0) >= 3 * self.window - SLACK_S, "told too early"
                assert not hold.trusted, "a gate that names its end is trusted"
                assert (hold.name, hold.since) not in self.escalated, "a hold is told once"
                self.escalated.add((hold.name, hold.since))
            case d.WakeOpened():
                assert decision.message not in self.opened, "a wake opens once"
                self.opened.add(decision.message)
            case d.WakeClosed():
                assert decision.message in self.opened
                assert decision.message not in self.closed, "a wake ends once"
                self.closed.add(decision.message)
            case d.FinalCheck():
                for message in decision.messages:
                    assert message not in self.checked, "one final check for each row"
                    assert message in self.opened - self.closed
                    self.checked.add(message)
                self.on_its_way[decision.number] = (decision.role, self.now)
            case d.RecoveryDelivered():
                self.on_its_way[decision.number] = (decision.role, self.now)
            case d.RecoveryMarked():
                assert decision.message not in self.recovered, "an id is marked once"
                self.recovered.add(decision.message)
            case _:
                pass

    def _nudge(self, nudge: d.Nudge) -> None:
        assert set(self.roles.values()) <= {"idle", "gone"}, "no nudge while a role is busy or unknown"
        assert self.roles[nudge.role] == "idle", "no nudge to a role that is gone"
        assert not self.told_by_rung, "no nudge after rung 3 without a human act"
        assert nudge.rung == self.rung + 1
        for role, when in self.on_its_way.values():
            assert role != nudge.role or self.now - when >= INJECTED_S, "no second text into one turn"
        if nudge.redelivers is not None:
            assert self.debts[nudge.redelivers].to == nudge.role
            assert nudge.redelivers == next(iter(self.debts)), "the oldest debt"
