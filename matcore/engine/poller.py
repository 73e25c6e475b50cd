"""One thread for each driver: looks, reports what it saw, sleeps. A missed tick is coalesced, never made up for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from matcore.engine.driver import Driver
from matcore.engine.events import Polled

TICK_S = 1.0
HANGS_AFTER_S = 60.0
AT_MOST = 5000
"""More than this in one look is a driver gone wrong: it would keep the loop from everybody else."""


class Poller:
    """Calls `driver.observe()` each tick and whenever it is hurried. A failing look is reported, not fatal."""

    def __init__(self, key: str, driver: Driver, put: Callable[[Polled], None], tick_s: float = TICK_S) -> None:
        self._key = key
        self._driver = driver
        self._put = put
        self._tick_s = tick_s
        self._hurry = threading.Event()
        self._stopped = False
        self._failing = False
        self._looks_since_s: float | None = None
        self._thread = threading.Thread(target=self._run, name=f"poll {key[:24]}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def hurry(self) -> None:
        """Look again now, not only at the next tick."""
        self._hurry.set()

    def hangs(self, now_s: float) -> bool:
        """Whether a look has lasted for a minute (`now_s` is CLOCK_MONOTONIC). When it comes back that is reported."""
        since_s = self._looks_since_s
        hangs = since_s is not None and now_s - since_s >= HANGS_AFTER_S
        self._failing = self._failing or hangs
        return hangs

    def stop(self) -> None:
        self._stopped = True
        self._hurry.set()

    def _run(self) -> None:
        while not self._stopped:
            self._look()
            self._hurry.wait(self._tick_s)
            self._hurry.clear()

    def _look(self) -> None:
        self._looks_since_s = time.monotonic()
        try:
            sightings = self._driver.observe()
        except Exception as e:  # noqa: BLE001 - a check that fails for ever is a gate like any other, so it is told
            self._failing = True
            self._put(Polled(self._key, (), f"{type(e).__name__}: {e}"))
            return
        finally:
            self._looks_since_s = None
        if len(sightings) > AT_MOST:
            self._failing = True
            fault = f"the driver saw {len(sightings)} things in one look; the first {AT_MOST} count"
            self._put(Polled(self._key, sightings[:AT_MOST], fault))
            return
        if sightings or self._failing:
            self._failing = False
            self._put(Polled(self._key, sightings))
