"""Tests wait for events, never for time: one helper, and a deadline that names what did not happen."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

LOOK_S = 0.01


def wait_for(predicate: Callable[[], T], timeout_s: float = 10.0, what: str = "") -> T:
    """The first truthy value of `predicate`. Fails the test when there was none within `timeout_s` seconds."""
    end = time.monotonic() + timeout_s
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() >= end:
            named = what or getattr(predicate, "__name__", repr(predicate))
            raise AssertionError(f"not within {timeout_s:g} s: {named} (last seen: {value!r})")
        time.sleep(LOOK_S)


def json_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a log that somebody may be writing at this moment: a line that is not whole yet is left out."""
    if not path.exists():
        return []
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    return [json.loads(line) for line in whole.split(b"\n") if line]
