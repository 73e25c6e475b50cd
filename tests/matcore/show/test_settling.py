"""A gate whose reason is over holds a little longer: what is said of it is true now."""

from __future__ import annotations

import json
from typing import Any

import pytest

from matcore.places import StatePlaces
from matcore.show.text import clock
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S, Told, supervised


def sent_draft(tell: Tell) -> Told:
    """A person typed in review's pane for five minutes and stopped ten seconds ago; the ladder is due."""
    told = tell(ago=WINDOW_S + 85).stalled(0.5)
    told.fact("gate.raised", gate="human-typing", role="review", evidence="screen")
    told.pass_time(WINDOW_S / 2 + 10)
    return told.fact("gate.cleared", gate="human-typing", role="review", evidence="screen")


def gate(mat: Mat) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(mat("status", "--json")[1])["sessions"][0]["gates"][0]
    return found


def test_why_states_no_cause_that_is_over(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """It says since when it is over, until when waking stays held, and what comes then."""
    told = sent_draft(tell)
    with supervised(state, "duo"):
        said = mat("why", "duo")[1]
    assert "a draft stands in review's input line" not in said
    over, ends = clock(told.now).split()[1], clock(told.now + 30).split()[1]
    assert f"human-typing/review is over since {over}" in said
    assert f"waking stays held until {ends}, in case it comes back." in said
    assert "If nothing moves, review is nudged (rung 1) in " in said
    assert f"at {ends}" in said


def test_why_states_the_cause_while_it_holds(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Raised again within its settling it is the same hold, and its cause is said again."""
    told = sent_draft(tell).fact("gate.raised", gate="human-typing", role="review", evidence="screen")
    with supervised(state, "duo"):
        said = mat("why", "duo")[1]
        assert gate(mat)["cleared"] is None
    assert "a draft stands in review's input line" in said
    assert "is over since" not in said
    assert told.now > 0


def test_status_tells_a_gate_that_holds_from_one_that_is_over(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """And the snapshot says since when."""
    told = sent_draft(tell)
    with supervised(state, "duo"):
        out = " ".join(mat("status")[1].replace("│", " ").split())
        seen = gate(mat)
    assert "human-typing/review is over, held for " in out
    assert seen["cleared"] == pytest.approx(told.now)


def test_what_would_hold_an_undue_ladder_is_said_so(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """While somebody works nothing is held back yet."""
    tell(ago=60).working().fact("gate.raised", gate="copy-mode", role="dev", evidence="tmux")
    with supervised(state, "duo"):
        said = mat("why", "duo")[1]
    assert "Waking would be held back by copy-mode/dev" in said
    assert "[tmux]" not in said
