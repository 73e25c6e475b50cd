"""`mat prune`: ended sessions go, after it was said which, and nothing else does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from matcore import spoolfile
from matcore.engine import spool
from matcore.engine.alone import alone
from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.stories.world import World

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
    return sorted(path.name for path in state.sessions.iterdir() if path.is_dir())


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


def test_a_session_that_is_being_brought_up_stays(mat: Mat, state: StatePlaces, sessions: list[str]) -> None:
    """`mat up` of that name is at work: what it is about to put aside, or has just begun, is not touched."""
    with alone(state, "lately", within_s=0), alone(state, "old", within_s=0):
        code, out, err = mat("prune", "--older-than", "0s")
    assert code == 0
    assert "removed" not in out
    assert "lately stays: it is being brought up" in err
    assert "old@1 stays: it is being brought up" in err
    assert left(state) == sessions
    assert "lately is removed" in mat("prune", "--older-than", "0s")[1]


def test_a_session_that_waits_for_its_supervisor_stays(mat: Mat, state: StatePlaces, sessions: list[str]) -> None:
    """It was launched, and no supervisor has taken it up yet: its journal is still the old one."""
    spool.make(state.spool)
    spoolfile.write(str(state.spool), {"session": "lately", "request": "up", "config": {}})
    _, out, err = mat("prune", "--older-than", "0s")
    assert "lately stays: it is being brought up" in err
    assert "old@1 is removed" in out
    assert "lately" in left(state)
    assert sessions


def test_a_name_that_is_used_again_puts_the_old_one_aside_whatever_was_pruned(tmp_path: Path) -> None:
    """`name@1` is gone, `name@2` is there: the next is `name@3`."""
    world = World(tmp_path)
    for _ in range(3):
        world.up()
        world.human(request="down")
    shutil.rmtree(world.places.session("duo@1"))
    world.up()
    assert left(world.places) == ["duo", "duo@2", "duo@3"]
    world.end()


def test_nothing_to_remove_and_no_duration(mat: Mat) -> None:
    """Exit 0 and a sentence; exit 2 for what is no duration."""
    assert "nothing was removed" in mat("prune")[1]
    assert mat("prune", "--older-than", "long")[0] == 2
