"""How lengths of time are written for people, wherever one is: `7m 12s`."""

from __future__ import annotations

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


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
