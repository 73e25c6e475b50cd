"""`mat demo`: it shows what it promises, prints JSON when asked, and leaves nothing behind however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests import demostory
from tests.waiting import wait_for

MAT = str(Path(sys.executable).parent / "mat")
WITHIN_S = 120


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Path]:
    """Where the demonstration makes its folders; empty again when it has ended, and nobody is left who uses it."""
    folder = tmp_path / "t"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []
    wait_for(lambda: not users(folder), 10, "no process is left")


def users(folder: Path) -> list[str]:
    """The processes that a demonstration below `folder` has started."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        said = [*(process.info["cmdline"] or ()), (process.info["environ"] or {}).get("XDG_STATE_HOME", "")]
        if any(str(folder / "mat-demo-") in word for word in said):
            found.append(" ".join(said))
    return found


def demo(ground: Path, *words: str, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
    path = os.pathsep.join(each for each in os.environ["PATH"].split(os.pathsep) if not Path(each, "mat").exists())
    env = {**os.environ, "TMPDIR": str(ground), "HOME": str(ground.parent), "PATH": path}
    argv, pipe = [MAT, "demo", *words], subprocess.PIPE
    return subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=stderr, text=True)


@pytest.mark.slow
@pytest.mark.live
def test_the_story_as_json_and_nothing_else_on_stdout(ground: Path) -> None:
    """It works, stalls, is nudged, recovers and completes; each line of stdout is one entry of the journal."""
    out, err = (process := demo(ground, "--json")).communicate(timeout=WITHIN_S)
    assert process.returncode == 0, err
    entries = demostory.entries(out)
    assert demostory.story(entries) == demostory.STORY
    assert demostory.wakes(entries) == demostory.WAKES
    assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))


@pytest.mark.slow
@pytest.mark.live
@pytest.mark.parametrize("terminal", [False, True], ids=["piped", "stderr is a terminal"])
def test_without_a_terminal_each_line_is_told_once(ground: Path, terminal: bool) -> None:
    """As it happens, where nothing else shows it; on a terminal beside a redirected stdout it is shown there too."""
    leader, follower = os.openpty()
    process = demo(ground, "--driver", "baton", stderr=follower if terminal else subprocess.PIPE)
    os.close(follower)
    assert process.stdout is not None
    first = next(line for line in process.stdout if "relay.sent" in line)
    assert terminal == ("episode.closed" in drained(leader))
    out, err = process.communicate(timeout=WITHIN_S)
    os.close(leader)
    assert process.returncode == 0, err
    assert (first + out).count("episode.opened") == 1
    assert (first + out).count("relay.sent") == 3
    if not terminal:
        assert "relay.sent" not in err
        assert "XDG_STATE_HOME=" in err
        assert "its commands lead nowhere" in err
        assert f"{MAT} init, then {MAT} up." in err, "it is not on PATH"


def drained(terminal: int) -> str:
    """What stands on a terminal, without waiting for more."""
    os.set_blocking(terminal, False)
    parts = []
    with suppress(OSError):
        while part := os.read(terminal, 65536):
            parts.append(part)
    return b"".join(parts).decode("utf-8", "replace")


@pytest.mark.slow
@pytest.mark.live
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("moment", ["begun", "launched", "working"])
def test_stopped_it_leaves_nothing_behind(ground: Path, number: signal.Signals, moment: str) -> None:
    """Before the launch, in the middle of it, and after it: no folder, no agent, no supervisor, no tmux server."""
    process = demo(ground)
    assert process.stderr is not None
    seen = process.stderr.readline()
    assert "scripted" in seen
    if moment == "launched":
        wait_for(lambda: list(ground.glob("mat-demo-*/tmux.sock")), 30, "a tmux server")
    elif moment == "working":
        wait_for(lambda: "relay.sent" in process.stdout.readline(), 30, "a relay")  # type: ignore[union-attr]
    process.send_signal(number)
    _, err = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130, err
    assert "Traceback" not in err
