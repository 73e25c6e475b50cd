"""Why an agent ended and what mat will do about it, and what is wrong around a session."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import msgspec

from matcore.engine.heartbeat import Beat
from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import Told, supervised

SAID = "Starting\nError: no key [red]\x1b[31m\n"


def started(tell: Tell, **config: Any) -> Told:
    """A session whose reviewer was started a moment ago."""
    told = tell(ago=8, **config)
    seat = {"started": True, "agent_session": "a-1"}
    return told.working().note("engine.seat", role="review", seat=seat)


def gone(told: Told, **fields: Any) -> Told:
    return told.fact("role.gone", 2, role="review", evidence="pane is dead, exit status 1", said=SAID, **fields)


def words(mat: Mat, command: str) -> str:
    return " ".join(mat(command)[1].replace("│", " ").split())


def test_an_agent_that_comes_back_by_itself_says_why_it_ended_and_when_it_comes(
    mat: Mat, tell: Tell, state: StatePlaces
) -> None:
    """Its last line, harmless, and mat's own next start; nobody is sent to do what mat does."""
    gone(started(tell), resumable=True)
    with supervised(state, "duo"):
        for command in ("status", "why"):
            said = words(mat, command)
            assert "review's agent (scripted) ended within 2s of its start" in said
            assert '"Error: no key [red][31m"' in said
            assert "mat starts it again" in said
            assert "mat restart" not in said
        (role,) = [r for r in json.loads(mat("status", "--json")[1])["sessions"][0]["roles"] if r["role"] == "review"]
    assert (round(role["lived_s"], 1), role["said"]) == (2.0, SAID)


def test_one_that_stays_away_waits_for_a_person(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """With the same words and the command."""
    gone(started(tell))
    with supervised(state, "duo"):
        said = words(mat, "why")
    assert "review's agent (scripted) ended within 2s of its start" in said
    assert '"Error: no key [red][31m"' in said
    assert "Start it again: mat restart duo review" in said


def test_after_a_crash_loop_it_says_that_nothing_is_started(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """What is told once stands there until a person acts."""
    gone(started(tell), resumable=True).note("engine.crash_loop", role="review", times=3, minutes=10)
    with supervised(state, "duo"):
        said = words(mat, "why")
    assert "mat starts it no more, for it ended again and again" in said
    assert "mat restart duo review" in said


def test_an_agent_that_had_worked_for_long_is_said_to_have_ended(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """How long it ran is of interest only where it never came to work."""
    told = started(tell)
    told.fact("role.gone", 3600, role="review", evidence="pane is dead, exit status 1")
    with supervised(state, "duo"):
        said = words(mat, "why")
    assert "review's agent has been gone for" in said
    assert "of its start" not in said


def test_what_is_wrong_around_a_session_is_shown_until_it_is_over(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """In the table, the sentences and the JSON; the session needs somebody."""
    told = tell(ago=8).working().note("engine.trouble", what="folder", reason="/w/.mat/duo: Permission denied [x]")
    with supervised(state, "duo"):
        for command in ("status", "why"):
            assert "/w/.mat/duo: Permission denied [x]" in words(mat, command)
            assert "mat doctor" in words(mat, command)
        (shot,) = json.loads(mat("status", "--json")[1])["sessions"]
    assert shot["troubles"] == [{"what": "folder", "reason": "/w/.mat/duo: Permission denied [x]"}]
    assert shot["needs"] == "its folder can't be written"
    told.note("engine.mended", what="folder")
    with supervised(state, "duo"):
        (shot,) = json.loads(mat("status", "--json")[1])["sessions"]
    assert (shot["troubles"], shot["needs"]) == ([], None)


def test_a_session_that_the_supervisor_could_not_take_up_says_why(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """A journal that looks well at its end may be damaged further up: starting the supervisor would not help."""
    tell(ago=600).working()
    with supervised(state):
        beat = msgspec.json.decode(state.heartbeat.read_bytes(), type=Beat)
        failed = dataclasses.replace(beat, failed={"duo": "Traceback\nentry 12: its digest is another one [x]"})
        state.heartbeat.write_bytes(msgspec.json.encode(failed))
        for command in ("status", "why"):
            said = words(mat, command)
            assert "mat can't watch this session" in said
            assert "entry 12: its digest is another one [x]" in said
            assert "mat verify duo" in said
            assert "mat up" not in said
