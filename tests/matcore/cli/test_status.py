"""`mat status`: what needs a person is seen first, and nothing that is not known looks well."""

from __future__ import annotations

import json
from typing import Any

import pytest

from matcore.engine.journal import NewEntry
from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S, supervised


def shot(mat: Mat, *words: str) -> dict[str, Any]:
    code, out, _ = mat("status", *words, "--json")
    assert code == 0
    found: list[dict[str, Any]] = json.loads(out)["sessions"]
    return found[0]


def test_without_a_session_it_says_how_to_start_one(mat: Mat) -> None:
    """Exit 0; nothing is wrong with having none."""
    code, out, _ = mat("status")
    assert code == 0
    assert "mat up" in out


def test_who_holds_the_baton_and_what_comes_next(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Baton with relay and since when, roles with their evidence, goal and cycle, the supervisor's heartbeat."""
    tell(ago=120).working()
    with supervised(state, "duo"):
        code, out, _ = mat("status")
    assert code == 0
    for words in ("review for 2m", "r-000001 from dev", "busy", "seen by its hook", "TASK.md is done", "c1"):
        assert words in out
    assert "supervisor watching (pid 4242)" in out


def test_an_episode_with_its_rung_and_the_time_to_the_next_step(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """The rung that was used, and when what happens if nothing moves."""
    tell(ago=WINDOW_S + 70).stalled()
    with supervised(state, "duo"):
        out = mat("status")[1]
        coming = shot(mat)["next"]
    assert "1, rung 1 of 3" in out
    assert "if nothing moves: in 9m" in out
    assert "dev is nudged (rung 2)" in out
    assert coming["decision"]["rung"] == 2


def test_after_the_last_rung_it_says_that_nothing_more_is_tried(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """And the session counts among those that need somebody."""
    tell(ago=3 * WINDOW_S + 100).stalled(3)
    with supervised(state, "duo"):
        assert "nothing more is tried until somebody acts" in mat("status")[1]
        assert shot(mat)["needs"] == "it stands still, and waking did not help"


def test_a_gate_with_its_reason_and_the_time_to_its_escalation(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Until it has added up three windows."""
    told = tell(ago=2 * WINDOW_S).working()
    told.fact("role.idle", role="review")
    told.fact("gate.raised", gate="copy-mode", role="dev", evidence="pane_in_mode")
    told.pass_time(1.5 * WINDOW_S)
    with supervised(state, "duo"):
        out = mat("status")[1]
        gate = shot(mat)["gates"][0]
    assert "copy-mode/dev for 19m 5" in out
    assert "you are told in" in out
    assert "(pane_in_mode)" in out
    assert gate["escalates_at"] is not None


def test_what_was_not_delivered_stands_on_top(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """NOT DELIVERED, with what the channel said, before the baton."""
    told = tell(ago=120).working()
    told.note("engine.telling", notice="n1", kind="notify-user", action=True, text="look here\nmore")
    told.note("engine.told", notice="n1", ok=False, said="timeout")
    with supervised(state, "duo"):
        out = mat("status")[1]
        assert shot(mat)["needs"] == "a notification did not reach you"
    assert out.index("NOT DELIVERED") < out.index("baton")
    assert "has not reached you (timeout): look here" in " ".join(out.replace("│", " ").split())


def test_relays_that_did_not_arrive_are_shown(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Pending, unconfirmed and undeliverable ones, each in words."""
    told = tell(ago=120).working()
    for number, name in ((2, "pending"), (3, "relay.delivered"), (4, "relay.undeliverable")):
        told.fact("relay.sent", id=f"r-{number:06d}", from_="dev", to="review", kind="fyi", seq=number)
        if name != "pending":
            told.fact(name, id=f"r-{number:06d}", **({"confirmed": False} if number == 3 else {}))
    with supervised(state, "duo"):
        out = mat("status")[1]
    assert "r-000002 from dev to review" in out
    assert "not delivered yet" in out
    assert "it is not typed again" in " ".join(out.replace("│", " ").split())
    assert "UNDELIVERABLE" in out


def test_a_question_says_how_to_answer_it(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """By `mat answer`, or by attaching where it is a dialog."""
    told = tell(ago=60).working()
    told.fact("question.asked", question="q-1", role="dev", text="drop 3.10?")
    with supervised(state, "duo"):
        assert 'mat answer duo "TEXT"' in mat("status")[1]
    told.fact("question.asked", question="q-2", role="dev", text="menu", dialog=True)
    with supervised(state, "duo"):
        assert "mat attach duo dev" in mat("status")[1]


@pytest.mark.parametrize(
    ("age_s", "words", "kind"),
    [(0.4, "supervisor watching", "watched"), (60.0, "supervisor HANGS (pid 4242): heartbeat 1m ago", "hangs")],
)
def test_a_stale_heartbeat_is_never_a_green_one(
    mat: Mat, tell: Tell, state: StatePlaces, age_s: float, words: str, kind: str
) -> None:
    """It is said on top, and each session says it of itself."""
    tell(ago=120).working()
    with supervised(state, "duo", age_s=age_s):
        out = mat("status")[1]
        seen = shot(mat)
    assert words in out
    assert seen["state"] == kind
    assert (seen["next"] is None) == (kind == "hangs") or seen["next"] is None
    if kind == "hangs":
        assert out.index("HANGS") < out.index("baton")


def test_without_a_supervisor_nobody_watches(mat: Mat, tell: Tell) -> None:
    """NOT RUNNING and NOT WATCHED, with the command that starts it; no time adds up."""
    tell(ago=3600).stalled(0.5)
    out = mat("status")[1]
    assert "supervisor NOT RUNNING" in out
    assert "NOT WATCHED" in out
    assert "mat up" in out
    seen = shot(mat)
    assert seen["state"] == "unwatched"
    assert seen["quiet_s"] < WINDOW_S
    assert seen["next"] is None


def test_a_session_that_the_supervisor_does_not_watch_says_so(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """A living supervisor may have failed to open one of them."""
    tell(ago=120).working()
    with supervised(state, "another"):
        assert shot(mat)["state"] == "unwatched"


def test_a_journal_that_cannot_be_read_hides_no_other(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """It is shown as such, exit code 0; of several sessions those that need somebody are named first."""
    tell("good", ago=60).working()
    state.session("torn").mkdir()
    state.journal("torn").write_bytes(b"no database" * 999)
    with supervised(state, "good"):
        code, out, _ = mat("status")
        seen = shot(mat, "torn")
    assert code == 0
    assert "1 of 2 sessions need you" in out
    assert "torn: its journal can't be read" in out
    assert "UNREADABLE" in out
    assert "TASK.md is done" in out
    assert seen["state"] == "unreadable"
    assert "damaged" in seen["fault"]


def test_entries_that_this_mat_cannot_follow_are_that_sessions_own(mat: Mat, tell: Tell) -> None:
    """A journal of a newer mat, say: the others are shown all the same."""
    tell("good", ago=60).working()
    told = tell("newer", ago=60)
    told.book.journal.append([NewEntry(told.now, told.now, "engine", "engine.up", {"surprise": True})])
    code, out, _ = mat("status")
    assert code == 0
    assert "can't follow its entries" in " ".join(out.replace("│", " ").split())
    assert "good" in out


def test_ended_sessions_are_shown_when_named(mat: Mat, tell: Tell) -> None:
    """Or with --all, and not otherwise."""
    tell().working().ended()
    assert "No session is up" in mat("status")[1]
    for words in (("duo",), ("--all",)):
        assert "has ended" in mat("status", *words)[1]


def test_a_live_view_needs_a_terminal(mat: Mat) -> None:
    """Exit 2 and what to use instead."""
    code, out, err = mat("status", "--watch")
    assert (code, out) == (2, "")
    assert "--json --watch" in err


@pytest.mark.parametrize("columns", ["30", "40", "300"])
def test_every_width_shows_everything(
    mat: Mat, tell: Tell, state: StatePlaces, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    """Nothing is cut off on a narrow terminal, and no line is longer than it."""
    monkeypatch.setenv("COLUMNS", columns)
    tell(ago=WINDOW_S + 70).stalled()
    with supervised(state, "duo"):
        out = mat("status")[1]
    assert max(map(len, out.splitlines())) <= int(columns)
    assert "r-000001" in out.replace("│", "").replace("\n", "").replace(" ", "")
