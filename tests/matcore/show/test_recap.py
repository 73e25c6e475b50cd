"""The morning page: what goes on, goes on; what has ended, has ended."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from matcore.engine.journal import NewEntry
from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S, supervised


def recap(mat: Mat, since: str = "8h") -> dict[str, Any]:
    [found] = json.loads(mat("recap", "duo", "--since", since, "--json")[1])["sessions"]
    return dict(found)


def test_the_goal_of_an_ended_session_ended_with_it(mat: Mat, tell: Tell) -> None:
    """Its time does not go on, and nothing of it waits for you."""
    told = tell(ago=3 * WINDOW_S + 4000).stalled(3)
    told.fact("question.asked", question="q-1", role="dev", text="so?").ended()
    seen, out = recap(mat), mat("recap", "duo")[1]
    [cycle], [stall] = seen["cycles"], seen["stalls"]
    assert (cycle["outcome"], cycle["ended"]) == ("cut off", pytest.approx(told.now))
    assert stall["closed"] == pytest.approx(told.now)
    assert stall["still_s"] < 3 * WINDOW_S + 10
    assert seen["waits"] == []
    assert "cycle c1: cut off by the session's end at " in out
    assert "31m" in out
    assert "open until the session's end" in out
    assert "waits for you" not in out
    assert "still open" not in out


def test_what_ended_before_that_time_is_not_of_that_time(mat: Mat, tell: Tell) -> None:
    """An ended session's goal that was open at its end was not open since."""
    tell(ago=9 * 3600).stalled(1).ended()
    seen = recap(mat)
    assert (seen["cycles"], seen["stalls"]) == ([], [])


def test_what_goes_on_counts_until_now(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """The open goal of a session that is watched, with its open stall."""
    tell(ago=WINDOW_S + 700).stalled(1)
    with supervised(state, "duo"):
        seen = recap(mat)
    assert seen["cycles"][0]["outcome"] == "open"
    assert seen["stalls"][0]["closed"] is None
    assert seen["stalls"][0]["still_s"] == pytest.approx(WINDOW_S + 635, abs=30)


def test_episodes_of_an_ended_session_end_with_it(mat: Mat, tell: Tell) -> None:
    """The open one lasted until then, and is not open still."""
    told = tell(ago=3 * WINDOW_S + 4000).stalled(2).ended()
    out = mat("episodes", "duo")[1]
    assert "still open" not in out
    assert "session's end" in " ".join(out.split())
    assert "10m" in out
    [row] = [json.loads(line) for line in mat("episodes", "duo", "--json")[1].splitlines()]
    assert (row["by"], row["closed"]) == ("session", pytest.approx(told.now))
    assert time.time() - told.now > 4000


def test_a_stall_that_was_set_back_says_all_that_was_done(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """The nudges and notifications of all of it, and of the rungs those used since the human acted; the page of the
    morning says the same, also of how long it lasted."""
    told = tell(ago=3 * WINDOW_S + 4000).stalled(3)
    told.fact("human.acted").fact("turn.ended", 5, role="dev", outcome="ok", evidence="hook")
    [row] = [json.loads(line) for line in mat("episodes", "duo", "--json")[1].splitlines()]
    assert (row["nudges"], row["times_told"], row["rungs"], row["rearmed"]) == (2, 1, 0, 1)
    told.fact("relay.sent", 10, id="r-000002", from_="review", to="dev", kind="request", seq=2)
    out = mat("episodes", "duo")[1]
    with supervised(state, "duo"):
        page = mat("recap", "duo")[1]
    assert "2 once 0 of 3" in " ".join(out.split())
    assert "since the human acted" in out
    lasted = out.splitlines()[3].split("handoff")[1].strip()
    assert f"you were told; lasted {lasted} after 10m of quiet, 2 nudges" in page


def test_a_question_that_waits_is_on_the_page_once(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """With its command; that it was told is said once it is answered."""
    told = tell(ago=300).working().fact("question.asked", question="q-1", role="dev", text="Postgres?")
    about: dict[str, Any] = {"kind": "question", "action": True, "text": "duo: dev asks you:\nPostgres?\nAnswer: x"}
    told.note("engine.telling", notice="n9", cause={"question": "q-1"}, **about)
    told.note("engine.told", notice="n9", ok=True)
    with supervised(state, "duo"):
        before = mat("recap", "duo")[1]
        told.fact("question.answered", 5, question="q-1", relay="r-000002")
        after = mat("recap", "duo")[1]
    assert before.count("Postgres?") == after.count("Postgres?") == 1
    assert 'mat answer duo "TEXT"' in before
    assert "dev asks you: Postgres?" in after


@pytest.mark.parametrize("columns", ["40", "60", "100"])
def test_episodes_can_be_read_at_any_width(mat: Mat, tell: Tell, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    """No word is cut in two, and no line is longer than the terminal."""
    monkeypatch.setenv("COLUMNS", columns)
    tell(ago=3 * WINDOW_S + 4000).stalled(2)
    out = mat("episodes", "duo")[1]
    assert max(map(len, out.splitlines())) <= int(columns)
    for words in ("review", "(r-000001)", "2 of 3", "still open"):
        assert words in " ".join(out.split())


def test_a_journal_that_cannot_be_read_hides_no_other(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Damaged, or of a newer mat: it waits for you on the page, with what to do, and the others are told."""
    tell("good", ago=60).working()
    told = tell("newer", ago=60)
    told.book.journal.append([NewEntry(told.now, told.now, "engine", "engine.up", {"surprise": True})])
    state.session("torn").mkdir()
    state.journal("torn").write_bytes(b"no database" * 999)
    with supervised(state, "good"):
        code, out, _ = mat("recap")
    assert code == 0
    assert "cycle c1: open" in out
    assert "mat verify torn" in out
    assert "mat verify newer" in out
    assert "can't follow its entries" in out


def test_a_question_of_mat_is_not_an_agents(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """mat asks about the rounds; the role that gets the answer asks nothing."""
    tell(ago=60).working().fact(
        "question.asked", question="rounds-c1-1", role="review", text="Cycle c1 has had 30 rounds.", by="mat"
    )
    with supervised(state, "duo"):
        said = {command: " ".join(mat(command, "duo")[1].split()) for command in ("status", "why", "recap")}
        shot = json.loads(mat("status", "--json")[1])["sessions"][0]
    for command, words in said.items():
        assert "mat asks you about review" in words, command
        assert "review asks you" not in words.replace("mat asks you about review", ""), command
        assert 'mat answer duo "TEXT"' in words, command
    assert shot["needs"] == "mat asks you about review"
    assert shot["questions"][0]["by_mat"] is True
