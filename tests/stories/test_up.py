"""`mat up` of a session that is up already: it is this project's own and as it was, or nothing is done."""

from __future__ import annotations

from typing import Any

import pytest

from matcore.engine.config import SessionConfig, from_json, to_json
from matcore.engine.journal import Journal
from matcore.engine.journalfile import JournalFull
from matcore.engine.launch import running
from matcore.errors import Refused
from tests.stories.world import World


def config(**other: object) -> SessionConfig:
    roles = {"dev": {"backend": "fake"}, "review": {"backend": "fake"}}
    return from_json({"session": "duo", "driver": "tmux", "roles": roles, **other})


def test_another_project_s_session_of_that_name_is_not_taken_over(world: World) -> None:
    """Two folders of one name: the second is told where the first runs and how to be named itself."""
    world.up()
    other = world.folder / "other" / "duo"
    other.mkdir(parents=True)
    with pytest.raises(Refused, match=r"is up in .*/duo; give this one another name, `session: NAME`"):
        running(world.places, config(), other)
    assert list(other.iterdir()) == []


def test_a_project_that_was_moved_is_still_the_same(world: World) -> None:
    """Where the folder that it was begun in is gone, this is where it went."""
    world.up(roles_config=to_json(config())["roles"])
    moved = world.folder / "elsewhere"
    (world.folder / "duo").rename(moved)
    assert running(world.places, config(), moved) is not None


def test_a_session_that_is_not_up_is_nobody_s(world: World) -> None:
    """There is nothing to be taken over."""
    assert running(world.places, config(), world.folder) is None


def test_a_beginning_that_could_not_be_written_leaves_no_session_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each attempt begins the same journal; an ended one of that name is put aside, once."""
    world.up("duo")
    world.human(request="down")
    real = Journal.append
    fails = [True] * 3

    def append(self: Journal, *args: Any, **kwargs: Any) -> Any:
        if self.session == "duo" and fails:
            fails.pop()
            raise JournalFull(world.places.journal("duo"))
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Journal, "append", append)
    world.up("duo")
    for _ in range(4):
        world.advance(1)
    assert world.session("duo").ledger.opened_at
    assert sorted(path.name for path in world.places.sessions.iterdir() if path.is_dir()) == ["duo", "duo@1"]
