"""`mat why`: sentences that a tired person understands at once."""

from __future__ import annotations

import json

from matcore.places import StatePlaces
from matcore.show.text import clock
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S, supervised


def test_while_somebody_works(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Who holds the baton since when, who works by what evidence, and what happens if nothing moves."""
    tell(ago=120).working()
    with supervised(state, "duo"):
        code, out, _ = mat("why", "duo")
    assert code == 0
    assert "review holds the baton: it has had r-000001 from dev for 2m" in out
    assert "review has been working for 1m 58s (seen by its hook)." in out
    assert "Nobody is woken while somebody works." in out
    assert "Last decided, 1m 59s ago" in out
    assert "r-000001 was delivered to review" in out


def test_in_an_episode(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """What was done last, and what comes when."""
    tell(ago=WINDOW_S + 70).stalled()
    with supervised(state, "duo"):
        out = mat("why")[1]
    assert "review was nudged (rung 1 of episode 1)" in out
    assert "If nothing moves, dev is nudged (rung 2) in 9m" in out


def test_after_the_last_rung(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Why nothing is done, and what the reader may do about it."""
    tell(ago=3 * WINDOW_S + 100).stalled(3)
    with supervised(state, "duo"):
        out = mat("why", "duo")[1]
    assert "you were told, and nothing more is tried until somebody acts" in out
    assert "mat attach duo review" in out


def test_a_gate_is_explained(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Its name, what it means and how it ends."""
    told = tell(ago=60).working()
    told.fact("role.idle", role="review").fact("human.paused")
    with supervised(state, "duo"):
        out = mat("why", "duo")[1]
    assert "Waking would be held back by paused, for " in out
    assert "you paused it; free it: mat resume duo" in out


def test_when_nobody_watches_or_it_hangs(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """It says so, and nothing of what would come."""
    tell(ago=120).working()
    out = mat("why", "duo")[1]
    assert "Nobody watches this session" in out
    assert "If nothing moves" not in out
    with supervised(state, "duo", age_s=100):
        assert "The supervisor hangs: its last heartbeat was 1m 40s ago" in mat("why", "duo")[1]


def test_without_a_cycle_and_after_its_end(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Both say why nobody is woken."""
    told = tell(ago=60)
    with supervised(state, "duo"):
        assert "No cycle is open" in mat("why", "duo")[1]
    told.working().ended()
    assert "duo has ended" in mat("why", "duo")[1]


def test_as_it_was_then(mat: Mat, tell: Tell) -> None:
    """--at shows the session as it stood at that time; before its first entry it refuses."""
    told = tell(ago=4 * WINDOW_S)
    told.working()
    then = clock(told.now + 10)
    told.fact("relay.sent", 600, id="r-000002", from_="review", to="dev", kind="request", seq=2)
    assert "review holds the baton" in mat("why", "duo", "--at", then)[1]
    assert "dev is next" in mat("why", "duo")[1]
    code, _, err = mat("why", "duo", "--at", "2h")
    assert code == 1
    assert "the journal begins at" in err
    assert mat("why", "duo", "--at", "soon")[0] == 2


def test_json_has_the_sentences_and_what_they_say(mat: Mat, tell: Tell) -> None:
    """One object, with the snapshot of `mat status`."""
    tell().working()
    said = json.loads(mat("why", "--json")[1])
    assert set(said) == {"session", "sentences", "snapshot"}
    assert said["snapshot"]["baton"]["role"] == "review"
