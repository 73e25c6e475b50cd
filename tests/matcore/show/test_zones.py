"""Times are local with their offset, whatever the offset is and whenever it changes; durations don't care."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from matcore.engine.clock import Mark, SystemClock
from matcore.places import StatePlaces
from matcore.show.text import clock, duration, moment
from matcore.show.when import wall_since
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import supervised

BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
KOLKATA = "IST-5:30"
LORD_HOWE = "LHST-10:30LHDT-11,M10.1.0,M4.1.0"
NEWFOUNDLAND = "NST3:30NDT,M3.2.0,M11.1.0"
Zone = Callable[[str], None]


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Zone]:
    """Sets the local time zone, by a rule that needs no files."""

    def use(rule: str) -> None:
        monkeypatch.setenv("TZ", rule)
        time.tzset()

    yield use
    monkeypatch.undo()
    time.tzset()


def utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("rule", "when", "shown"),
    [
        (BERLIN, "2026-10-25T00:30", "2026-10-25 02:30:00+0200"),
        (BERLIN, "2026-10-25T01:30", "2026-10-25 02:30:00+0100"),
        (BERLIN, "2026-03-29T00:59:59", "2026-03-29 01:59:59+0100"),
        (BERLIN, "2026-03-29T01:00", "2026-03-29 03:00:00+0200"),
        (KOLKATA, "2026-11-30T20:00", "2026-12-01 01:30:00+0530"),
        (LORD_HOWE, "2026-07-01T00:00", "2026-07-01 10:30:00+1030"),
        (LORD_HOWE, "2026-12-01T00:00", "2026-12-01 11:00:00+1100"),
        (NEWFOUNDLAND, "2026-07-01T12:00", "2026-07-01 09:30:00-0230"),
        ("UTC0", "2026-11-30T12:00", "2026-11-30 12:00:00+0000"),
    ],
)
def test_a_time_has_the_offset_of_its_own_moment(zone: Zone, rule: str, when: str, shown: str) -> None:
    """Two moments that the wall shows alike are told apart by it."""
    zone(rule)
    assert clock(utc(when)) == shown


def test_only_the_date_of_today_is_left_out(zone: Zone) -> None:
    """By the local midnight, also on a day of 25 hours."""
    zone(BERLIN)
    now = utc("2026-10-25T22:50")
    assert moment(utc("2026-10-24T22:01"), now) == "00:01:00+0200"
    assert moment(utc("2026-10-25T22:30"), now) == "23:30:00+0100"
    assert moment(utc("2026-10-24T21:59"), now) == "2026-10-24 23:59:00+0200"


def test_a_duration_over_a_change_is_what_passed(zone: Zone) -> None:
    """From half past two to half past two it was an hour."""
    zone(BERLIN)
    assert duration(wall_since("2026-10-25T02:30+01:00", 0.0) - wall_since("2026-10-25T02:30+02:00", 0.0)) == "1h"


@pytest.mark.parametrize(
    ("given", "now", "meant"),
    [
        ("02:30", "2026-10-25T05:00", "2026-10-25T01:30"),  # it was half past two twice: the last time
        ("02:30", "2026-10-25T01:10", "2026-10-25T00:30"),  # between the two: the first
        ("today 02:30", "2026-10-25T05:00", "2026-10-25T01:30"),
        ("yesterday 02:30", "2026-10-26T05:00", "2026-10-25T01:30"),
        ("yesterday 12:00", "2026-10-25T12:00", "2026-10-24T10:00"),
        ("23:50", "2026-03-29T01:10", "2026-03-28T22:50"),
        ("12:00", "2026-03-29T12:00", "2026-03-29T10:00"),
    ],
)
def test_a_clock_time_is_the_last_of_its_kind(zone: Zone, given: str, now: str, meant: str) -> None:
    """On the days of 23 and 25 hours, too."""
    zone(BERLIN)
    assert clock(wall_since(given, utc(now))) == clock(utc(meant))


@pytest.mark.parametrize("set_by_s", [-3 * 3600, 3 * 3600])
def test_a_calendar_that_was_set_makes_nothing_longer_or_shorter(
    mat: Mat, tell: Tell, state: StatePlaces, set_by_s: float
) -> None:
    """Durations go by the clock that can't be set, and times are those of the calendar as it is now."""
    told, host = tell(ago=432), SystemClock()
    told.book.journal.add_mark(Mark(host.boot_id(), host.boot_s() - (time.time() - told.now), told.now, told.now))
    told.fact("cycle.opened", cycle="c1", goal="x", by="human").fact("role.idle", role="dev")
    told.book.take(told.now, told.now + set_by_s, "role.busy", {"role": "review", "evidence": "hook"})
    with supervised(state, "duo"):
        out = mat("why", "duo")[1]
        shot = json.loads(mat("status", "--json")[1])["sessions"][0]
    assert "review has been working for 7m 1" in out
    assert [role["since"] for role in shot["roles"]] == [pytest.approx(told.now, abs=0.1)] * 2


@pytest.mark.parametrize("rule", [BERLIN, KOLKATA, NEWFOUNDLAND])
def test_every_view_says_the_offset(mat: Mat, tell: Tell, state: StatePlaces, zone: Zone, rule: str) -> None:
    """status, why, log, episodes and recap, in local time."""
    zone(rule)
    told = tell(ago=700).stalled(1)
    told.fact("cycle.completed", cycle="c1", by="human")
    offset = datetime.now().astimezone().strftime("%z")
    with supervised(state, "duo"):
        for command in ("status", "why", "log", "episodes", "recap"):
            out = mat(command, "duo")[1]
            assert offset in out, command
            assert offset == "+0000" or "+0000" not in out, command
