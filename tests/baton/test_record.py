"""What a worker writes down of its roles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from baton import record
from matcore.places import SessionPlaces


def test_a_state_is_whole_however_little_the_disk_takes_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A torn one would be read as that of a role which never had a turn."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data)[:7]))
    places = SessionPlaces(tmp_path)
    record.write(record.state_path(places, "dev"), record.State(status="busy", turn=12))
    assert record.read_state(places, "dev").turn == 12
