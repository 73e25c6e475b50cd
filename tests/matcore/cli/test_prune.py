"""`mat prune`: ended sessions go, after it was said which, and nothing else does."""

from __future__ import annotations

import json

import pytest

from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell

DAY_S = 86_400.0


@pytest.fixture
def sessions(tell: Tell, state: StatePlaces) -> list[str]:
    """Two that ended (long ago, lately), one that is up since long, one that can't be read."""
    tell("old@1", ago=40 * DAY_S).working().ended()
    tell("lately", ago=DAY_S).working().ended()
    tell("up", ago=90 * DAY_S).working()
    state.session("torn").mkdir()
    state.journal("torn").write_bytes(b"nothing" * 1000)
    return ["lately", "old@1", "torn", "up"]


def left(state: StatePlaces) -> list[str]:
    return sorted(path.name for path in state.sessions.iterdir())


def test_only_what_ended_long_ago_is_removed(mat: Mat, state: StatePlaces, sessions: list[str]) -> None:
    """30 days unless said otherwise; one that can't be read stays, and that is said."""
    code, out, err = mat("prune")
    assert code == 0
    assert "old@1 is removed: ended" in out
    assert "torn stays" in err
    assert left(state) == [name for name in sessions if name != "old@1"]


def test_a_dry_run_removes_nothing(mat: Mat, state: StatePlaces, sessions: list[str]) -> None:
    """It says which it would."""
    assert "old@1 would be removed" in mat("prune", "--dry-run")[1]
    assert left(state) == sessions


def test_of_any_age(mat: Mat, state: StatePlaces, sessions: list[str]) -> None:
    """Never one that has not ended."""
    out = mat("prune", "--older-than", "0s", "--json")[1]
    assert sorted(json.loads(line)["session"] for line in out.splitlines()) == ["lately", "old@1"]
    assert left(state) == ["torn", "up"]
    assert sessions


def test_nothing_to_remove_and_no_duration(mat: Mat) -> None:
    """Exit 0 and a sentence; exit 2 for what is no duration."""
    assert "nothing was removed" in mat("prune")[1]
    assert mat("prune", "--older-than", "long")[0] == 2
