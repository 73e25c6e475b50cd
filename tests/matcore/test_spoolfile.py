"""A spool record is whole or not there."""

from __future__ import annotations

import errno
import json
import os
import uuid
from pathlib import Path

import pytest

from matcore import spoolfile


def test_a_record_is_whole_named_by_time_and_private(tmp_path: Path) -> None:
    """It lies in `new/`, 0600, with `v`, `id` and `ts_ms` filled in; missing folders are 0700; `tmp/` is empty."""
    spool = tmp_path / "a" / "b"
    first = spoolfile.write(spool, {"session": "s1", "fact": "x", "text": "ünï \ud800"})
    second = spoolfile.write(str(spool), {"id": "own", "ts_ms": 5, "v": 2})
    files = sorted((spool / "new").iterdir())
    assert [file.name.partition("-")[2] for file in files] == [f"{first}.json", "own.json"]
    assert second == "own"
    assert uuid.UUID(first).version == 4
    record = json.loads(files[0].read_text())
    assert (record["v"], record["id"], record["session"], record["text"]) == (1, first, "s1", "ünï ?")
    assert json.loads(files[1].read_text()) == {"v": 2, "id": "own", "ts_ms": 5}
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    folders = (tmp_path / "a", spool, spool / "new", spool / "tmp")
    assert {folder.stat().st_mode & 0o777 for folder in folders} == {0o700}
    assert list((spool / "tmp").iterdir()) == []


def test_a_record_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """Nothing is written of it."""
    with pytest.raises(ValueError, match="at most"):
        spoolfile.write(tmp_path, {"text": "x" * spoolfile.MAX_BYTES})
    assert list(tmp_path.rglob("*.json")) == []


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of which only a part could be written is gone again."""

    def full(handle: int, data: bytes) -> None:
        os.write(handle, data[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spoolfile, "write_all", full)
    with pytest.raises(OSError, match="No space"):
        spoolfile.write(tmp_path, {"fact": "x"})
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_short_writes_are_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes a few bytes at a time gets all of them."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data[:7])))
    spoolfile.write(tmp_path, {"fact": "x" * 100})
    (file,) = (tmp_path / "new").iterdir()
    assert json.loads(file.read_text())["fact"] == "x" * 100


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    """A name that somebody has put a link at is refused."""
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(FileExistsError):
        spoolfile.write_new(str(tmp_path / "link"), b"x")
    assert not (tmp_path / "target").exists()
