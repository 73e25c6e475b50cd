"""What was delivered and not worked on, for its turn or its agent ended wrongly."""

from __future__ import annotations

import json

import pytest

from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import Told, supervised


def said(told: Told, relay: str, seq: int, text: str = "use the new key", sender: str = "human") -> Told:
    """Something that arrives at dev, which works on it."""
    told.fact("relay.sent", 5, id=relay, from_=sender, to="dev", kind="request", seq=seq, body=text)
    told.fact("relay.delivered", 1, id=relay)
    return told.fact("role.busy", 1, role="dev", evidence="submitted")


def killed(told: Told) -> Told:
    told.fact("turn.ended", 5, role="dev", outcome="error", detail="exit code -9", evidence="turn record")
    return told.fact("role.idle", role="dev", evidence="turn record")


def words(mat: Mat, state: StatePlaces, command: str) -> str:
    with supervised(state, "duo"):
        return " ".join(mat(command, "duo")[1].split())


@pytest.mark.parametrize("command", ["status", "why", "recap"])
def test_a_message_whose_turn_failed_waits_for_its_sender(
    mat: Mat, tell: Tell, state: StatePlaces, command: str
) -> None:
    """Which, to whom, how its turn ended, what it said, and the command."""
    killed(said(tell(ago=300).working(), "r-000010", 10)).pass_time(30)
    seen = words(mat, state, command).replace("│ ", "")
    assert "Not worked on: r-000010 from you to dev, its turn ended with exit code -9" in seen
    assert "use the new key" in seen
    assert 'mat send duo dev "TEXT"' in seen


def test_a_script_sees_it(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """In `needs`, and as data; also one whose agent ended, or that was in a turn with another."""
    told = said(said(tell(ago=300).working(), "r-000010", 10), "r-000011", 11)
    told.fact("role.gone", 5, role="dev", evidence="pane is gone").fact("role.idle", 9, role="dev", evidence="screen")
    with supervised(state, "duo"):
        [shot] = json.loads(mat("status", "--json")[1])["sessions"]
    assert [(each["relay"], each["reason"]) for each in shot["failed"]] == [("r-000010", "gone"), ("r-000011", "gone")]
    assert shot["needs"] == "dev could not work on your message r-000010"


@pytest.mark.parametrize("end", ["newer done", "newer sent", "cycle ended", "interrupted"])
def test_it_waits_no_longer(mat: Mat, tell: Tell, state: StatePlaces, end: str) -> None:
    """Once the role ended well with something newer, it was said again, or the goal is over; or by his own Escape."""
    told = said(tell(ago=300).working(), "r-000010", 10)
    if end == "interrupted":
        told.fact("turn.ended", 5, role="dev", outcome="error", detail="interrupted", evidence="screen")
    else:
        killed(told)
    if end == "newer done":
        said(told, "r-000011", 11, sender="review").fact("turn.ended", 5, role="dev", outcome="ok", evidence="hook")
        told.fact("relay.sent", 1, id="r-000012", from_="dev", to="review", kind="request", seq=12, seen=11)
    elif end == "newer sent":
        told.fact("relay.sent", 5, id="r-000011", from_="human", to="dev", kind="request", seq=11, body="again")
    elif end == "cycle ended":
        told.fact("cycle.completed", 5, cycle="c1", by="review")
    assert "Not worked on" not in words(mat, state, "why")


def test_a_request_whose_turn_failed_is_still_owed(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """No person has to see to it: the ladder does, and that is said."""
    told = said(tell(ago=300).working(), "r-000002", 2, sender="review")
    killed(told).pass_time(30)
    seen = words(mat, state, "why")
    assert "Not worked on" not in seen
    assert "its turn ended with exit code -9; it still owes it, and is woken if nothing moves" in seen
