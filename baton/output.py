"""What the output of a headless turn says of it.

An exit code is not trusted alone: some programs exit 0 on errors. What a program writes as JSON is read by paths that
the profile names; what it writes as text is only kept, and searched for the kind of its error.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from baton.runtimes import CRASH, OTHER, RATE_LIMIT, Headless, Told
from matcore.engine import resets

_SAID_CHARS = 4000


class Reading(msgspec.Struct):
    """What a turn's output said. `until_s`: Unix time at which a rate limit ends."""

    session_id: str | None = None
    failed: bool = False
    error: str | None = None
    error_class: str | None = None
    tokens: int | None = None
    cost: float | None = None
    until_s: float | None = None


def read(runtime: Headless, stdout: str, stderr: str, exit_code: int | None) -> Reading:
    """What the output of a turn says of it. `exit_code` None: it was ended by us."""
    objects = list(_objects(stdout))
    session = _first(runtime.session, objects)
    cost = _first(runtime.cost, objects)
    tokens = [value for told in runtime.tokens if isinstance(value := _find(told, objects), int)]
    reading = Reading(
        session_id=session if isinstance(session, str) else None,
        failed=exit_code != 0 or any(_find(told, objects) not in (None, False, "", 0) for told in runtime.failed),
        tokens=sum(tokens) if tokens else None,
        cost=float(cost) if isinstance(cost, int | float) else None,
    )
    if reading.failed:
        said = _first(runtime.error, objects)
        text = said if isinstance(said, str) and said.strip() else stderr.strip() or stdout.strip()
        text = text[-_SAID_CHARS:]
        reading.error = _last_line(text) or f"exit code {exit_code}"
        reading.error_class = _class_of(runtime, text, exit_code)
        if reading.error_class == RATE_LIMIT and runtime.resets is not None:
            reading.until_s = _reset(runtime.resets, text)
    return reading


def _class_of(runtime: Headless, text: str, exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return CRASH
    for name, pattern in runtime.classes.items():
        if re.search(pattern, text, re.IGNORECASE):
            return name
    return CRASH if exit_code is not None and exit_code > 128 else OTHER


def _reset(pattern: str, text: str) -> float | None:
    """Unix time of a rate limit's end, from the last match."""
    found = re.findall(pattern, text, re.IGNORECASE)
    if not found:
        return None
    said = found[-1] if isinstance(found[-1], str) else next((part for part in found[-1] if part), "")
    return resets.until(said, time.time())


def _objects(stdout: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of an output: one whole document, or one a line; lines that are none are passed over."""
    whole = _parsed(stdout)
    found: list[object] = whole if isinstance(whole, list) else [whole]
    if whole is None:
        found = [_parsed(line) for line in stdout.splitlines() if line.lstrip().startswith("{")]
    yield from (item for item in found if isinstance(item, dict))


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first(many: Sequence[Told], objects: Sequence[Mapping[str, Any]]) -> object:
    return next((value for told in many if (value := _find(told, objects)) is not None), None)


def _find(told: Told, objects: Sequence[Mapping[str, Any]]) -> object:
    """Its value in the last object that has it."""
    for item in reversed(objects):
        if all(_at(item, path) == value for path, value in told.where.items()):
            value = _at(item, told.at) if told.at else True
            if value is not None:
                return value
    return None


def _at(item: object, path: str) -> object:
    for key in path.split("."):
        item = item.get(key) if isinstance(item, Mapping) else None
    return item


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""
