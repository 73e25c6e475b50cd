"""What a program leaves on its screen when it ends, for whoever has to find out why."""

from __future__ import annotations

from collections.abc import Callable

from tests.live.rig import Rig
from tmuxdriver.lastwords import last_lines


def shell(script: str) -> dict[str, object]:
    """A program that is this script."""
    return {"launch": {"argv": ["/bin/sh", "-c", script], "prompt": [], "fresh": [], "resume": ["--resume"]}}


def test_the_last_lines_of_an_agent_that_died_at_once_come_with_its_end(make_rig: Callable[..., Rig]) -> None:
    """Without styles, without what tmux writes below them."""
    rig = make_rig(changes=shell("printf '\\033[31mError:\\033[0m no key; see /login\\n' >&2; exit 3"))
    rig.up(ready=False)
    seen = rig.wait_to_see("role.gone", role="dev")
    assert seen.fields["said"] == "Error: no key; see /login"
    assert "exit status 3" in seen.evidence


def test_an_agent_that_left_nothing_says_nothing(make_rig: Callable[..., Rig]) -> None:
    """No empty words are told."""
    rig = make_rig(changes=shell("exit 0"))
    rig.up(ready=False)
    assert "said" not in rig.wait_to_see("role.gone", role="dev").fields


def test_only_the_last_lines_count_and_none_is_long() -> None:
    """Rules and boxes are no words."""
    screen = "\n".join(["one", "two", "─────", "three", "four" * 100, "", "Pane is dead (status 1, Mon Nov 30)"])
    assert last_lines(screen).split("\n") == ["two", "three", "four" * 50]
