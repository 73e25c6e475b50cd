"""The worker's lock: one holder, seen without being taken, inherited by nobody."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from baton import lock
from tests.waiting import wait_for

HOLDER = "import sys, time; from pathlib import Path; from baton import lock; lock.take(Path(sys.argv[1])); {then}"


def hold(path: Path, then: str = "time.sleep(60)") -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", HOLDER.format(then=then), str(path)])


def test_a_second_holder_gets_none_and_looking_takes_nothing(tmp_path: Path) -> None:
    """However often it is looked at, it can still be taken, and only once."""
    path = tmp_path / "lock"
    assert not lock.is_held(path)
    assert lock.holder(path) is None
    handle = lock.take(path)
    assert handle is not None
    assert lock.take(path) is None
    os.close(handle)
    assert not lock.is_held(path)
    for _ in range(3):
        assert not lock.is_held(path)
    other = hold(path)
    wait_for(lambda: lock.holder(path) == other.pid, what="the other process as its holder")
    assert lock.take(path) is None
    other.kill()
    other.wait()
    assert not lock.is_held(path)
    assert lock.holder(path) is None


def test_a_child_does_not_inherit_it(tmp_path: Path) -> None:
    """A worker that dies while its agent lives on is dead for everybody."""
    path, pid = tmp_path / "lock", tmp_path / "pid"
    child = "import subprocess; p = subprocess.Popen(['sleep', '60'], close_fds=False)"
    then = f"{child}; Path({str(pid)!r}).write_text(str(p.pid))"
    hold(path, then).wait()
    assert not lock.is_held(path)
    os.kill(int(pid.read_text()), 9)


def test_a_lock_that_was_deleted_is_not_the_one(tmp_path: Path) -> None:
    """Its file is another one now, or none."""
    path = tmp_path / "lock"
    handle = lock.take(path)
    assert handle is not None
    assert lock.is_the_one(handle, path)
    path.unlink()
    assert not lock.is_the_one(handle, path)
    path.touch()
    assert not lock.is_the_one(handle, path)
    os.close(handle)


@pytest.mark.parametrize("before", ["", "4194304\n"], ids=["nobody's name", "the name of one who has died"])
def test_a_holder_that_has_not_written_its_name_yet_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    """The lock is taken a moment before the name is written."""
    path = tmp_path / "lock"
    handle = lock.take(path)
    assert handle is not None
    path.write_text(before)
    monkeypatch.setattr(time, "sleep", lambda _: path.write_text(f"{os.getpid()}\n"))
    assert lock.holder(path) == os.getpid()
    os.close(handle)


def test_a_holder_that_never_writes_its_name_is_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waited for, but not without end."""
    monkeypatch.setattr(lock, "NAMES_WITHIN_S", 0.0)
    path = tmp_path / "lock"
    handle = lock.take(path)
    assert handle is not None
    path.write_text("")
    assert lock.holder(path) is None
    os.close(handle)
