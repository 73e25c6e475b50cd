"""What a program leaves on its screen when it ends, for whoever has to find out why."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.live.rig import Rig
from tmuxdriver import profile
from tmuxdriver.lastwords import how_it_ended, last_lines, shows_its_surface

UNKNOWN = "pane is dead, exit status unknown"
"""tmux 3.3a misses the end of a program now and then; what it knows of one is told (`how_it_ended`)."""
SCREENS = Path(__file__).parents[1] / "tmuxdriver" / "screens"


def shell(script: str) -> dict[str, object]:
    """A program that is this script."""
    return {"launch": {"argv": ["/bin/sh", "-c", script], "prompt": [], "fresh": [], "resume": ["--resume"]}}


def test_the_last_lines_of_an_agent_that_died_at_once_come_with_its_end(make_rig: Callable[..., Rig]) -> None:
    """Without styles, without what tmux writes below them."""
    rig = make_rig(changes=shell("printf '\\033[31mError:\\033[0m no key; see /login\\n' >&2; exit 3"))
    rig.up(ready=False)
    seen = rig.wait_to_see("role.gone", role="dev")
    assert seen.fields["said"] == "Error: no key; see /login"
    assert seen.evidence in ("pane is dead, exit status 3", UNKNOWN)  # tmux 3.3a does not always know


def test_an_agent_that_left_nothing_says_nothing(make_rig: Callable[..., Rig]) -> None:
    """No empty words are told."""
    rig = make_rig(changes=shell("exit 0"))
    rig.up(ready=False)
    assert "said" not in rig.wait_to_see("role.gone", role="dev").fields


def test_only_the_last_lines_count_and_none_is_long() -> None:
    """Rules and boxes are no words."""
    screen = "\n".join(["one", "two", "─────", "three", "four" * 100, "", "Pane is dead (status 1, Mon Nov 30)"])
    assert last_lines(screen).split("\n") == ["two", "three", "four" * 50]


def test_a_killed_agent_has_said_nothing_with_its_input_line(make_rig: Callable[..., Rig]) -> None:
    """What ended it is told, where tmux knows it; what it shows while it runs is quoted as nobody's last words."""
    rig = make_rig()
    rig.up()
    os.kill(rig.agent_pid(), signal.SIGKILL)
    seen = rig.wait_to_see("role.gone", role="dev")
    assert seen.evidence in ("pane is dead, killed by signal 9", UNKNOWN)
    assert "said" not in seen.fields


def test_what_stands_below_when_a_signal_ended_it_is_told(make_rig: Callable[..., Rig]) -> None:
    """A program that was not at its input line may have said why."""
    rig = make_rig(changes=shell("echo 'FATAL ERROR: heap out of memory' >&2; kill -ABRT $$"))
    rig.up(ready=False)
    seen = rig.wait_to_see("role.gone", role="dev")
    assert seen.evidence in ("pane is dead, killed by signal 6", UNKNOWN)
    assert seen.fields["said"] == "FATAL ERROR: heap out of memory"


@pytest.mark.parametrize("name", ["claude/after-text", "claude/approval", "claude/busy"])
def test_the_surface_of_a_real_program_is_known(name: str) -> None:
    """Idle, at a dialog and at work, with the line below it that tmux writes."""
    program, _, _ = name.partition("/")
    screen = (SCREENS / f"{name}.txt").read_text(encoding="utf-8")
    assert shows_its_surface(profile.load(program), f"{screen.rstrip()}\nPane is dead (signal 9, Mon Nov 30)")


@pytest.mark.parametrize(
    ("status", "number", "said"), [("3", "", "exit status 3"), ("", "9", "killed by signal 9"), ("", "", "")]
)
def test_what_tmux_knows_of_an_end_is_told(status: str, number: str, said: str) -> None:
    """An exit status, a signal, or nothing."""
    assert how_it_ended({"pane_dead_status": status, "pane_dead_signal": number}) == said
