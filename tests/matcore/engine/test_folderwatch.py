"""The watch over folders: heard of at once, by whatever the system has for it."""

from __future__ import annotations

import ctypes
import errno
import shutil
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace

import pytest

from matcore.engine import folderwatch
from matcore.engine.folderwatch import Bell, watch

LONG_S = 30.0


class Listener:
    """A thread that watches. `heard` gets each set of folders."""

    def __init__(self, *folders: Path, timeout_s: float = LONG_S) -> None:
        self.heard: SimpleQueue[set[str]] = SimpleQueue()
        self.stop = Bell()
        words = [str(folder) for folder in folders]
        self.thread = threading.Thread(target=self._run, args=(words, timeout_s))
        self.thread.start()

    def _run(self, folders: list[str], timeout_s: float) -> None:
        for changed in watch(folders, timeout_s=timeout_s, stop=self.stop):
            self.heard.put(changed)

    def hears(self, folder: Path) -> bool:
        """Waits until that folder is named."""
        while str(folder) not in self.heard.get(timeout=LONG_S):
            pass
        return True

    def end(self) -> None:
        self.stop.set()
        self.thread.join(LONG_S)
        assert not self.thread.is_alive()


@pytest.fixture(params=["inotify", "watchfiles"])
def by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is watched."""
    if request.param == "watchfiles":
        monkeypatch.setattr(folderwatch, "_libc", SimpleNamespace())
    elif not hasattr(folderwatch._libc, "inotify_init1"):
        pytest.skip("this system has no inotify")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    made = tmp_path / "a", tmp_path / "b"
    for folder in made:
        folder.mkdir()
    return made


@pytest.fixture
def listener(folders: tuple[Path, Path]) -> Iterator[Listener]:
    listener = Listener(*folders, timeout_s=0.2)
    listener.heard.get(timeout=LONG_S)  # that nothing came: from now on it watches
    yield listener
    listener.end()


@pytest.mark.usefixtures("by")
def test_what_is_moved_or_made_in_a_folder_is_heard_of(
    listener: Listener, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """Again and again, of each folder by its name."""
    for number in range(3):
        for folder in folders:
            draft = tmp_path / f"draft-{number}"
            draft.touch()
            draft.rename(folder / draft.name)
            assert listener.hears(folder)
            (folder / f"made-{number}").touch()
            assert listener.hears(folder)


@pytest.mark.usefixtures("by")
def test_silence_is_told_as_well(listener: Listener) -> None:
    """So that the listener may look for what was lost."""
    assert listener.heard.get(timeout=LONG_S) == set()
    assert listener.heard.get(timeout=LONG_S) == set()


@pytest.mark.usefixtures("by")
def test_a_folder_that_is_gone_is_told(listener: Listener, folders: tuple[Path, Path]) -> None:
    """Whoever watches it must see to that."""
    shutil.rmtree(folders[1])
    assert listener.hears(folders[1])


@pytest.mark.usefixtures("by")
def test_it_ends_at_once(folders: tuple[Path, Path]) -> None:
    """However long it would have waited."""
    listener = Listener(*folders)
    listener.end()


@pytest.mark.usefixtures("by")
def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Not silence."""
    with pytest.raises(OSError):
        next(watch([str(tmp_path / "none")], timeout_s=0, stop=Bell()))


@pytest.mark.parametrize(
    ("number", "setting"), [(errno.ENOSPC, "max_user_watches"), (errno.EMFILE, "max_user_instances")]
)
def test_a_limit_of_the_host_is_named(monkeypatch: pytest.MonkeyPatch, number: int, setting: str) -> None:
    """With the setting that raises it, and not as a full disk."""

    def refused(*_: object) -> int:
        ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(folderwatch, "_libc", SimpleNamespace(inotify_init1=refused))
    with pytest.raises(OSError, match=setting):
        next(watch(["/"], timeout_s=0, stop=Bell()))


def test_events_that_were_lost_are_everybodys() -> None:
    """A queue that ran over does not say whose events it has dropped."""
    event = struct.Struct("iIII").pack
    names = {1: {"a"}, 2: {"b"}}
    assert folderwatch._named(event(2, 0x80, 0, 16) + b"x".ljust(16, b"\0") + event(1, 0x400, 0, 0), names, []) == {
        "a",
        "b",
    }
    assert folderwatch._named(event(9, 0x8000, 0, 0), names, ["a", "b"]) == set()
    assert folderwatch._named(event(-1, 0x4000, 0, 0), names, ["a", "b"]) == {"a", "b"}


def test_a_bell_rings_until_it_is_stopped() -> None:
    """However often it was rung, and for everybody who asks."""
    bell = Bell()
    assert not bell.wait(0)
    for _ in range(100_000):
        bell.set()
    assert bell.wait()
    assert bell.is_set()
    bell.clear()
    assert not bell.is_set()
