"""The questions that a tick asks of a tmux server with many panes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import wait_for
from tmuxdriver import panes
from tmuxdriver.server import Tmux
from tmuxdriver.sessions import Server

MANY = 70
"""More than one command line of tmux has room for."""


@pytest.fixture
def crowd(tmp_path: Path) -> Iterator[Tmux]:
    """A server with many panes, each of which shows its own number."""
    tmux = Tmux(socket=str(tmp_path / "s"))
    show = "echo pane $TMUX_PANE; exec cat"
    tmux.run(
        ["new-session", "-d", "-s", "crowd", "-x", "60", "-y", "10", "sh", "-c", show],
        *(["new-window", "-d", "-t", "=crowd:", "sh", "-c", show] for _ in range(MANY - 1)),
    )
    yield tmux
    Server(tmux).kill()


def test_every_one_of_many_panes_is_captured(crowd: Tmux) -> None:
    """However many need a look at once, as after a restart, none is left for the next tick."""
    ids = list(panes.look(crowd).panes)
    assert len(ids) == MANY

    def all_show() -> bool:
        captured = panes.capture(crowd, ids)
        assert captured.keys() == set(ids)
        return all(f"pane {pane_id}\n" in capture.text for pane_id, (_, capture) in captured.items())

    wait_for(all_show, 10, "every pane shows its number")


def test_a_pane_that_is_gone_takes_no_other_with_it(crowd: Tmux) -> None:
    """Those that were asked for after it are captured all the same."""
    ids = list(panes.look(crowd).panes)
    gone = ids[MANY // 2]
    crowd.run(["kill-pane", "-t", gone])
    assert panes.capture(crowd, ids).keys() == set(ids) - {gone}
