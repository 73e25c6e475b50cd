"""Points in time as people type them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from matcore.engine.configchecks import duration_s
from matcore.errors import BadConfig

_CLOCK = re.compile(r"(?:(today|yesterday) +)?(\d{1,2}):(\d{2})(?::(\d{2}))?", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(\.\d+)?")


def wall_since(text: str, now_s: float) -> float:
    """Unix time of `02:30` (the last time it was that late), `yesterday 23:10`, an ISO time, or an age as `8h`.

    Raises `BadConfig`.
    """
    given = " ".join(text.split())
    now = datetime.fromtimestamp(now_s).astimezone()
    try:
        match = _CLOCK.fullmatch(given)
        if match:
            return _clock_time(match, now)
        if not _NUMBER.fullmatch(given):  # an age in seconds; as an ISO time it would be a year
            moment = datetime.fromisoformat(given)
            return (moment if moment.tzinfo else moment.astimezone()).timestamp()
    except (ValueError, OverflowError, OSError):
        pass
    try:
        return now_s - duration_s(given)
    except BadConfig:
        raise BadConfig(
            [f'"{given}" is no time; say 02:30, "yesterday 23:10", 2026-11-30T02:30, or an age such as 8h or 1h30m']
        ) from None


def _clock_time(match: re.Match[str], now: datetime) -> float:
    """Raises ValueError for `25:00`. The wall's own offset of that day is taken."""
    hour, minute, second = (int(part or 0) for part in match.groups()[1:])
    then = now.replace(tzinfo=None, hour=hour, minute=minute, second=second, microsecond=0)
    day = (match[1] or "").lower()
    if day == "yesterday" or (not day and then.astimezone() > now):
        then -= timedelta(days=1)
    return then.astimezone().timestamp()
