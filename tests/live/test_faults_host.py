"""What the host does to a running mat: a disk that fills up, a state folder that can't be written, a byte that flips,
rubbish in the spools, channels that hang, rave and flood, fifty senders at once."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.duo import Duo
from tests.live.many import Many, arrives, copies, env_of, hand_over, kill_supervisor, quiet_for
from tests.waiting import wait_for

SEND_RELAY = str(Path(sys.executable).parent / "send-relay")


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Many]]:
    made: list[Many] = []

    def make(*names: str, folder: Path = tmp_path, **options: Any) -> Many:
        made.append(Many(folder, *names, **options))
        return made[-1]

    yield make
    for many in made:
        many.end()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with little room."""
    folder = tmp_path / "small"
    folder.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)]
    if subprocess.run(argv, capture_output=True, check=False).returncode != 0:
        pytest.skip("a file system can't be mounted here: it takes root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Leave no room for another page."""
    hog = folder / "hog"
    with hog.open("wb", buffering=0) as file:
        for size in (2**20, 4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * size)
    return hog


def shot(duo: Duo) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(duo.mat("status", duo.session, "--json").stdout)["sessions"][0]
    return found


@pytest.mark.slow
@pytest.mark.field_case("Lost or twice")
def test_a_disk_that_fills_up_under_a_running_session(make: Callable[..., Many], small: Path, tmp_path: Path) -> None:
    """Really full: the human is told once, the supervisor stays, agents are refused or served, and with room again all
    that was said arrives, once."""
    told = tmp_path / "told.txt"
    many = make("duo", folder=small, notify=[{"command": ["tee", "-a", str(told)]}])
    (duo,) = many.duos
    many.up()
    supervisor = duo.supervisor_pid()
    wait_for(lambda: duo.state.ballast.exists(), 20, "the ballast")
    hog = fill(small)
    said = []
    for number in range(60):  # every relay wants some room; at last there is none
        path = tmp_path / f"h{number}.md"
        path.write_text(f"Number {number}. " + "x" * 3000, encoding="utf-8")
        done = subprocess.run(
            [SEND_RELAY, "review", str(path)], cwd=duo.work, env=env_of(duo, "dev"), capture_output=True, text=True,
            timeout=30, check=False,
        )  # fmt: skip
        said.append(done)
        if told.exists() and "disk is full" in told.read_text():
            break
        time.sleep(0.2)
    wait_for(lambda: told.exists() and "disk is full" in told.read_text(), 60, "the notification")
    assert all("nothing sent" in done.stdout + done.stderr for done in said if done.returncode != 0)
    quiet_for(5.0)
    assert duo.supervisor_pid() == supervisor
    hog.unlink()
    wait_for(lambda: not shot(duo)["troubles"] and duo.state.ballast.exists(), 60, "room again")
    relay = hand_over(duo, "dev", "review", "After it.")
    arrives(duo, "review", relay, within_s=60)
    assert len(copies(duo, "review", relay)) == 1
    assert told.read_text().count("disk is full") == 1
    assert duo.supervisor_pid() == supervisor
    assert not duo.entries("engine.mistake")


@pytest.mark.slow
def test_a_state_folder_that_is_read_only_is_named_and_read_all_the_same(
    make: Callable[..., Many], small: Path, tmp_path: Path
) -> None:
    """Guard and supervisor find it so when they start: `mat up` says what is wrong, `mat status` shows what is known,
    and when it can be written again the session goes on where it was."""
    many = make("duo", folder=tmp_path)
    (duo,) = many.duos
    duo.env["XDG_STATE_HOME"] = str(small)
    duo.state = type(duo.state)(small / "mat")
    many.up()
    arrives(duo, "review", hand_over(duo, "dev", "review", "Before it."))
    for process in duo.ours():
        process.kill()
    wait_for(lambda: not duo.ours(), 10, "nobody watches")
    remount(small, "ro")
    try:
        relay = hand_over(duo, "review", "dev", "While it is so.")
        done = duo.mat("up", check=False)
        assert done.returncode in (1, 3), done.stdout + done.stderr
        assert "Read-only file system" in done.stderr
        assert "Traceback" not in done.stderr
        assert "NOT WATCHED" in duo.mat("status", "duo").stdout
        assert "Nobody watches" in duo.mat("why", "duo").stdout
        assert duo.mat("log", "-n", "5", "duo").stdout
    finally:
        remount(small, "rw")
    assert "nothing was started" in duo.up().stdout
    arrives(duo, "dev", relay)
    assert len(copies(duo, "dev", relay)) == 1
    assert not duo.entries("engine.mistake")


def remount(folder: Path, how: str) -> None:
    """As a file system that has met an error. It is busy while the last file of a killed program is being closed."""
    argv = ["mount", "-o", f"remount,{how}", str(folder)]
    wait_for(lambda: subprocess.run(argv, capture_output=True, check=False).returncode == 0, 20, f"{how} again")


@pytest.mark.slow
def test_a_byte_that_flips_fails_one_session_and_no_other(make: Callable[..., Many]) -> None:
    """The next supervisor finds it: told once whatever restarts, shown, verified, and the other session goes on."""
    many = make("alpha", "beta")
    alpha, beta = many.duos
    many.up()
    for process in alpha.ours():
        process.kill()
    wait_for(lambda: not alpha.ours(), 10, "nobody watches")
    flip_a_byte(alpha.state.journal("alpha"))
    beta.up()
    wait_for(lambda: "alpha" in alpha.told(), 30, "a notification")
    kill_supervisor(beta)
    relay = hand_over(beta, "dev", "review", "Go on.")
    arrives(beta, "review", relay)
    quiet_for(3.0)
    assert alpha.told().count("is watched no longer") == 1
    assert alpha.mat("verify", "alpha", check=False).returncode != 0
    assert "mat verify alpha" in alpha.mat("status", "alpha", check=False).stdout
    assert "beta" in beta.mat("status").stdout


def flip_a_byte(journal: Path) -> None:
    """Within the text of an entry, on the disk, once all of it is in the one file."""
    db = sqlite3.connect(journal)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    data = bytearray(journal.read_bytes())
    at = data.find(b"duo-dev")
    assert at > 0, "the name of a role's prompt stands in the first entries"
    data[at] ^= 1
    journal.write_bytes(data)


def _written(at: Path) -> Path:
    at.write_text("{}")
    return at


RUBBISH: dict[str, Callable[[Path], object]] = {
    "half": lambda at: at.write_text('{"v": 1, "fact": "relay.s'),
    "enormous": lambda at: at.write_bytes(b"x" * 9_000_000),
    "no JSON": lambda at: at.write_bytes(b"\xff\xfe\x00"),
    "of another": lambda at: at.write_text(json.dumps({"v": 1, "session": "other", "fact": "cycle.completed"})),
    "a link": lambda at: at.symlink_to("/etc/passwd"),
    "a folder": lambda at: at.mkdir(),
    "a pipe": lambda at: os.mkfifo(at),
    "a foreign one's": lambda at: os.chown(_written(at), 65534, 65534),
}


@pytest.mark.slow
@pytest.mark.field_case("Security")
def test_rubbish_in_a_spool_is_set_aside_and_work_goes_on(make: Callable[..., Many]) -> None:
    """Half-written, enormous, links, pipes, of another session or user, with names that climb or break lines."""
    many = make("duo")
    (duo,) = many.duos
    many.up()
    new = duo.places.spool("dev") / "new"
    for number, put in enumerate(RUBBISH.values()):
        with contextlib.suppress(PermissionError):  # another owner takes root
            put(new / f"{time.time_ns():020d}-{number:032x}.json")
    for name in ("..evil.json", "two\nlines.json", "a" * 200):
        (new / name).write_text("{}")
    wait_for(lambda: not list(new.iterdir()), 20, "an empty spool")
    relay = hand_over(duo, "dev", "review", "All the same.")
    arrives(duo, "review", relay)
    aside = duo.entries("engine.set_aside")
    assert len(aside) == len(RUBBISH) + 3, [entry.data for entry in aside]
    assert all(entry.data["reason"] for entry in aside)
    assert shot(duo)["set_aside"] == len(aside)
    assert "set aside" in duo.mat("status", "duo").stdout
    assert "\n" not in "".join(str(entry.data["name"]) for entry in aside)
    assert not duo.entries("engine.mistake")


@pytest.mark.slow
@pytest.mark.field_case("Notifications")
def test_channels_that_hang_rave_and_flood_cost_the_human_nothing(make: Callable[..., Many], tmp_path: Path) -> None:
    """The last of four takes it, in bounded time and once; nobody else waits, and nothing of theirs is left running."""
    told = tmp_path / "told.txt"
    ill = [
        {"command": ["sh", "-c", "sleep 300 & exec sleep 300"]},
        {"command": ["sh", "-c", "exec yes >&2"]},
        {"command": ["sh", "-c", r"printf '\033[2Jraving\377' >&2; exit 9"]},
        {"command": ["/no/such/program"]},
    ]
    many = make("duo", notify=[*ill, {"command": ["tee", "-a", str(told)]}])
    (duo,) = many.duos
    many.up()
    notify = [str(Path(sys.executable).parent / "notify-user"), "--action", "Look at this."]
    subprocess.run(notify, cwd=duo.work, env=env_of(duo, "dev"), check=True, capture_output=True, timeout=30)
    relay = hand_over(duo, "dev", "review", "Meanwhile.")
    arrives(duo, "review", relay, within_s=10)
    wait_for(lambda: told.exists() and "Look at this." in told.read_text(), 60, "the notification")
    entry = duo.wait("engine.told", 20, ok=True)
    assert "no answer within" in str(entry.data["said"])
    assert shot(duo)["not_delivered"] == []
    quiet_for(3.0)
    assert told.read_text().count("Look at this.") == 1
    assert "\x1b" not in duo.mat("log", "duo", "--kind", "engine.told").stdout
    assert not duo.entries("engine.mistake")


@pytest.mark.slow
@pytest.mark.field_case("Lost or twice")
def test_fifty_senders_at_once_get_fifty_numbers(make: Callable[..., Many]) -> None:
    """Fifty programs at one moment: all are sent, each number is given once, and none is missing in the journal."""
    many = make("duo")
    (duo,) = many.duos
    many.up()
    paths = []
    for number in range(50):
        path = duo.work / f"h{number}.md"
        path.write_text(f"Number {number}.", encoding="utf-8")
        paths.append(path)
    senders = [
        subprocess.Popen(
            [SEND_RELAY, "review", str(path)], cwd=duo.work, env=env_of(duo, "dev"), stdout=subprocess.PIPE, text=True
        )
        for path in paths
    ]
    said = [sender.communicate(timeout=120)[0] for sender in senders]
    assert [sender.returncode for sender in senders] == [0] * 50, said
    duo.wait("relay.sent", 60, count=50)
    numbers = [int(str(entry.data["seq"])) for entry in duo.entries("relay.sent")]
    assert sorted(numbers) == list(range(1, 51))
    assert len({line.split()[1] for line in said}) == 50
