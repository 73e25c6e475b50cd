"""How times, lengths of time and counts are written for people, wherever there is one."""

from __future__ import annotations

from datetime import datetime

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def clock(wall_s: float) -> str:
    """Unix time as local time with its offset, to the second: `2026-11-30 02:11:09+0100`."""
    return datetime.fromtimestamp(wall_s).astimezone().strftime("%Y-%m-%d %H:%M:%S%z")


def counted(count: int, what: str) -> str:
    """`1 handoff`, `2 handoffs`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """`7m 12s`, `2d 3h`, `0.4s`: the two largest units."""
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds < 9.95:
        return f"{seconds:.1f}s".replace(".0s", "s")
    left = round(seconds)
    parts: list[str] = []
    for unit, size in _UNITS:
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count}{unit}")
    return " ".join(part for part in parts[:2] if not part.startswith("0")) or "0s"
