"""Files that are there whole or not at all, whatever the disk does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from matcore.engine import wholefile


@pytest.fixture
def haltingly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system takes a few bytes at a time, as it may, and as it does when the disk is nearly full."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data)[:7]))


@pytest.mark.usefixtures("haltingly")
def test_a_file_is_whole_however_little_is_taken_at_a_time(tmp_path: Path) -> None:
    """The end of what was to be written is there."""
    wholefile.write(tmp_path / "file", b"x" * 100)
    assert (tmp_path / "file").read_bytes() == b"x" * 100


@pytest.mark.parametrize("durable", [False, True])
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durable: bool) -> None:
    """And nothing beside it."""

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    wholefile.write(path, b"before")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        wholefile.write(path, b"after", durable=durable)
    monkeypatch.undo()
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"file": b"before"}


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    """It may hold what agents say to each other."""
    wholefile.write(tmp_path / "file", b"words")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
