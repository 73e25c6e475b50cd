"""A journal that is a list: what the book needs of one, without a disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from matcore.engine.checkpoints import Checkpoint
from matcore.engine.journal import Entry, Journal, NewEntry


class MemoryJournal:
    """`rules` is the version that its checkpoints are of."""

    def __init__(self, rules: str) -> None:
        self.rules = rules
        self.list: list[Entry] = []
        self.checkpoints: list[Checkpoint] = []

    def append(self, new: Sequence[NewEntry]) -> list[Entry]:
        first = len(self.list) + 1
        added = [
            Entry(seq, e.at, e.wall, e.kind, e.name, e.data, e.source, "") for seq, e in enumerate(new, first)
        ]  # fmt: skip
        self.list += added
        return added

    def entries(self, *, after: int = 0, before: int | None = None, **_: Any) -> Iterator[Entry]:
        return iter(self.list[after : None if before is None else before - 1])

    def checkpoint(self, seq: int, at: float, state: bytes) -> None:
        self.checkpoints.append(Checkpoint(seq, at, self.rules, state))

    def latest_checkpoint(self, *, rules: str | None = None, before: int | None = None) -> Checkpoint | None:
        fit = [c for c in self.checkpoints if c.rules == (rules or self.rules) and (before is None or c.seq < before)]
        return fit[-1] if fit else None

    def close(self) -> None:
        """Nothing is open."""

    @property
    def as_journal(self) -> Journal:
        return cast("Journal", self)
