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
    """The last of its kind, also where the wall shows it twice in a night. Raises ValueError for `25:00`."""
    hour, minute, second = (int(part or 0) for part in match.groups()[1:])
    wall = now.replace(tzinfo=None, hour=hour, minute=minute, second=second, microsecond=0)
    days = {"today": (0,), "yesterday": (1,)}.get((match[1] or "").lower(), (0, 1))
    meant = [(wall - timedelta(days=back)).replace(fold=fold).astimezone() for back in days for fold in (1, 0)]
    return next((moment for moment in meant if moment <= now), meant[0]).timestamp()
