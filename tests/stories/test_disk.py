"""A full disk, on a file system of its own that really is full."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stories.world import World

SIZE = "16m"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A folder with little room."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a file system can't be mounted here: it takes root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Leave no room for another page."""
    hog = folder / "hog"
    with hog.open("wb", buffering=0) as file:
        for size in (2**20, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return hog


def test_a_full_disk_is_told_once_and_mat_goes_on_when_there_is_room(small: Path) -> None:
    """The ballast's room is enough to write it down and to tell it; nothing that happened meanwhile is lost."""
    world = World(small)
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    world.up("duo")
    world.up("other")
    assert world.places.ballast.exists()
    hog = fill(small)
    for _ in range(400):
        world.driver.see("duo", "role.busy", "dev")
        world.driver.see("duo", "role.idle", "dev")
        world.settle()
        if not world.places.ballast.exists():
            break
    assert not world.places.ballast.exists()
    world.advance(10)
    assert sum("disk is full" in text for text in world.told) == 1
    assert world.entries("engine.trouble")
    assert not world.supervisor.host_notices.waits
    # Now the ballast's room is used up as well.
    hog_2 = fill(small / "duo")
    for n in range(400):
        world.driver.see("duo", "role.busy", "dev")
        world.driver.see("duo", "role.gone" if n == 399 else "role.idle", "dev")
        world.settle()
    assert not world.supervisor.watched["duo"].goes
    assert not world.supervisor.host_notices.waits
    assert world.supervisor.watched["duo"].fault is None
    hog.unlink()
    hog_2.unlink()
    world.advance(10)
    assert world.supervisor.watched["duo"].fault is None
    assert world.session().ledger.status("dev") == "gone"
    assert world.session().ledger.troubles == {}
    assert world.places.ballast.exists()
    assert sum("disk is full" in text for text in world.told) == 1
    assert world.supervisor.watched["other"].fault is None
    world.relay("review", "dev", 1)
    assert world.entries("relay.sent")
    world.end()


def test_a_restart_on_a_full_disk_takes_up_what_it_can_and_tells_nothing_anew(small: Path) -> None:
    """The sessions are watched again when there is room, and nothing is lost."""
    world = World(small)
    world.up("duo")
    hog = fill(small)
    world.places.ballast.unlink()
    fill(small / "duo")
    world.restart()
    world.advance(5)
    hog.unlink()
    (small / "duo" / "hog").unlink()
    world.advance(10)
    assert world.supervisor.failed == {}
    assert world.supervisor.watched["duo"].fault is None
    assert world.session().ledger.watching
    world.end()
