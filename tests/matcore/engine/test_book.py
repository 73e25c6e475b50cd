"""The fold: whatever is folded from the journal, from wherever, is what the running supervisor has."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcore.engine import book as book_module
from matcore.engine.book import RULES_VERSION, Book, Fact, Note
from matcore.engine.journal import JournalFull, NewEntry
from matcore.rules import decisions as d
from matcore.rules import facts as f
from matcore.rules import records
from matcore.rules.decisions import Decision
from matcore.rules.session import State, step
from tests.matcore.engine.memory_journal import MemoryJournal
from tests.matcore.rules.happenings import GAPS, MAKERS, SETTINGS, Run
from tests.matcore.rules.writing import written


class BookRun(Run):
    """A random run whose facts go through a book, with looks at the clock at random moments between them."""

    def __init__(self, seed: int) -> None:
        self.journal = MemoryJournal(RULES_VERSION)
        self.book = Book(self.journal.as_journal)
        self.looks = random.Random(seed + 1)
        super().__init__(SETTINGS[seed % len(SETTINGS)], random.Random(seed))

    def feed(self, fact: f.Fact) -> None:
        if isinstance(fact, f.ClockReached):
            decided: Sequence[Decision] = self.book.reach(fact.at, fact.at)
        else:
            record = written(fact)
            fields = {key: value for key, value in record.items() if key not in ("at", "fact")}
            decided = self.book.write(fact.at, fact.at, [Fact(str(record["fact"]), fields)])
        self.state = self.book.state
        for decision in decided:
            if type(decision) in d.AWAITED:
                self._ends(decision)

    def play(self, length: int) -> None:
        at = 0.0
        for _ in range(length):
            gap = self.choice.choice(GAPS)
            if self.looks.random() < 0.5:
                look = at + self.looks.choice((0.0, gap / 2, float(gap)))
                self.run_to(look)
                self.book.reach(look, look)
                self.state = self.book.state
            at += gap
            self.do(at, self.choice.choices([make for _, make in MAKERS], [weight for weight, _ in MAKERS])[0])
            if self.looks.random() < 0.1:
                self.book.checkpoint()


def settled(state: State, at: float) -> State:
    """A state once a fact of that moment is in that says nothing."""
    return step(state, f.RelayAcked(at, "", ""))[0]


def decided(journal: MemoryJournal) -> list[dict[str, object]]:
    return [{**e.data, "event": e.name, "at": e.at} for e in journal.list if e.kind == "decision"]


@given(seed=st.integers(0, 10**6))
def test_the_journal_fed_back_decides_the_same_then_and_later(seed: int) -> None:
    """Looks at the clock that left no trace change nothing: not what was decided, and not the state that decides
    whatever comes next."""
    run = BookRun(seed)
    run.play(60)
    state, again = Book(MemoryJournal("x").as_journal).state, list[dict[str, object]]()
    for entry in run.journal.list:
        if entry.kind == "fact":
            state, now = step(state, records.parse({**entry.data, "fact": entry.name, "at": entry.at}))
            again += [d.record(decision) for decision in now]
    assert again == decided(run.journal)
    assert settled(state, run.book.now) == settled(run.book.state, run.book.now)


@given(seed=st.integers(0, 10**6))
def test_a_fold_from_any_checkpoint_is_the_fold_from_the_start(seed: int) -> None:
    """Core and ledger come out the same whichever checkpoint a start finds, at the end and at every entry between."""
    run = BookRun(seed)
    run.play(50)
    checkpoints, run.journal.checkpoints = run.journal.checkpoints, []
    whole = Book(run.journal.as_journal)
    for checkpoint in checkpoints:
        run.journal.checkpoints = [checkpoint]
        folded = Book(run.journal.as_journal)
        assert folded.ledger == whole.ledger
        at = max(whole.now, folded.now)
        assert settled(folded.state, at) == settled(whole.state, at)
        assert (folded.seq, folded.at) == (whole.seq, whole.at)


def test_a_checkpoint_of_other_rules_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an update the entries are folded anew, from the start; so they are where a checkpoint can't be read."""
    run = BookRun(3)
    run.play(40)
    run.book.checkpoint()
    monkeypatch.setattr(book_module, "RULES_VERSION", "another")
    anew = Book(run.journal.as_journal)
    assert anew.ledger == run.book.ledger
    assert settled(anew.state, run.book.now) == settled(run.book.state, run.book.now)
    monkeypatch.undo()
    last = run.journal.checkpoints[-1]
    run.journal.checkpoint(last.seq, last.at, b'{"state": 7}')
    assert Book(run.journal.as_journal).ledger == run.book.ledger


def test_a_checkpoint_holds_all_that_the_ledger_has() -> None:
    """Encoded and decoded, nothing of a ledger is lost."""
    run = BookRun(11)
    run.play(60)
    ledger = run.book.ledger
    data = msgspec.json.encode(ledger)
    assert msgspec.json.decode(data, type=type(ledger)) == ledger
    assert json.loads(data).keys() == asdict(ledger).keys()


def test_what_belongs_together_is_one_transaction() -> None:
    """Nothing of it is written where one of it is no fact."""
    book = BookRun(0).book
    before = book.seq
    with pytest.raises(records.FactError):
        book.write(1.0, 1.0, [Note("engine.injected", {"job": "x"}), Fact("relay.delivered", {})])
    assert book.seq == before


def test_a_full_disk_is_met_once_more_with_the_room_that_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fact whose append found the disk full is appended after room was made, once; without room it is not taken."""
    run = BookRun(0)
    room: set[str] = set()
    append = run.journal.append

    def full_at_first(new: Sequence[NewEntry]) -> object:
        if not room:
            raise JournalFull.__new__(JournalFull)
        return append(new)

    monkeypatch.setattr(run.journal, "append", full_at_first)
    with pytest.raises(JournalFull):
        run.book.take(5.0, 5.0, "role.idle", {"role": "solo"})
    assert run.book.state == run.state

    def make_room() -> bool:
        room.add("the ballast's")
        return True

    run.book.make_room = make_room
    run.book.take(5.0, 5.0, "role.idle", {"role": "solo"})
    assert [e.name for e in run.journal.list if e.name == "role.idle"] == ["role.idle"]


def test_a_look_that_gave_up_a_rung_is_journalled_though_it_decided_nothing() -> None:
    """An outcome at the very instant after it counts no rung, live as in the fold."""
    journal = MemoryJournal(RULES_VERSION)
    book = Book(journal.as_journal)
    policy = {"window": 100}
    book.take(0.0, 0.0, "session.configured", {"roles": ["dev", "review"], "policy": policy, "rules": RULES_VERSION})
    book.take(0.0, 0.0, "cycle.opened", {"cycle": "c1"})
    for role in ("dev", "review"):
        book.take(0.0, 0.0, "role.idle", {"role": role})
    (nudge,) = [decision for decision in book.reach(100.0, 100.0) if isinstance(decision, d.Nudge)]
    book.take(120.0, 120.0, "role.busy", {"role": "review"})
    assert book.reach(160.0, 160.0) == ()
    book.take(160.0, 160.0, "effect.ended", {"decision": nudge.number, "ok": True})
    again = Book(journal.as_journal)
    assert settled(again.state, 160.0) == settled(book.state, 160.0)
    assert [e.name for e in journal.list if e.name == "clock.reached"] == ["clock.reached"] * 2
