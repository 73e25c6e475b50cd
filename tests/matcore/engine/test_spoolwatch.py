"""The watch over the spools: what arrives is said, whatever becomes of events and folders."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest

from matcore import spoolfile
from matcore.engine import spool, spoolwatch
from matcore.engine.spool import Item
from matcore.engine.spoolwatch import Watcher
from tests.waiting import wait_for

RECORD: dict[str, object] = {"session": "shop", "fact": "cycle.opened"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "spool" / "dev"
    spool.make(folder)
    return folder


@pytest.fixture
def heard() -> SimpleQueue[Path]:
    return SimpleQueue()


@pytest.fixture
def watcher(heard: SimpleQueue[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Watcher]:
    monkeypatch.setattr(spoolwatch, "SWEEP_S", 0.5)
    watcher = Watcher(heard.put)
    watcher.start()
    yield watcher
    watcher.stop()
    watcher.stop()


def until(heard: SimpleQueue[Path], folder: Path, timeout_s: float = 15.0) -> float:
    """Waits until `folder` is named; how long that took."""
    start = time.monotonic()
    while True:
        if heard.get(timeout=timeout_s) == folder:
            return time.monotonic() - start


def emptied(folder: Path) -> None:
    for item in spool.take(folder, os.getuid()):
        assert isinstance(item, Item)
        spool.done(item)


def test_a_record_is_heard_of(folder: Path, watcher: Watcher, heard: SimpleQueue[Path]) -> None:
    """Each write is said, again and again."""
    watcher.add(folder)
    for _ in range(3):
        spoolfile.write(folder, RECORD)
        until(heard, folder)
        emptied(folder)


def test_folders_come_and_go(tmp_path: Path, folder: Path, watcher: Watcher, heard: SimpleQueue[Path]) -> None:
    """One that is added while others are watched is heard of; one that is removed no longer."""
    other = tmp_path / "spool" / "review"
    spool.make(other)
    watcher.add(folder)
    spoolfile.write(folder, RECORD)
    until(heard, folder)
    watcher.add(other)
    spoolfile.write(other, RECORD)
    until(heard, other)
    watcher.remove(folder)
    emptied(other)
    spoolfile.write(other, RECORD)
    until(heard, other)
    while True:
        try:
            heard.get_nowait()
        except Empty:
            break
    spoolfile.write(folder, RECORD)
    spoolfile.write(other, RECORD)
    assert heard.get(timeout=15) == other


def test_what_lay_there_before_is_heard_of(folder: Path, watcher: Watcher, heard: SimpleQueue[Path]) -> None:
    """A record that was written while nobody watched is said when the folder is added."""
    spoolfile.write(folder, RECORD)
    watcher.add(folder)
    until(heard, folder)


def test_a_removed_folder_is_watched_again(folder: Path, watcher: Watcher, heard: SimpleQueue[Path]) -> None:
    """It is said that it is gone; made again, its records are heard of."""
    watcher.add(folder)
    spoolfile.write(folder, RECORD)
    until(heard, folder)
    shutil.rmtree(folder)
    until(heard, folder)
    list(spool.take(folder, os.getuid()))
    for _ in range(2):
        spoolfile.write(folder, RECORD)
        until(heard, folder)
        emptied(folder)


@pytest.mark.field_case("Silence")
def test_a_lost_event_is_made_up_for(folder: Path, heard: SimpleQueue[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """With events that never come, the sweep finds what lies there."""

    def deaf(*_: object, stop_event: threading.Event, rust_timeout: int, **__: object) -> Iterator[set[object]]:
        while not stop_event.wait(rust_timeout / 1000):
            yield set()

    monkeypatch.setattr(spoolwatch, "watch", deaf)
    monkeypatch.setattr(spoolwatch, "SWEEP_S", 0.05)
    watcher = Watcher(heard.put)
    watcher.add(folder)
    watcher.start()
    try:
        spoolfile.write(folder, RECORD)
        until(heard, folder)
    finally:
        watcher.stop()


def test_a_host_that_gives_no_watch(folder: Path, heard: SimpleQueue[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """When the host's limit is reached, that is said once and looking goes on."""

    def refused(*_: object, **__: object) -> Iterator[set[object]]:
        raise OSError(28, "OS file watch limit reached")

    monkeypatch.setattr(spoolwatch, "watch", refused)
    monkeypatch.setattr(spoolwatch, "SWEEP_WITHOUT_EVENTS_S", 0.02)
    faults: list[str] = []
    watcher = Watcher(heard.put, faults.append)
    watcher.add(folder)
    watcher.start()
    try:
        for _ in range(5):
            spoolfile.write(folder, RECORD)
            until(heard, folder)
        wait_for(lambda: faults)
        assert len(faults) == 1
        assert "limit reached" in faults[0]
    finally:
        watcher.stop()


def test_it_stops_at_once(folder: Path, heard: SimpleQueue[Path]) -> None:
    """Stopping does not wait for the next look."""
    watcher = Watcher(heard.put)
    watcher.add(folder)
    watcher.start()
    spoolfile.write(folder, RECORD)
    until(heard, folder)
    start = time.monotonic()
    watcher.stop()
    assert time.monotonic() - start < spoolwatch.SWEEP_S
