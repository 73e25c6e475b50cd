"""`mat verify`: whether a journal is as it was written, and whether these rules decide the same again."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

from matcore.engine.journal import NewEntry
from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S


def test_a_whole_journal_holds(mat: Mat, tell: Tell, state: StatePlaces, tmp_path: Path) -> None:
    """By the session's name, or as a file that somebody sent."""
    tell(ago=5 * WINDOW_S).stalled(3)
    code, out, _ = mat("verify", "duo")
    assert code == 0
    assert "lead to the same" in out
    shutil.copy(state.journal("duo"), tmp_path / "sent.db")
    shutil.copy(f"{state.journal('duo')}-wal", tmp_path / "sent.db-wal")
    verdict = json.loads(mat("verify", str(tmp_path / "sent.db"), "--json")[1])
    assert verdict["holds"]
    assert verdict["decisions"] > 5


def test_an_entry_that_was_changed_is_found(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Exit 1, and which."""
    told = tell(ago=5 * WINDOW_S).stalled()
    told.close()
    with sqlite3.connect(state.journal("duo")) as db:
        db.execute("DROP TRIGGER entries_are_not_changed")
        db.execute("UPDATE entries SET data = replace(data, '}', ', \"x\": 1}') WHERE seq = 7")
    db.close()
    code, out, _ = mat("verify", "duo")
    assert code == 1
    assert "entry 7" in out
    verdict = json.loads(mat("verify", "duo", "--json")[1])
    assert (verdict["kind"], verdict["seq"], verdict["holds"]) == ("chain", 7, False)


def test_a_decision_that_these_rules_do_not_make_is_found(mat: Mat, tell: Tell) -> None:
    """Both are shown: what is decided now, and what stands there."""
    told = tell(ago=5 * WINDOW_S).working()
    nudge = {"number": 99, "episode": 1, "rung": 1, "role": "dev", "redelivers": None}
    told.book.journal.append([NewEntry(told.now, told.now, "decision", "nudge", nudge)])
    code, out, _ = mat("verify", "duo")
    assert code == 1
    assert "decided now:  nothing" in out
    assert '"number":99' in out


def test_a_decision_that_is_missing_is_found(mat: Mat, tell: Tell) -> None:
    """A fact that should have led to one, and did not."""
    told = tell(ago=5 * WINDOW_S).working()
    at = told.now + 1
    told.book.journal.append([NewEntry(at, at, "fact", "cycle.completed", {"cycle": "c1", "by": "dev"})])
    verdict = json.loads(mat("verify", "duo", "--json")[1])
    assert verdict["kind"] == "decision"
    assert verdict["expected"]["event"]
    assert verdict["found"] is None


def test_what_is_no_fact_is_found(mat: Mat, tell: Tell) -> None:
    """It is named with its entry."""
    told = tell()
    told.book.journal.append([NewEntry(told.now, told.now, "fact", "role.sleepy", {})])
    code, out, _ = mat("verify", "duo")
    assert code == 1
    assert "is no fact" in out


def test_what_is_no_journal_is_not_available(mat: Mat, tmp_path: Path) -> None:
    """Exit 3 for a file that is none, 1 for a name that nobody has."""
    (tmp_path / "no.db").write_bytes(b"nothing" * 1000)
    assert mat("verify", str(tmp_path / "no.db"))[0] == 3
    assert mat("verify", "nobody")[0] == 1
