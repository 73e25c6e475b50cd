"""When a rate limit ends, in the words of the programs."""

from __future__ import annotations

from datetime import datetime

import pytest

from matcore.engine.resets import until

NOON_S = datetime(2026, 1, 15, 12, 0, 0).astimezone().timestamp()


@pytest.mark.parametrize(
    ("said", "in_s"),
    [
        ("90", 90),
        ("1.5", 1.5),
        ("14:30", 9000),
        ("12:00:30", 30),
        ("11:59", 86_340),
        ("3pm", 10_800),
        ("3:15 PM", 11_700),
        ("12am", 43_200),
        ("2 hours 5 minutes", 7500),
        ("1h 2m", 3720),
        ("3 days, 4 hours and 1 minute", 273_660),
        ("35s", 35),
        ("1.2s", 1.2),
    ],
)
def test_what_is_said_is_a_time(said: str, in_s: float) -> None:
    """Seconds from then, a clock's next time, or how long it takes."""
    assert until(said, NOON_S) == pytest.approx(NOON_S + in_s)


def test_a_date_is_what_it_says() -> None:
    """Unix time and ISO."""
    assert until("1767225600", NOON_S) == 1767225600
    assert until("2026-01-15T13:00:00+00:00", NOON_S) == 1768482000


@pytest.mark.parametrize("said", ["", "later", "25:00", "13:99", "tomorrow at 3", "5 bananas"])
def test_what_is_no_time_is_none(said: str) -> None:
    """Nothing is guessed: an unknown end is no gate."""
    assert until(said, NOON_S) is None
