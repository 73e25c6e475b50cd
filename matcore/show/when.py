"""Points in time as people type them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from matcore.engine.config import duration_s

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


def wall_since(text: str, now_s: float) -> float:
    """Unix time of `02:30` (the last time it was that late), an ISO time, or an age as `8h`. Raises `BadConfig`."""
    match = _CLOCK.fullmatch(text.strip())
    now = datetime.fromtimestamp(now_s).astimezone()
    if match:
        hour, minute, second = (int(part or 0) for part in match.groups())
        if hour < 24 and minute < 60 and second < 60:
            then = now.replace(hour=hour, minute=minute, second=second, microsecond=0)
            return (then if then <= now else then - timedelta(days=1)).timestamp()
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return now_s - duration_s(text)
    return (moment if moment.tzinfo else moment.astimezone()).timestamp()
