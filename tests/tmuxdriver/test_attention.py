"""Whether somebody reads in a mode of a pane, or has forgotten it."""

from __future__ import annotations

import pytest

from tmuxdriver.attention import Attention
from tmuxdriver.panes import Client, Identity, Pane

PANE = Identity("1", "2", "%0", "3")
WALL_S = 1_000_000.0


def pane(mode: str = "1") -> Pane:
    """In copy mode, in the tmux session `$0`."""
    return Pane(PANE, {"pane_in_mode": mode, "session_id": "$0"})


def at(attention: Attention, now_s: float, key_s: float | None, session: str = "$0", mode: str = "1") -> bool:
    """Whether somebody reads now; `key_s` is when a client of the session was touched last, None: none is attached."""
    clients = [] if key_s is None else [Client(session, str(WALL_S + key_s), "/dev/pts/9")]
    attention.saw(clients, now_s, WALL_S + now_s)
    return attention.is_on(pane(mode), now_s)


@pytest.mark.parametrize("key_s", [-300.0, 0.0])
def test_a_mode_counts_from_the_moment_it_is_entered(key_s: float) -> None:
    """Also where a command entered it, and the last key of who is attached is old."""
    attention = Attention()
    assert not at(attention, 0.0, key_s, mode="0")
    assert at(attention, 10.0, key_s)
    assert at(attention, 69.0, key_s)
    assert not at(attention, 70.0, key_s)
    assert at(attention, 100.0, 99.0)
    assert not at(attention, 160.0, 99.0)
    assert not at(attention, 161.0, 99.0, mode="0")
    assert at(attention, 162.0, 99.0)


def test_where_nobody_is_attached_nobody_reads() -> None:
    """Nor does somebody who is attached to another session."""
    attention = Attention()
    assert not at(attention, 0.0, None)
    assert not at(attention, 1.0, 1.0, session="$1")
