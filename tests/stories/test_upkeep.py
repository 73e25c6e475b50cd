"""What the loop keeps up in a session's folder, and that it does not look through what nobody has touched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

import pytest

from matcore import said_sent
from matcore.engine import about
from matcore.engine.pings import Pings
from matcore.places import SessionPlaces
from tests.stories.world import World
from tests.waiting import wait_for

LONG_AGO_S = 3600


def rests(world: World) -> SessionPlaces:
    """A session in whose folder nothing has changed for long, looked through since."""
    world.up(roles_config={"dev": {"prompt": "duo-dev"}})
    world.advance(5)
    places = world.folder_of()
    for path in (places.root, *places.root.rglob("*")):
        os.utime(path, (path.stat().st_mtime - LONG_AGO_S,) * 2)
    world.advance(5)
    return places


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A line for each time that a folder is looked through."""
    found = list[str]()
    real: Callable[..., list[str]] = about.make_folders

    def counted(places: SessionPlaces, roles: list[str]) -> list[str]:
        found.append(places.root.name)
        return real(places, roles)

    monkeypatch.setattr(about, "make_folders", counted)
    return found


def test_a_folder_that_nobody_touches_is_not_looked_through(world: World, looks: list[str]) -> None:
    """Hundreds of sessions at rest cost a few questions to the file system each, however often they are kept up."""
    rests(world)
    looks.clear()
    world.advance(60)
    assert looks == []


SPOOLS = ("spool", "spool/dev", "spool/review/new", "spool/dev/tmp", "spool/dev/aside")


@pytest.mark.parametrize(
    "part", ["handoffs", "prompts", "prompts/dev.md", *SPOOLS, "sent.index", "session.json", ".gitignore"]
)
def test_whatever_is_taken_from_a_folder_at_rest_is_made_again(world: World, part: str) -> None:
    """Each single part, however long nothing has happened there."""
    place = rests(world).root / part
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()
    world.advance(5)
    assert place.exists()


def test_an_index_that_was_overwritten_is_written_anew(world: World) -> None:
    """Also where the file has kept its name."""
    places = rests(world)
    places.sent_index.write_text("not ours\n", encoding="utf-8")
    world.advance(5)
    assert places.sent_index.read_text(encoding="utf-8").startswith('{"v":1,"session":"duo"}')


def test_a_session_json_that_was_overwritten_is_written_anew(world: World) -> None:
    """Until then `send-relay` refuses, and promises that."""
    places = rests(world)
    before = places.about.read_bytes()
    places.about.write_bytes(b"not ours\n")
    world.advance(5)
    assert places.about.read_bytes() == before


def test_a_session_that_is_begun_anew_knows_no_relay_of_the_one_before(world: World) -> None:
    """The same text to the same role is handed over, for nobody in this session has it; numbers begin anew."""
    for _ in range(2):
        world.up()
        world.advance(5)
        draft = said_sent.Draft(
            session="duo", spool=str(world.folder_of().spool("dev")), sender="dev", to="review", text="x", cycle="c1"
        )
        sent = [said_sent.send(str(world.folder_of().root), draft, again=False) for _ in range(2)]
        world.settle()
        assert [each.fresh for each in sent] == [True, False]
        assert [entry["id"] for entry in world.entries("relay.sent")] == ["r-000001"]
        world.human(request="down")


class Killed(BaseException):
    """As SIGKILL: nothing is tidied up."""


def test_what_a_sender_that_was_killed_has_left_is_taken_up(
    world: World, monkeypatch: pytest.MonkeyPatch, looks: list[str]
) -> None:
    """A number that was given and not handed over, in a folder that has been at rest before."""
    places = rests(world)
    looks.clear()

    def killed(*_: object) -> None:
        raise Killed

    draft = said_sent.Draft(
        session="duo", spool=str(places.spool("dev")), sender="dev", to="review", text="Do it.", cycle="c1"
    )
    with monkeypatch.context() as patch:
        patch.setattr(said_sent, "publish", killed)
        with pytest.raises(Killed):
            said_sent.send(str(places.root), draft, again=False)
    world.advance(5)
    assert looks
    world.settle()
    assert [entry["id"] for entry in world.entries("relay.sent")] == ["r-000001"]


def test_a_sender_at_work_is_looked_for_until_it_is_done(world: World, looks: list[str]) -> None:
    """A file that lies in `tmp/` for long keeps the folder under a look: its sender may be killed at any time."""
    places = rests(world)
    (places.spool("dev") / "tmp" / "half").touch()
    for path in (places.spool("dev") / "tmp", places.spool("dev") / "tmp" / "half"):
        os.utime(path, (path.stat().st_mtime - LONG_AGO_S,) * 2)
    world.advance(5)
    looks.clear()
    world.advance(20)
    assert looks


def test_a_dead_man_s_switch_is_pinged_while_its_session_is_watched(world: World) -> None:
    """Once a minute, once for all sessions that name it, until none of them is watched any more."""
    sent = list[str]()
    world.supervisor.keeping.pings = Pings(sent.append)
    for name in ("duo", "other"):
        world.up(name, heartbeat="https://switch.example/ping")
    world.up("plain")
    world.advance(61)
    wait_for(lambda: sent == ["https://switch.example/ping"] * 2)
    for name in ("duo", "other"):
        world.human(name, request="down")
    world.advance(180)
    assert len(sent) == 2
    assert list(world.supervisor.watched) == ["plain"]
