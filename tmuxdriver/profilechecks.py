"""What can be wrong with a profile beyond the types of its values: each fault with the path of its key."""

from __future__ import annotations

import re
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from matcore.engine.shaped import suggestion

_PATTERN_KEYS = frozenset(
    {
        *("match", "foot", "body", "mark", "indent", "right", "top", "bottom"),
        *("chrome", "pasted", "menu", "turn_start", "resets", "exhausted"),
    }
)


def bad_patterns(data: object, path: str = "") -> list[str]:
    """Every pattern that does not compile, in a profile as plain data; `path` is where `data` stands in it."""
    faults: list[str] = []
    if isinstance(data, dict):
        for key, value in data.items():
            here = f"{path}.{key}" if path else str(key)
            is_title = path == "title" and key != "required"
            if isinstance(value, str) and (key in _PATTERN_KEYS or is_title):
                faults += _compiles(value, here)
            elif key != "headless":
                faults += bad_patterns(value, here)
    elif isinstance(data, list | tuple):
        for number, value in enumerate(data):
            here = f"{path}[{number}]"
            faults += _compiles(value, here) if path.endswith("placeholders") else bad_patterns(value, here)
    return faults


def _compiles(text: str, path: str) -> list[str]:
    try:
        re.compile(text)
    except re.error as err:
        return [f"`{path}` is not a regular expression: {err}"]
    return []


def unknown_keys(data: object, kind: Any, path: str = "") -> list[str]:  # noqa: ANN401 - walks arbitrary types
    """Every key that `kind` does not have, with the nearest one that it has."""
    faults: list[str] = []
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(data, dict):
        hints = get_type_hints(kind)
        for key, value in data.items():
            here = f"{path}.{key}" if path else str(key)
            if key in hints:
                faults += unknown_keys(value, hints[key], here)
            else:
                faults.append(f"unknown key `{here}`; {suggestion(str(key), hints)}")
    elif get_origin(kind) is tuple and isinstance(data, list):
        for number, value in enumerate(data):
            faults += unknown_keys(value, get_args(kind)[0], f"{path}[{number}]")
    return faults
