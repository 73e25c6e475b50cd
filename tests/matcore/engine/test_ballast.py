"""The ballast: space that can be given up when there is none left."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from matcore.engine.ballast import Ballast
from matcore.engine.journal import Journal, JournalFull, NewEntry
from tests.waiting import wait_for


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("a small file system can only be mounted by root")
    try:
        yield folder
    finally:
        wait_for(lambda: subprocess.run(["umount", folder], check=False, capture_output=True).returncode == 0)


def test_it_is_given_up_and_put_back(tmp_path: Path) -> None:
    """Freeing and restoring go back and forth, and each again is nothing."""
    ballast = Ballast(tmp_path / "ballast", 64 * 1024)
    assert not ballast.held
    assert ballast.restore()
    assert ballast.restore()
    assert Ballast(tmp_path / "ballast", 64 * 1024).held
    assert (tmp_path / "ballast").stat().st_blocks * 512 >= 64 * 1024
    assert (tmp_path / "ballast").stat().st_mode & 0o777 == 0o600
    assert ballast.free()
    assert not ballast.free()
    assert not Ballast(tmp_path / "ballast", 64 * 1024).held


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """Nothing is raised where nothing can be kept."""
    ballast = Ballast(tmp_path / "nowhere" / "ballast")
    assert not ballast.restore()
    assert not ballast.free()


def test_a_link_in_its_way_is_not_followed(tmp_path: Path) -> None:
    """Restoring takes the link's place and does not write through it."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "ballast").symlink_to(victim)
    assert Ballast(tmp_path / "ballast", 1024).restore()
    assert victim.read_text() == "mine"


def test_it_lets_a_full_disk_be_written_down(small_disk: Path) -> None:
    """With the ballast's space an entry goes into a journal on a full disk; it is not put back before there is room."""
    ballast = Ballast(small_disk / "ballast", 256 * 1024)
    assert ballast.restore()
    with Journal.create(small_disk / "journal.db", session="shop") as journal:
        with pytest.raises(OSError, match="No space left"):
            stuff(small_disk / "filler")
        with pytest.raises(JournalFull):
            fill(journal)
        assert not Ballast(small_disk / "other", 4096).restore()
        assert ballast.free()
        journal.append([NewEntry(1.0, 1.0, "engine", "engine.disk_full", {})])
        assert not ballast.restore()
        (small_disk / "filler").unlink()
        assert ballast.restore()


def stuff(path: Path) -> None:
    with path.open("wb", buffering=0) as filler:
        while True:
            filler.write(b"x" * 4096)


def fill(journal: Journal) -> None:
    while True:
        journal.append([NewEntry(1.0, 1.0, "fact", "x", {"text": "y" * 1000})])
