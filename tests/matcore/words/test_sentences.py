"""Small sentences that several views share: times, counts, and how a session is started again."""

from __future__ import annotations

import time

import pytest

from matcore.words import again, figures, messages, notices


@pytest.mark.parametrize(("seconds", "said"), [(0.4, "0.4s"), (432, "7m 12s"), (183_600, "2d 3h"), (-432, "-7m 12s")])
def test_a_duration_is_said_in_its_two_largest_units(seconds: float, said: str) -> None:
    """Also one that runs backwards."""
    assert figures.duration(seconds) == said


def test_a_time_has_its_offset_without_a_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copied from a notification it is one that the commands show, too."""
    monkeypatch.setenv("TZ", "UTC-1")
    time.tzset()
    try:
        assert figures.clock(1_764_465_069) == "2025-11-30 02:11:09+0100"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(("count", "said"), [(0, "0 handoffs"), (1, "1 handoff"), (2, "2 handoffs")])
def test_one_thing_is_counted_in_the_singular(count: int, said: str) -> None:
    """And all other counts in the plural."""
    assert figures.counted(count, "handoff") == said


def test_an_ended_session_is_started_again_where_its_duo_yaml_is() -> None:
    """The directory is quoted for a shell; without one only the command is named."""
    assert again.ended("duo", "/home/me/my work") == (
        "session \"duo\" has ended; start it again: cd '/home/me/my work' && mat up"
    )
    assert again.up("") == "mat up"


def test_the_next_goal_is_told_whole() -> None:
    """What the human wrote stands in it, without control characters."""
    said = messages.next_goal(goal="ship \x1b[1mit\n")
    assert said.startswith("The next goal: ship ")
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("woken", "said"),
    [
        ({}, "waking did not help"),
        ({"none_woken": ["dev"]}, "nobody could be woken: the agent of dev is gone"),
        ({"none_woken": ["dev", "review"]}, "nobody could be woken: the agents of dev and review are gone"),
    ],
)
def test_a_stall_says_whether_anybody_could_be_woken(woken: dict[str, object], said: str) -> None:
    """Where no agent was there to be woken, nobody hears that waking did not help."""
    assert said in notices.notice("idle-recovery", session="duo", **woken)
