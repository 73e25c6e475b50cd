"""Folds a journal again and compares: is every entry as it was written, and does each fact lead to those decisions?"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from matcore.engine.journal import Entry, Journal
from matcore.rules import decisions, records
from matcore.rules.session import initial, step

TELL_EVERY = 50_000


class Verdict(msgspec.Struct):
    """`seq` and `difference` are of the first difference, None where there is none. `expected` is what this mat decides
    there, `found` what stands there. `kind`: `chain` (an entry is not as it was written) or `decision`."""

    session: str
    rules: str
    entries: int
    facts: int
    decisions: int
    holds: bool
    kind: str | None = None
    seq: int | None = None
    difference: str | None = None
    expected: dict[str, Any] | None = None
    found: dict[str, Any] | None = None


def verify(journal: Journal, tell: Callable[[int], None] = lambda _seq: None) -> Verdict:
    """The chain of digests first, for of a changed entry nothing follows. `tell` hears now and then how far it is."""
    verdict = Verdict(journal.session, journal.rules, journal.last_seq, 0, 0, holds=True)
    broken = journal.verify_chain()
    if broken is not None:
        return _differs(verdict, broken.seq, "chain", f"entry {broken.seq}: {broken.reason}")
    return _replayed(journal.entries(before=verdict.entries + 1), verdict, tell)


def _replayed(entries: Iterable[Entry], verdict: Verdict, tell: Callable[[int], None]) -> Verdict:
    state = initial()
    due: deque[dict[str, Any]] = deque()
    for entry in entries:
        if entry.seq % TELL_EVERY == 0:
            tell(entry.seq)
        if entry.kind == "decision":
            verdict.decisions += 1
            found = {**entry.data, "event": entry.name, "at": entry.at}
            expected = due.popleft() if due else None
            if expected != found:
                return _decided_otherwise(verdict, entry.seq, expected, found)
        elif entry.kind == "fact":
            if due:
                return _decided_otherwise(verdict, entry.seq, due[0], None)
            verdict.facts += 1
            try:
                fact = records.parse({**entry.data, "fact": entry.name, "at": entry.at})
            except records.FactError as error:
                return _differs(verdict, entry.seq, "decision", f"entry {entry.seq} is no fact: {error}")
            state, decided = step(state, fact)
            due.extend(decisions.record(decision) for decision in decided)
    if due:
        return _decided_otherwise(verdict, verdict.entries + 1, due[0], None)
    return verdict


def _decided_otherwise(
    verdict: Verdict, seq: int, expected: dict[str, Any] | None, found: dict[str, Any] | None
) -> Verdict:
    verdict.expected, verdict.found = expected, found
    return _differs(verdict, seq, "decision", f"entry {seq} is not what these rules decide")


def _differs(verdict: Verdict, seq: int, kind: str, difference: str) -> Verdict:
    verdict.holds, verdict.seq, verdict.kind, verdict.difference = False, seq, kind, difference
    return verdict
