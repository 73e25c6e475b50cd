"""A dialog on an agent's screen: it is said that one stands there, of which kind, since when, and how to answer it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import Told, supervised


def standing(told: Told, evidence: str, gate: str = "dialog") -> Told:
    """As the driver tells of a dialog: a gate, and a role whose state nobody knows."""
    told.working().fact("gate.raised", 60, gate=gate, role="review", evidence="screen")
    return told.fact("role.unknown", role="review", evidence=evidence)


def asked(told: Told, text: str = "") -> Told:
    """One that stands for half a minute is put as a question, in place of its gate."""
    standing(told, "hook: permission dialog")
    told.fact("question.asked", 30, question="dialog-review-1.0", role="review", dialog=True, text=text)
    return told.fact("gate.cleared", gate="dialog", role="review", evidence="question")


def words(mat: Mat, *command: str) -> str:
    return " ".join(mat(*command)[1].replace("│", " ").split())


def shot(mat: Mat) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(mat("status", "--json")[1])["sessions"][0]
    return found


def test_it_is_foretold_when_a_dialog_is_put_as_a_question(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """That is the next that is told, by the driver's time and not the ladder's, and then no gate of it is left."""
    told = standing(tell(ago=80), "hook: permission dialog").pass_time(10)
    with supervised(state, "duo"):
        coming = shot(mat)["next"]
    asked_at = told.fact("question.asked", 20, question="dialog-review-1", role="review", dialog=True).now
    [decided] = told.book.journal.tail(1, names=["notify"])
    assert coming["decision"]["kind"] == decided.data["kind"] == "question"
    assert coming["at"] == pytest.approx(asked_at, abs=5)


@pytest.mark.parametrize(
    ("evidence", "gate", "kind", "said"),
    [
        ("screen: trust dialog", "dialog", "trust", "A trust dialog"),
        ("screen: login dialog", "login", "login", "A login dialog"),
        ("screen: other dialog", "dialog", "other", "A dialog"),
        ("title: permission dialog", "dialog", "permission", "A permission dialog"),
        ("screen", "login", "login", "A login dialog"),
    ],
)
def test_a_dialog_is_not_merely_unknown(
    mat: Mat, tell: Tell, state: StatePlaces, evidence: str, gate: str, kind: str, said: str
) -> None:
    """It comes first, with its kind, since when it stands, and the command that answers it."""
    standing(tell(ago=200), evidence, gate)
    with supervised(state, "duo"):
        status, why, seen = words(mat, "status"), words(mat, "why"), shot(mat)
    assert f"DIALOG {said} has stood on review's screen for 2m " in status
    assert status.index("DIALOG") < status.index("baton")
    assert "review at a dialog 2m " in status
    assert why.startswith(f"{said} has stood on review's screen for 2m ")
    assert "could not be made out" not in why
    assert "mat attach duo review" in status
    assert [role["dialog"] for role in seen["roles"]] == [None, kind]
    assert seen["needs"] == "a dialog on review's screen waits for you"


def test_a_dialog_that_was_put_as_a_question_is_told_once(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """It is answered on the screen, and stands there since it was seen, not since it was asked."""
    asked(tell(ago=310), text="Run rm -r build?")
    with supervised(state, "duo"):
        status, why, recap = words(mat, "status"), words(mat, "why"), words(mat, "recap")
    assert status.count("has stood on review's screen for 4m ") == status.count(": Run rm -r build?") == 1
    assert ': "Run rm -r build?". Answer it there: mat attach duo review' in why
    assert "mat attach duo review" in recap
    for said in (status, why, recap):
        assert "mat answer" not in said


@pytest.mark.parametrize("put", [True, False])
def test_what_follows_from_a_dialog_is_not_told_beside_it(mat: Mat, tell: Tell, state: StatePlaces, put: bool) -> None:
    """After an hour the core has told of its gates: the role's unknown state, and the question, are the dialog's."""
    told = asked(tell(ago=4_000)) if put else standing(tell(ago=4_000), "screen: trust dialog")
    told.pass_time(3_800)
    with supervised(state, "duo"):
        status, why = words(mat, "status"), words(mat, "why")
    assert "because of awaiting-human." in why if put else "because of dialog/review." in why
    for said in (status, why):
        assert "unknown/review" not in said
        assert "a question waits for you. See to it" not in said
    assert status.count("DIALOG") == 1
    assert "HELD" not in status


def test_a_decision_before_the_dialog_keeps_its_gates(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """What could not be made out then is no dialog of now."""
    told = tell(ago=2_000).working().fact("role.unknown", 60, role="review", evidence="screen: no composer")
    told.pass_time(1_500).fact("gate.raised", gate="dialog", role="review", evidence="screen")
    with supervised(state, "duo"):
        assert "waking was put off because of unknown/review" in words(mat, "why")


def test_a_dialog_in_a_turn_that_a_hook_tells_of(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """The turn goes on, the role is busy, and all the same somebody has to answer: nobody is said to work."""
    told = tell(ago=200).working()
    told.fact("gate.raised", 60, gate="dialog", role="review", evidence="screen")
    with supervised(state, "duo"):
        status, why = words(mat, "status"), words(mat, "why")
    assert "DIALOG A dialog has stood on review's screen for 2m " in status
    assert "A dialog has stood on review's screen for 2m " in why
    assert "has been working" not in why


def test_a_dialog_that_was_put_as_a_question_is_not_over(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """The question has taken the place of its gate, which settles, and after a window the role is unknown besides."""
    told = asked(tell(ago=720)).pass_time(1)
    with supervised(state, "duo"):
        early = words(mat, "why")
    told.pass_time(625)
    with supervised(state, "duo"):
        status, why = words(mat, "status"), words(mat, "why")
    for said in (early, why, status):
        assert "dialog/review is over" not in said
        assert "could not be made out" not in said
    assert "awaiting-human" in why


def test_a_dialog_that_is_gone_is_no_dialog(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Its gate may still settle."""
    told = standing(tell(ago=200), "screen: trust dialog")
    told.fact("gate.cleared", 120, gate="dialog", role="review", evidence="screen")
    told.fact("role.idle", role="review", evidence="screen")
    with supervised(state, "duo"):
        seen, status = shot(mat), words(mat, "status")
    assert [role["dialog"] for role in seen["roles"]] == [None, None]
    assert seen["needs"] is None
    assert "DIALOG" not in status


@pytest.mark.parametrize("put", [True, False])
def test_an_answer_to_a_dialog_points_to_the_screen(mat: Mat, tell: Tell, state: StatePlaces, put: bool) -> None:
    """`mat answer` answers no dialog, whether it was put as a question or only stands there, and changes nothing."""
    if put:
        asked(tell(ago=300))
    else:
        standing(tell(ago=300), "screen: trust dialog")
    with supervised(state, "duo"):
        code, out, err = mat("answer", "duo", "yes")
    assert (code, out) == (1, "")
    assert "mat attach duo review" in err
    assert "dialog" in err
    assert "nothing was changed" in err
    assert not list((state.spool / "new").glob("*"))
