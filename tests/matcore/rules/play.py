"""A session of the core in virtual time, for tests: say what happens when, read what was decided."""

from __future__ import annotations

from collections.abc import Callable

from matcore.rules import decisions, policy, records, session
from matcore.rules.decisions import Decision
from matcore.rules.facts import ClockReached, EffectEnded, Fact, SessionConfigured


def succeeds(_decision: Decision) -> bool | None:
    return True


def never_ends(_decision: Decision) -> bool | None:
    return None


class Play:
    """`ends` says for each effect whether it succeeds at once, fails at once, or has no outcome yet (None)."""

    def __init__(
        self,
        *roles: str,
        ends: Callable[[Decision], bool | None] = succeeds,
        **numbers: float,
    ) -> None:
        self.state = session.initial()
        self.ends = ends
        self.facts: list[Fact] = []
        self.decided: list[Decision] = []
        self._read = 0
        self.feed(SessionConfigured(0, roles or ("dev", "review"), policy.parse(numbers)))

    def feed(self, fact: Fact) -> None:
        """Take this one fact in, with the outcomes of what it leads to."""
        self.facts.append(fact)
        self.state, decided = session.step(self.state, fact)
        self.decided += decided
        for decision in decided:
            ended = self.ends(decision) if type(decision) in decisions.AWAITED else None
            if ended is not None:
                self.feed(EffectEnded(decision.at, decision.number, ended))

    def at(self, at: float, fact: str, **fields: object) -> Play:
        """Let the clock run up to before `at`, then feed this fact. `sender` stands for `from`."""
        self._clocks(lambda moment: moment < at)
        if "sender" in fields:
            fields["from"] = fields.pop("sender")
        self.feed(records.parse({"at": at, "fact": fact, **fields}))
        return self

    def until(self, at: float) -> Play:
        """Let the clock run up to and including `at`."""
        self._clocks(lambda moment: moment <= at)
        return self

    def quiet_cycle(self, at: float = 0, cycle: str = "c1") -> Play:
        """A cycle opens and every role is idle."""
        self.at(at, "cycle.opened", cycle=cycle)
        for role in self.state.roles:
            self.at(at, "role.idle", role=role.name)
        return self

    def handoff(self, at: float, relay: str, sender: str, to: str) -> Play:
        """Sent and delivered at the same instant."""
        self.at(at, "relay.sent", id=relay, sender=sender, to=to)
        return self.at(at, "relay.delivered", id=relay)

    def new(self, *events: str) -> list[dict[str, object]]:
        """What was decided since the last call, without the numbers; of these events only, if any are named."""
        fresh = [decisions.record(decision) for decision in self.decided[self._read :]]
        self._read = len(self.decided)
        for record in fresh:
            del record["number"]
        return [record for record in fresh if not events or record["event"] in events]

    def brief(self, *events: str) -> list[str]:
        """The same as one line each: time, event and the values that are there."""
        return [
            " ".join([f"{record.pop('at'):g}", *(_brief(value) for value in record.values() if value is not None)])
            for record in self.new(*events)
        ]

    def number(self, event: str) -> int:
        """The number of the latest decision of this event."""
        return next(each.number for each in reversed(self.decided) if decisions.EVENTS[type(each)] == event)

    def _clocks(self, includes: Callable[[float], bool]) -> None:
        while (moment := session.next_deadline(self.state)) is not None and includes(moment):
            self.feed(ClockReached(moment))


def _brief(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
