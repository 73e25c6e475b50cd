"""How times, durations and foreign text are written for people: local time with offset, "7m 12s", harmless."""

from __future__ import annotations

from datetime import datetime

from rich.markup import escape

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def duration(seconds: float) -> str:
    """`7m 12s`, `2d 3h`, `0.4s`: the two largest units."""
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds < 10:
        return f"{seconds:.1f}s".replace(".0s", "s")
    left = round(seconds)
    parts: list[str] = []
    for unit, size in _UNITS:
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count}{unit}")
    return " ".join(part for part in parts[:2] if not part.startswith("0")) or "0s"


def clock(wall_s: float) -> str:
    """Local time with its offset, to the second."""
    return datetime.fromtimestamp(wall_s).astimezone().strftime("%Y-%m-%d %H:%M:%S%z")


def plain(text: object) -> str:
    """Foreign text on one line, its control characters made visible: nothing in it can move a cursor."""
    return "".join(c if c.isprintable() else _visible(c) for c in str(text))


def safe(text: object) -> str:
    """Foreign text for rich: `plain`, and no markup in it takes effect."""
    return escape(plain(text))


def _visible(character: str) -> str:
    return " " if character in "\n\t" else character.encode("unicode_escape").decode("ascii")
