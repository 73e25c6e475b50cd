"""One thread for each driver: what fails, floods or hangs in it is reported and bounded."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from queue import SimpleQueue
from typing import cast

import pytest

from matcore.engine.driver import Driver, Sighting
from matcore.engine.events import Polled
from matcore.engine.poller import AT_MOST, HANGS_AFTER_S, Poller
from tests.waiting import wait_for


class Looks:
    """A driver whose looks are handed to it."""

    def __init__(self) -> None:
        self.next: Sequence[Sighting] | Exception = ()
        self.looks = 0
        self.gate = threading.Event()
        self.gate.set()

    def observe(self) -> Sequence[Sighting]:
        self.gate.wait(20)
        self.looks += 1
        if isinstance(self.next, Exception):
            raise self.next
        return self.next


@pytest.fixture
def looks() -> Looks:
    return Looks()


def poller_of(looks: Looks, seen: SimpleQueue[Polled]) -> Poller:
    poller = Poller("fake", cast("Driver", looks), seen.put, tick_s=0.01)
    poller.start()
    return poller


def test_a_look_that_fails_is_reported_and_so_is_the_first_that_does_not(looks: Looks) -> None:
    """A failing check is a gate; its end is said, though nothing was seen."""
    seen: SimpleQueue[Polled] = SimpleQueue()
    looks.next = RuntimeError("no answer")
    poller = poller_of(looks, seen)
    assert seen.get(timeout=20).fault == "RuntimeError: no answer"
    looks.next = ()
    while seen.get(timeout=20).fault is not None:
        pass
    poller.stop()


@pytest.mark.field_case("Load")
def test_a_flood_is_cut_off_and_said(looks: Looks) -> None:
    """A driver gone wrong keeps the loop from nobody."""
    seen: SimpleQueue[Polled] = SimpleQueue()
    looks.next = [Sighting("duo", "role.busy", {"role": "dev"}, "screen")] * (AT_MOST + 7)
    poller = poller_of(looks, seen)
    polled = seen.get(timeout=20)
    poller.stop()
    assert len(polled.sightings) == AT_MOST
    assert polled.fault is not None
    assert str(AT_MOST + 7) in polled.fault


def test_a_look_that_does_not_come_back_hangs_and_its_end_is_reported(looks: Looks) -> None:
    """Whoever asks learns it; the look that comes back after all is reported, so that the gate ends."""
    seen: SimpleQueue[Polled] = SimpleQueue()
    looks.gate.clear()
    poller = poller_of(looks, seen)
    wait_for(lambda: poller.hangs(float("inf")), 20, "a look that is under way")
    assert not poller.hangs(HANGS_AFTER_S / 1e9)
    looks.gate.set()
    assert seen.get(timeout=20).fault is None
    poller.stop()


def test_nothing_seen_is_not_reported(looks: Looks) -> None:
    """A quiet host costs the loop nothing."""
    seen: SimpleQueue[Polled] = SimpleQueue()
    poller = poller_of(looks, seen)
    wait_for(lambda: looks.looks > 5, 20, "a few looks")
    poller.stop()
    assert seen.empty()
