"""What happens to tmux itself, with real sessions on it: it stands still, it is killed under many, its client raves."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from tests.duo import MAT
from tests.live.many import Many, arrives, copies, hand_over, quiet_for, server_pid
from tests.waiting import wait_for

STANDS_S = 60.0


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Many]]:
    made: list[Many] = []

    def make(*names: str, **options: Any) -> Many:
        made.append(Many(tmp_path, *names, **options))
        return made[-1]

    yield make
    for many in made:
        many.end()


@pytest.mark.slow
@pytest.mark.field_case("Silence")
def test_a_tmux_server_that_stands_still_for_a_minute(make: Callable[..., Many]) -> None:
    """A gate, then after a window nobody is made out; the human is told of it once; then what waited arrives, once."""
    many = make("duo", window=12.0)
    (duo,) = many.duos
    many.up()
    pid = server_pid(duo)
    os.kill(pid, signal.SIGSTOP)
    try:
        relay = hand_over(duo, "dev", "review", "Please review.")
        duo.wait("gate.raised", 20, gate="tmux-unreachable")
        duo.wait("role.unknown", 30, role="dev")
        duo.wait("role.unknown", 30, role="review")
        duo.wait("gate.escalated", int(STANDS_S) + 30, gate="tmux-unreachable")
        wait_for(duo.told, 20, "a notification")
    finally:
        os.kill(pid, signal.SIGCONT)
    duo.wait("gate.cleared", 30, gate="tmux-unreachable")
    arrives(duo, "review", relay)
    duo.wait("role.idle", 30, role="review", count=2)
    later = hand_over(duo, "review", "dev", "Done.")
    arrives(duo, "dev", later)
    assert len(copies(duo, "review", relay)) == len(copies(duo, "dev", later)) == 1, duo.story()
    assert duo.told().count("has to be woken and can't be") == 1
    assert not duo.entries("role.gone")
    assert not duo.entries("engine.mistake")


@pytest.mark.slow
@pytest.mark.field_case("Notifications")
def test_a_tmux_server_that_is_killed_under_many_sessions_is_one_notice(make: Callable[..., Many]) -> None:
    """Six agents of three sessions: told once, no session's ladder tells the same, and `mat up` resumes each."""
    many = make("alpha", "beta", "gamma", window=15.0)
    many.up()
    relays = {duo.session: hand_over(duo, "dev", "review", "Please review.") for duo in many.duos}
    for duo in many.duos:
        arrives(duo, "review", relays[duo.session])
    os.kill(server_pid(many.duos[0]), signal.SIGKILL)
    for duo in many.duos:
        for role in ("dev", "review"):
            duo.wait("role.gone", 20, role=role)
    first = many.duos[0]
    wait_for(first.told, 20, "the notice")
    for duo in many.duos:
        decided = duo.wait("notify", 60, kind="idle-recovery")  # at the last rung, past those of agents that are gone
        duo.wait("effect.ended", 20, decision=decided.data["number"], ok=True)
    quiet_for(2.0)
    told = first.told()
    assert told.count("6 agents of 3 sessions are gone at once") == 1, told
    assert "stands still" not in told
    assert told.count("gone at once") == 1
    for duo in many.duos:
        assert "started dev, review" in duo.up().stdout
        duo.wait("role.idle", 30, role="dev", count=2)
        assert [start["resumed"] for start in duo.log("dev", "start")] == [False, True]
    relay = hand_over(first, "review", "dev", "Done.")
    arrives(first, "dev", relay)
    for duo in many.duos:
        assert not duo.entries("engine.mistake")


RAVES = {
    "hangs": "exec sleep 60",
    "raves": r"printf '\377\376 garbage|%%0|\033[2J'; exit 0",
    "floods": "exec yes '%0|1|2|3|4|5|6|7|8|9'",
    "fails": "echo 'lost server' >&2; exit 1",
}


@pytest.mark.slow
@pytest.mark.field_case("Silence")
@pytest.mark.parametrize("how", RAVES)
def test_a_tmux_binary_that_does_not_answer_is_a_gate_and_nobody_is_gone(make: Callable[..., Many], how: str) -> None:
    """It hangs, prints garbage, floods or fails for a while: nobody is taken for dead, and what waited arrives once."""
    many = make("duo", window=60.0)
    (duo,) = many.duos
    bin_ = duo.folder / "bin"
    bin_.mkdir()
    mode = duo.folder / "mode"
    mode.write_text("well")
    wrapper = bin_ / "tmux"
    wrapper.write_text(f'#!/bin/sh\n[ "$(cat {mode})" = well ] && exec {which("tmux")} "$@"\n{RAVES[how]}\n')
    wrapper.chmod(0o755)
    duo.env["PATH"] = f"{bin_}:{duo.env['PATH']}"
    many.up()
    mode.write_text("ill")
    duo.wait("gate.raised", 30, gate="tmux-unreachable")
    relay = hand_over(duo, "dev", "review", "Please review.")
    quiet_for(4.0)
    assert not duo.entries("role.gone"), duo.story()
    mode.write_text("well")
    duo.wait("gate.cleared", 40, gate="tmux-unreachable")
    arrives(duo, "review", relay)
    quiet_for(1.0)
    assert len(copies(duo, "review", relay)) == 1
    assert not duo.entries("role.gone")
    assert not duo.entries("engine.mistake")


@pytest.mark.slow
@pytest.mark.field_case("People")
def test_a_person_who_attaches_detaches_and_closes_the_terminal_is_in_nobodys_way(make: Callable[..., Many]) -> None:
    """`mat attach` in a terminal of theirs: work goes on beside them, after they have left, and when it was closed."""
    many = make("duo")
    (duo,) = many.duos
    many.up()

    def handed_over(text: str) -> None:
        relay = hand_over(duo, "dev", "review", text)
        arrives(duo, "review", relay)
        wait_for(lambda: duo.entries("relay.delivered", id=relay, confirmed=True), 20, "its delivery")

    def clients() -> int:
        return len(duo.tmux("list-clients").splitlines())

    for how in ("detaches", "closes"):
        parent, child = pty.openpty()
        client = subprocess.Popen(
            [*MAT, "attach", "duo", "review"], stdin=child, stdout=child, stderr=child, cwd=duo.work,
            env={**duo.env, "TERM": "xterm-256color"}, start_new_session=True,
        )  # fmt: skip
        try:
            os.close(child)
            threading.Thread(target=drain, args=(parent,), daemon=True).start()
            wait_for(lambda: clients() == 1, 20, "an attached client")
            handed_over(f"Beside the one who {how}.")
            for key in (b"\x1b[C", b"\x02", b"d") if how == "detaches" else ():
                os.write(parent, key)
                time.sleep(0.2)  # keys of one moment are a paste to tmux
            if how == "closes":
                client.kill()
            wait_for(lambda: clients() == 0, 20, f"no client after one who {how}")
        finally:
            client.kill()
            client.wait(10)
            os.close(parent)
        handed_over(f"Without the one who {how}.")
    assert not duo.entries("role.gone")
    assert not duo.entries("engine.mistake")


def drain(fd: int) -> None:
    """A terminal that nobody reads would block its client."""
    with contextlib.suppress(OSError):
        while os.read(fd, 65536):
            pass
