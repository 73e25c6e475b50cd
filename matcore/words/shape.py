"""Makes any name, path or sentence fit to be typed into a terminal or shown to a person.

A text that is injected is always under 1 KiB and holds no control characters but newline and tab, whatever the names
and paths are that went into it: a control character in a pane is a key.
"""

from __future__ import annotations

import re

LIMIT = 1023
"""The most bytes (UTF-8) that an injected or announced text has."""

_PASTE_FRAME = re.compile(r"(?:\x1b\[|\x9b)20[01]~")
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_IN_SESSION = re.compile(r"/\.mat/[^/]+/")


def clean(text: str) -> str:
    """`text` without paste frames, control characters, direction marks and lone surrogates; newline and tab stay."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return _FORBIDDEN.sub("", _PASTE_FRAME.sub("", unified))


def line(text: str, limit: int) -> str:
    """`text` cleaned, in one line of at most `limit` bytes; what is too long loses its middle."""
    return middle(" ".join(clean(text).split()), limit)


def middle(text: str, limit: int) -> str:
    """`text` in at most `limit` bytes of UTF-8: its beginning, `…`, its end."""
    data = text.encode("utf-8")
    if len(data) <= limit:
        return text
    room = limit - len("…".encode())
    head = data[: room - room // 2].decode("utf-8", "ignore")
    tail = data[len(data) - room // 2 :].decode("utf-8", "ignore")
    return f"{head}…{tail}"


def size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text.encode("utf-8"))


def reachable(path: str, limit: int) -> str:
    """`path` as an agent can open it, in at most `limit` bytes.

    A path that is too long, or that holds control characters, is named below `$MAT_DIR`, which every agent has in
    its environment; only what is not there loses its middle.
    """
    if clean(path) == path and "\n" not in path and "\t" not in path and size(path) <= limit:
        return path
    inside = list(_IN_SESSION.finditer(path))
    return line(f"$MAT_DIR/{path[inside[-1].end() :]}" if inside else path, limit)


def program(command: str, name: str = "send-relay") -> str:
    """How an agent calls `name`, given how it calls `send-relay`: bare, or by the absolute path beside it.

    A path too long to be named safely is left to PATH.
    """
    folder, slash, _ = command.rpartition("/")
    if not slash or size(command) > 120 or line(command, 120) != command or " " in command:
        return name
    return f"{folder}/{name}"
