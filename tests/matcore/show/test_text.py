"""How times, durations and foreign text are written."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

import pytest

from matcore.errors import BadConfig
from matcore.rules import decisions
from matcore.show import phrases
from matcore.show.text import clock, duration, folded, moment, plain, short
from matcore.show.when import wall_since


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0s"), (0.4, "0.4s"), (9.96, "10s"), (59.6, "1m"), (432, "7m 12s"), (3600, "1h"), (3605, "1h"),
        (183_600, "2d 3h"), (86_400, "1d"), (-90, "-1m 30s"),
    ],
)  # fmt: skip
def test_durations_are_for_people(seconds: float, words: str) -> None:
    """The two largest units, and no more of them than there are."""
    assert duration(seconds) == words


def test_a_moment_of_today_needs_no_date() -> None:
    """Any other has one; both have the offset."""
    now = datetime(2026, 11, 30, 12, 0, 0).astimezone().timestamp()
    assert moment(now - 60, now) == clock(now - 60).split(" ")[1]
    assert moment(now - 86_400, now) == clock(now - 86_400)
    assert clock(now)[-5] in "+-"


@pytest.mark.parametrize(
    ("given", "shown"),
    [("a\nb\tc\r", "a b c "), ("\x1b[31m", "\\x1b[31m"), ("\u202e", "\\u202e"), ("a\u00a0b", "a b"), ("ü–✓", "ü–✓")],
)
def test_foreign_text_is_one_harmless_line(given: str, shown: str) -> None:
    """Control characters are made visible, what can be printed stays."""
    assert plain(given) == shown


def test_what_is_too_long_says_so() -> None:
    """By its last character."""
    assert short("abcdef", 4) == "abc…"
    assert short("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    ("line", "width", "lines"),
    [
        ("one two three", 8, ["one two", "  three"]),
        ("  one two", 7, ["  one", "    two"]),
        ("go: mat attach a-very-long-name", 12, ["go: mat", "  attach", "  a-very-long-name"]),
        ("漢字 漢字 漢字", 10, ["漢字 漢字", "  漢字"]),
        ("", 10, [""]),
        ("short", 80, ["short"]),
    ],
)
def test_a_line_is_folded_between_its_words(line: str, width: int, lines: list[str]) -> None:
    """By the columns that it takes; what is longer than a line stays whole, to be copied."""
    assert folded(line, width) == lines


def test_times_as_people_type_them() -> None:
    """A clock time is the last of its kind, an age counts back, an ISO time is itself, in local time unless it says."""
    now = datetime(2026, 11, 30, 12, 0, 0).astimezone()

    def when(text: str) -> datetime:
        return datetime.fromtimestamp(wall_since(text, now.timestamp())).astimezone()

    assert when("02:30") == now.replace(hour=2, minute=30)
    assert when("13:00:01") == now.replace(hour=13, second=1) - timedelta(days=1)
    assert when("yesterday 23:10") == now.replace(hour=23, minute=10) - timedelta(days=1)
    assert when("Today  01:00") == now.replace(hour=1)
    assert when("1h30m") == now - timedelta(minutes=90)
    assert when("90") == now - timedelta(seconds=90)
    assert when("2026-11-30T02:30") == now.replace(hour=2, minute=30)
    assert when("2026-11-30T02:30+00:00").timestamp() == 1_796_005_800.0
    assert when(clock(now.timestamp())) == now


@pytest.mark.parametrize("given", ["soon", "25:00", "", "0", "yesterday", "99999999999999", "2026-13-01"])
def test_what_is_no_time_is_a_fault(given: str) -> None:
    """With examples of what is."""
    with pytest.raises(BadConfig, match="02:30"):
        wall_since(given, time.time())


def test_every_decision_and_gate_has_its_words() -> None:
    """What happened and what will are phrases, with no value left out."""
    for event in decisions.EVENTS.values():
        if event not in ("notify", "wake.closed"):
            assert phrases.done({"event": event}) != event
    for kind in decisions.NotifyKind:
        assert "(" not in phrases.coming({"event": "notify", "kind": kind.value}).replace("(rung 3)", "")
        assert phrases.done({"event": "notify", "kind": kind.value}).startswith("you were told")
    for status in decisions.WakeStatus:
        said = {"event": "wake.closed", "status": status.value, "role": "dev", "message": "r-1", "reason": "no_reply"}
        assert "dev" in phrases.done(said)
    assert phrases.gate("copy-mode/dev", "duo").startswith("somebody scrolls in dev's window")
    assert phrases.gate("never-heard-of", "duo") == ""
