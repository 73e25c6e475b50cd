"""`mat attach` of headless roles: the logs of the turns, in order, harmless on a terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from baton.follow import Follower


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


def test_it_runs_until_it_is_stopped(tmp_path: Path) -> None:
    """As a program, before there is any log."""
    (tmp_path / "dev-000001.log").write_text("--- dev\n")
    with subprocess.Popen(
        [sys.executable, "-m", "baton.follow", str(tmp_path), "dev"], stdout=subprocess.PIPE, text=True
    ) as follow:
        assert follow.stdout is not None
        assert follow.stdout.readline() == "--- dev\n"
        follow.send_signal(2)
        assert follow.wait(10) == 0
