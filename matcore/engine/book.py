"""A session's journal together with the two states that are folded from it: the core's and the ledger.

Live, restarted and read-only use are the same fold. What belongs together (an outcome and the facts that it means, a
fact and the decisions that it leads to) is one transaction: nothing is carried out before all of it is on disk, and
no crash can part it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from matcore.engine import folding
from matcore.engine.journal import Entry, Journal, JournalFull, JournalUnusable, NewEntry
from matcore.engine.ledger import Ledger
from matcore.rules import decisions as d
from matcore.rules import facts, records
from matcore.rules.moments import seconds
from matcore.rules.session import State, initial, next_deadline, step

CHECKPOINT_EVERY = 100
"""A restart reads no more than this many entries of each session."""
RULES_VERSION = "4"
"""Changed whenever the rules or the ledger would fold the same entries to another state."""


@dataclass(frozen=True, slots=True)
class Fact:
    """To be journalled and decided upon. `source` is the id of the spool record that it came from."""

    name: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something that the engine did or saw by itself, to be journalled; the core does not hear of it."""

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None


Item = Fact | Note


class _Checkpoint(msgspec.Struct):
    state: State
    ledger: Ledger


class Book:
    """Owned by one thread. `state` and `ledger` are always those of the last entry of the journal.

    `make_room` is called when the disk is full; where it returns True, the entries are appended once more.
    """

    def __init__(self, journal: Journal, *, until: int | None = None) -> None:
        """`until`: fold no further than that entry, to see a session as it was."""
        self.journal = journal
        self.make_room: Callable[[], bool] = lambda: False
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

    @property
    def now(self) -> float:
        """The latest moment that the core knows of: what is said of an earlier one counts as of then."""
        return max(self.at, seconds(self.state.now_us))

    def write(self, at: float, wall: float, items: Sequence[Item]) -> tuple[d.Decision, ...]:
        """Journal all of it or nothing, with what was decided upon its facts. Raises `FactError` for what is none.

        Keys of a fact's `fields` that it does not have (evidence, paths) are kept in the journal and change nothing.
        When the core itself fails the entries are on disk all the same: they are what a report needs.
        """
        at = max(at, self.now)
        parsed = [
            records.parse({**item.fields, "fact": item.name, "at": at}) if isinstance(item, Fact) else None
            for item in items
        ]
        state, entries, decided = self.state, list[NewEntry](), list[d.Decision]()
        for item, fact in zip(items, parsed, strict=True):
            if isinstance(item, Note):
                entries.append(NewEntry(at, wall, "engine", item.name, dict(item.data), item.source))
                continue
            entries.append(NewEntry(at, wall, "fact", item.name, dict(item.fields), item.source))
            try:
                state, now = step(state, fact) if fact is not None else (state, ())
            except Exception:
                self._write(entries)
                raise
            entries += [_decision_entry(decision, wall) for decision in now]
            decided += now
        self._write(entries)
        self.state = state
        return tuple(decided)

    def take(
        self, at: float, wall: float, name: str, fields: Mapping[str, Any], *, source: str | None = None
    ) -> tuple[d.Decision, ...]:
        """`write` for one fact."""
        return self.write(at, wall, [Fact(name, fields, source)])

    def note(self, at: float, wall: float, name: str, data: Mapping[str, Any], *, source: str | None = None) -> None:
        """`write` for one note."""
        self.write(at, wall, [Note(name, data, source)])

    def reach(self, at: float, wall: float) -> tuple[d.Decision, ...]:
        """Let the core look at the clock. It is journalled where a decision came of it, or a state that the facts alone
        would not lead to, so that the journal, fed back, decides the same for ever after."""
        at = max(at, self.now)
        state, decided = step(self.state, facts.ClockReached(at))
        if decided or _settled(state, at) != _settled(self.state, at):
            entry = NewEntry(at, wall, "fact", "clock.reached", {}, None)
            self._write([entry, *(_decision_entry(decision, wall) for decision in decided)])
        self.state = state
        return decided

    def deadline(self) -> float | None:
        """The next time at which the core may want to act."""
        return next_deadline(self.state)

    def checkpoint(self, *, at_least: int = 1) -> None:
        """Save both states, so that the next start need not read all; only when that many entries came since.

        A disk in trouble costs the checkpoint and nothing else.
        """
        if self._since_checkpoint >= at_least:
            data = msgspec.json.encode(_Checkpoint(self.state, self.ledger))
            with contextlib.suppress(JournalUnusable):
                self.journal.checkpoint(self.seq, self.at, data)
                self._since_checkpoint = 0

    def close(self) -> None:
        self.journal.close()

    def _write(self, entries: list[NewEntry]) -> None:
        try:
            written = self.journal.append(entries)
        except JournalFull:
            if not self.make_room():
                raise
            written = self.journal.append(entries)
        for entry in written:
            self._apply(entry)

    def _apply(self, entry: Entry) -> None:
        folding.apply(self.ledger, entry.name, entry.at, entry.data)
        self.at = max(self.at, entry.at)
        self.seq = entry.seq
        self._since_checkpoint += 1

    def _fold(self, until: int | None) -> None:
        self.seq = 0
        before = None if until is None else until + 1
        saved = self.journal.latest_checkpoint(rules=RULES_VERSION, before=before)
        if saved is not None:
            # One that this version can't read is no harm: the entries say it all.
            with contextlib.suppress(msgspec.MsgspecError):
                checkpoint = msgspec.json.decode(saved.state, type=_Checkpoint)
                self.state, self.ledger = checkpoint.state, checkpoint.ledger
                self.seq, self.at = saved.seq, saved.at
        self._replay(self.journal.entries(after=self.seq, before=before))

    def _replay(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if entry.kind == "fact":
                self.state, _ = step(self.state, records.parse({**entry.data, "fact": entry.name, "at": entry.at}))
            self._apply(entry)


def _settled(state: State, at: float) -> State:
    """The state once a fact of that moment is in that says nothing."""
    return step(state, facts.RelayAcked(at, "", ""))[0]


def _decision_entry(decision: d.Decision, wall: float) -> NewEntry:
    record = d.record(decision)
    name, at = str(record.pop("event")), float(str(record.pop("at")))
    return NewEntry(kind="decision", name=name, at=at, wall=wall, data=record, source=None)
