"""When a rate limit ends, read from the words of the programs: a number, a clock, a date, or how long it takes."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?\s*([ap]m)?", re.IGNORECASE)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(d|h|m|s)[a-z]*", re.IGNORECASE)
_UNIT_S = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0}


def until(said: str, now_s: float) -> float | None:
    """Unix time of what was said at Unix time `now_s`; None for what is none.

    `90` (seconds from then), `1767225600`, `14:30`, `3pm`, `2 hours 5 minutes`, an ISO date with its time.
    """
    said = said.strip()
    if re.fullmatch(r"\d{1,6}(\.\d+)?", said):
        return now_s + float(said)
    if re.fullmatch(r"\d{9,11}(\.\d+)?", said):
        return float(said)
    clock = _CLOCK.fullmatch(said)
    if clock is not None:
        return _next(clock, now_s)
    parts = _PART.findall(said)
    if parts and not _PART.sub("", said).strip(" ,and"):
        return now_s + sum(float(number) * _UNIT_S[unit.lower()] for number, unit in parts)
    try:
        return datetime.fromisoformat(said).timestamp()
    except ValueError:
        return None


def _next(clock: re.Match[str], now_s: float) -> float | None:
    """The next time at which a clock here shows that."""
    hour, minute, second = (int(part or 0) for part in clock.groups()[:3])
    half = (clock[4] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    now = datetime.fromtimestamp(now_s).astimezone()
    then = now.replace(hour=hour, minute=minute, second=second, microsecond=0)
    return (then if then > now else then + timedelta(days=1)).timestamp()
