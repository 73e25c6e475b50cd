"""A session's journal together with the two states that are folded from it: the core's and the ledger.

Live, restarted and read-only use are the same fold. A fact and the decisions that it leads to are one transaction:
nothing is carried out before both are on disk, and no crash can part them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from matcore.engine.journal import Entry, Journal, NewEntry
from matcore.engine.ledger import Ledger
from matcore.rules import decisions as d
from matcore.rules import facts
from matcore.rules.session import State, initial, next_deadline, step

CHECKPOINT_EVERY = 1000
RULES_VERSION = "1"
"""Changed whenever the rules or the ledger would fold the same entries to another state."""


class _Checkpoint(msgspec.Struct):
    state: State
    ledger: Ledger


class Book:
    """Owned by one thread. `state` and `ledger` are always those of the last entry of the journal."""

    def __init__(self, journal: Journal, *, until: int | None = None) -> None:
        """`until`: fold no further than that entry, to see a session as it was."""
        self.journal = journal
        self.state: State = initial()
        self.ledger = Ledger()
        self.at = 0.0
        self._since_checkpoint = 0
        self._fold(until)

    @classmethod
    def read(cls, path: Path, *, at: float | None = None) -> Book:
        """Read-only, beside a living supervisor or without one, now or as it was at a time of the journal.

        Raises `JournalDamaged` (`Unavailable`).
        """
        journal = Journal.read(path)
        return cls(journal, until=None if at is None else journal.seq_at(at))

    def take(
        self, at: float, wall: float, name: str, fields: Mapping[str, Any], *, source: str | None = None
    ) -> tuple[d.Decision, ...]:
        """Journal a fact, decide upon it, journal what was decided. Raises `FactError` when it is no such fact.

        Keys of `fields` that the fact does not have (evidence, paths) are kept in the journal and change nothing. When
        the core itself fails the fact is on disk all the same: it is what a report needs.
        """
        fact = facts.parse({**fields, "fact": name, "at": at})
        entry = NewEntry(kind="fact", name=name, at=at, wall=wall, data=dict(fields), source=source)
        try:
            state, decided = step(self.state, fact)
        except Exception:
            self._write([entry])
            raise
        records = [_decision_entry(decision, wall) for decision in decided]
        self._write([entry, *records])
        self.state = state
        return decided

    def reach(self, at: float, wall: float) -> tuple[d.Decision, ...]:
        """Let the core look at the clock. Journalled when it led to a decision, and otherwise without a trace."""
        state, decided = step(self.state, facts.parse({"fact": "clock.reached", "at": at}))
        if decided:
            entry = NewEntry(kind="fact", name="clock.reached", at=at, wall=wall, data={}, source=None)
            self._write([entry, *(_decision_entry(decision, wall) for decision in decided)])
        self.state = state
        return decided

    def note(self, at: float, wall: float, name: str, data: Mapping[str, Any], *, source: str | None = None) -> None:
        """Journal something that the engine did or saw by itself; the core does not hear of it."""
        self._write([NewEntry(kind="engine", name=name, at=at, wall=wall, data=dict(data), source=source)])

    def deadline(self) -> float | None:
        """The next time at which the core may want to act."""
        return next_deadline(self.state)

    def checkpoint(self, *, at_least: int = 1) -> None:
        """Save both states, so that the next start need not read all; only when that many entries came since."""
        if self._since_checkpoint >= at_least:
            data = msgspec.json.encode(_Checkpoint(self.state, self.ledger))
            self.journal.checkpoint(self.seq, self.at, data)
            self._since_checkpoint = 0

    def close(self) -> None:
        self.journal.close()

    def _write(self, entries: list[NewEntry]) -> None:
        for entry in self.journal.append(entries):
            self._apply(entry)

    def _apply(self, entry: Entry) -> None:
        self.ledger.apply(entry.name, entry.at, entry.data)
        self.at = max(self.at, entry.at)
        self.seq = entry.seq
        self._since_checkpoint += 1

    def _fold(self, until: int | None) -> None:
        self.seq = 0
        before = None if until is None else until + 1
        saved = self.journal.latest_checkpoint(rules=RULES_VERSION, before=before)
        if saved is not None:
            checkpoint = msgspec.json.decode(saved.state, type=_Checkpoint)
            self.state, self.ledger = checkpoint.state, checkpoint.ledger
            self.seq, self.at = saved.seq, saved.at
        self._replay(self.journal.entries(after=self.seq, before=before))

    def _replay(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if entry.kind == "fact":
                self.state, _ = step(self.state, facts.parse({**entry.data, "fact": entry.name, "at": entry.at}))
            self._apply(entry)


def _decision_entry(decision: d.Decision, wall: float) -> NewEntry:
    record = d.record(decision)
    name, at = str(record.pop("event")), float(str(record.pop("at")))
    return NewEntry(kind="decision", name=name, at=at, wall=wall, data=record, source=None)
