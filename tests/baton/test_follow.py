"""`mat attach` of headless roles: the logs of the turns, in order, harmless on a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from baton.follow import Follower, main
from matcore.places import StatePlaces
from tests.matcore.cli.told import Told


def test_each_turn_is_followed_as_it_grows(tmp_path: Path) -> None:
    """The newest turn from its beginning, then whatever comes, short turns included, and nothing twice."""
    (tmp_path / "dev-000001.log").write_text("--- dev, turn 1\nold\n")
    (tmp_path / "dev-000002.log").write_text("--- dev, turn 2\n")
    (tmp_path / "other-000001.log").write_text("not asked for\n")
    follower = Follower(tmp_path, ["dev", "review"])
    assert follower.read() == "--- dev, turn 2\n"
    assert follower.read() == ""
    with (tmp_path / "dev-000002.log").open("a") as log:
        log.write("more\n")
    for turn in (3, 4):
        (tmp_path / f"dev-00000{turn}.log").write_text(f"--- dev, turn {turn}\n")
    assert follower.read() == "more\n\n--- dev, turn 3\n\n--- dev, turn 4\n"
    (tmp_path / "review-000001.log").write_text("--- review, turn 1\n")
    assert follower.read() == "\n--- review, turn 1\n"


def test_a_role_that_goes_on_is_named_again(tmp_path: Path) -> None:
    """Two roles at once: what comes without a head says whose it is."""
    for role in ("dev", "review"):
        (tmp_path / f"{role}-000001.log").write_text(f"--- {role}\n")
    follower = Follower(tmp_path, ["dev", "review"])
    follower.read()
    with (tmp_path / "dev-000001.log").open("a") as log:
        log.write("more\n")
    assert follower.read() == "\n--- dev-000001\nmore\n"


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    """Nor does a character that is cut in two become two wrong ones."""
    log = tmp_path / "dev-000001.log"
    log.write_bytes(b"--- \x1b]2;owned\x07\x1b[31mred\x9b1m\xc3")
    follower = Follower(tmp_path, ["dev"])
    first = follower.read()
    with log.open("ab") as out:
        out.write(b"\xbc\n")
    shown = first + follower.read()
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert shown.endswith("ü\n")


def follow(turns: Path, *words: str, out: int, err: int | None = None) -> subprocess.Popen[str]:
    """As a program, for the role dev."""
    argv = [sys.executable, "-m", "baton.follow", "duo", str(turns), "dev", *words]
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, text=True)


def test_without_a_terminal_it_prints_what_is_there_and_ends(tmp_path: Path) -> None:
    """A script that looks is not held up; before the first turn it says so, and stdout is empty."""
    with follow(tmp_path, out=subprocess.PIPE, err=subprocess.PIPE) as program:
        assert program.communicate(timeout=10) == ("", "no turn has begun yet\n")
    (tmp_path / "dev-000001.log").write_text("--- dev, turn 1\n")
    (tmp_path / "dev-000002.log").write_text("--- dev, turn 2\nmore\n")
    with follow(tmp_path, out=subprocess.PIPE) as program:
        assert program.communicate(timeout=10)[0] == "--- dev, turn 2\nmore\n"
    assert program.returncode == 0


@pytest.mark.parametrize("on_a_terminal", [True, False])
def test_it_runs_until_it_is_stopped(tmp_path: Path, on_a_terminal: bool) -> None:
    """On a terminal, and where it is told to, from before there is any log."""
    reads, writes = os.openpty() if on_a_terminal else os.pipe()
    with follow(tmp_path, *([] if on_a_terminal else ["--follow"]), out=writes) as program, os.fdopen(reads) as shown:
        os.close(writes)
        (tmp_path / "dev-000001.log").write_text("--- dev\n")
        assert shown.readline() == "--- dev\n"
        program.send_signal(2)
        assert program.wait(10) == 0


@pytest.mark.parametrize("put_aside", [False, True])
@pytest.mark.parametrize("on_a_terminal", [True, False])
def test_it_ends_with_its_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_a_terminal: bool, put_aside: bool
) -> None:
    """After `mat down` it shows what is left, says that the session has ended, and ends well; also where the next
    session of that name stands there already."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    state = StatePlaces(tmp_path / "state" / "mat")
    told = Told(state, "duo")
    log = tmp_path / "dev-000001.log"
    log.write_text("--- dev\n")
    reads, writes = os.openpty() if on_a_terminal else os.pipe()
    words = [] if on_a_terminal else ["--follow"]
    with follow(tmp_path, *words, out=writes, err=subprocess.PIPE) as program, os.fdopen(reads) as shown:
        os.close(writes)
        assert shown.readline() == "--- dev\n"
        with log.open("a") as file:
            file.write("last\n")
        told.ended().close()
        if put_aside:
            state.session("duo").rename(state.session("duo@1"))
            Told(state, "duo").close()
        assert shown.readline() == "last\n"
        assert program.wait(10) == 0
        assert program.stderr is not None
        assert program.stderr.read() == "duo has ended; its journal stays: mat log duo\n"


def test_a_session_that_is_put_aside_as_it_begins_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The next one of that name is another one, also where it came before the first line was read."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    state = StatePlaces(tmp_path / "state" / "mat")
    Told(state, "duo").ended().close()
    shown: list[int] = []

    def show(_follower: Follower) -> bool:
        shown.append(1)
        if len(shown) == 1:
            state.session("duo").rename(state.session("duo@1"))
            Told(state, "duo").close()
        if len(shown) > 20:
            raise KeyboardInterrupt
        return True

    monkeypatch.setattr("baton.follow._show", show)
    monkeypatch.setattr("baton.follow.LOOK_S", 0.01)
    monkeypatch.setattr("baton.follow.END_LOOK_S", 0.0)
    assert main(["--follow", "duo", str(tmp_path), "dev"]) == 0
    assert capsys.readouterr().err == "duo has ended; its journal stays: mat log duo\n"
