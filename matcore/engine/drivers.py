"""Drivers by name, through the entry-point group `mat.drivers`: a driver for another terminal is a package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from matcore.engine.driver import Driver
from matcore.engine.shaped import suggestion
from matcore.errors import BadConfig

GROUP = "mat.drivers"


def names() -> list[str]:
    """Those that are installed, sorted."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def make(name: str, options: Mapping[str, Any]) -> Driver:
    """The driver `name` for these options. Raises `BadConfig` when there is none, `Unavailable` from the driver."""
    for point in entry_points(group=GROUP):
        if point.name == name:
            driver: Driver = point.load()(dict(options))
            return driver
    raise BadConfig([f'driver: no driver "{name}"; {suggestion(name, names())}'])


class Drivers:
    """One driver object for each name and options: sessions on the same terminal server share its polling."""

    def __init__(self) -> None:
        self._made: dict[str, Driver] = {}

    def of(self, name: str, options: Mapping[str, Any]) -> tuple[str, Driver]:
        """The key of a driver and the driver."""
        key = f"{name} {json.dumps(dict(options), sort_keys=True)}"
        if key not in self._made:
            self._made[key] = make(name, options)
        return key, self._made[key]
