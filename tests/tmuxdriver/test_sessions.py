"""libtmux through our client: bounded calls, exact names, and an answer that is none is no "no"."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import libtmux
import pytest
from libtmux.exc import LibTmuxException

from tmuxdriver.server import CommandFailed, Tmux, Unreachable
from tmuxdriver.sessions import Server, end_session, has_session


def fake(tmp_path: Path, script: str) -> Tmux:
    """A tmux that does as the script says."""
    binary = tmp_path / "tmux"
    binary.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    binary.chmod(0o755)
    return Tmux(socket="none", binary=str(binary), timeout_s=0.5)


@pytest.fixture
def tmux() -> Iterator[Tmux]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed: apt-get install tmux")
    tmux = Tmux(socket=f"mat-{uuid.uuid4().hex[:12]}")
    yield tmux
    Server(tmux).kill()


@pytest.mark.parametrize("script", ["sleep 60", "echo 'server exited unexpectedly' >&2; exit 1", "exit 1"])
def test_no_answer_is_not_no_session(tmp_path: Path, script: str) -> None:
    """A server that stands still, or ends, raises within a bounded time; `has_session` never says no for it."""
    began = time.monotonic()
    for ask in (has_session, end_session):
        with pytest.raises(Unreachable):
            ask(fake(tmp_path, script), "duo")
    assert time.monotonic() - began < 5


def test_where_no_server_runs_there_is_no_session(tmux: Tmux) -> None:
    """That is an authoritative answer, and an end that has nothing to do."""
    assert not has_session(tmux, "duo")
    end_session(tmux, "duo")


@pytest.mark.field_case("tmux")
def test_a_server_that_ends_with_its_last_session_has_done_what_it_was_told(tmp_path: Path) -> None:
    """It may be gone before it has answered."""
    script = '[ "$6" = kill-session ] && { echo "server exited unexpectedly" >&2; exit 1; }'
    end_session(fake(tmp_path, f"{script}; echo 'no server running on x' >&2; exit 1"), "duo")


def test_a_session_is_known_by_its_whole_name(tmux: Tmux) -> None:
    """`solo` is not `solo-review`, neither to be asked for nor to be ended."""
    server = Server(tmux)
    server.new_session(session_name="another", window_command="cat")  # a server without any session ends
    server.new_session(session_name="solo-review", window_command="cat")
    assert not has_session(tmux, "solo")
    end_session(tmux, "solo")
    assert has_session(tmux, "solo-review")
    end_session(tmux, "solo-review")
    assert not has_session(tmux, "solo-review")


def test_each_call_of_libtmux_has_our_socket_conf_and_time(tmp_path: Path) -> None:
    """What libtmux's own methods call is one command of our client, and a semicolon is a word of it."""
    server = Server(fake(tmp_path, 'for word; do echo "<$word>"; done'))
    assert isinstance(server, libtmux.Server)
    said = server.cmd("set-buffer", "a;", target="=x").stdout
    assert said[:3] == ["<-u>", "<-L>", "<none>"]
    assert said[3] == "<-f>"
    assert said[5:] == ["<set-buffer>", "<-t>", "<=x>", "<a\\;>"]


def test_a_refusal_is_libtmuxs_own_error(tmp_path: Path) -> None:
    """So that its methods say what was wrong, and `end_session` when the session is still there."""
    refusing = fake(tmp_path, '[ "$6" = has-session ] || { echo "not now" >&2; exit 1; }')
    with pytest.raises(LibTmuxException, match="not now"):
        Server(refusing).kill_session("x")
    with pytest.raises(CommandFailed, match="not now"):
        end_session(refusing, "x")
