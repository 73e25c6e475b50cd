"""`mat doctor`: each check that is not well says how to mend it, and nothing is changed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from matcore.cli import doctoring
from matcore.engine import heartbeat
from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import supervised
from tmuxdriver.profile import load

README = Path(__file__).parents[3] / "README.md"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of the test's own, with a tmux."""
    folder = tmp_path / "bin"
    folder.mkdir()
    install(folder, "tmux", "tmux 3.4")
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(folder: Path, name: str, says: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\necho '{says}'\n")
    (folder / name).chmod(0o755)


def found(mat: Mat, check: str) -> dict[str, Any]:
    lines = [json.loads(line) for line in mat("doctor", "--json")[1].splitlines()]
    result: dict[str, Any] = next(line for line in lines if line["check"] == check)
    return result


def test_all_is_well(mat: Mat, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 0, and nothing is made."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setattr(os, "statvfs", disk(10**12))
    before = set(programs.parent.rglob("*"))
    code, out, _ = mat("doctor")
    assert code == 0, out
    assert "fix:" not in out
    assert set(programs.parent.rglob("*")) == before


@pytest.mark.parametrize(
    ("says", "words"), [("tmux 2.9", "too old"), ("tmux 3.1c", "too old"), ("hello", "gives no version")]
)
def test_a_tmux_that_will_not_do(mat: Mat, programs: Path, says: str, words: str) -> None:
    """Too old, or no tmux at all."""
    install(programs, "tmux", says)
    assert mat("doctor")[0] == 1
    assert words in found(mat, "tmux")["said"]


def test_the_oldest_tmux_is_the_one_that_is_documented(mat: Mat, programs: Path) -> None:
    """README names it."""
    oldest = ".".join(map(str, doctoring.OLDEST_TMUX))
    assert f"tmux {oldest} or newer" in README.read_text(encoding="utf-8")
    install(programs, "tmux", f"tmux {oldest}")
    assert found(mat, "tmux")["state"] == "ok"


def test_no_tmux(mat: Mat, programs: Path) -> None:
    """With the command that installs it, whatever PATH says; where headless turns are wanted none is needed."""
    (programs / "tmux").unlink()
    code, out, _ = mat("doctor")
    assert code == 1
    assert "FAIL tmux: is not on PATH" in out
    assert found(mat, "tmux")["fix"].endswith("driver: baton")
    Path("duo.yaml").write_text("driver: baton\nroles: {dev: {backend: scripted}}\n")
    assert found(mat, "tmux")["state"] == "ok"


class Disk(NamedTuple):
    f_bavail: int
    f_frsize: int = 1
    f_files: int = 1000
    f_favail: int = 500


def disk(free: int, **more: int) -> Callable[[object], Disk]:
    """A file system with so many bytes free."""
    return lambda _folder: Disk(free, **more)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("is_there", "state", "words"),
    [
        (disk(10**12), "ok", "1000.0 GB free"),
        (disk(500 * 10**6), "warning", "500.0 MB free"),
        (disk(20 * 10**6), "failed", "20.0 MB free"),
        (disk(0), "failed", "0.0 MB free"),
        (disk(10**12, f_favail=0), "failed", "no inode left"),
        (disk(10**12, f_files=0, f_favail=0), "ok", "1000.0 GB free"),  # file systems without a fixed number of inodes
    ],
)
def test_the_disk(mat: Mat, monkeypatch: pytest.MonkeyPatch, is_there: Any, state: str, words: str) -> None:
    """Little space is a warning, hardly any has failed; so have no inodes, with space in plenty."""
    monkeypatch.setattr(os, "statvfs", is_there)
    check = found(mat, "disk")
    assert check["state"] == state
    assert words in check["said"]
    assert (check["fix"] is None) == (state == "ok")


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("what", ["mat", "state"])
def test_a_file_where_the_state_folder_should_be(mat: Mat, tmp_path: Path, state: StatePlaces, what: str) -> None:
    """Doctor says what to move; every other command says so too, exit 3, without a traceback."""
    file = {"mat": state.root, "state": state.root.parent}[what]
    file.parent.mkdir(exist_ok=True)
    file.write_text("in the way")
    code, out, _ = mat("doctor")
    assert code == 1
    assert f"FAIL state folder: {file} is no folder" in out
    assert f"fix: move {file} away" in out
    assert "disk" in out
    for words in (("status",), ("down", "duo"), ("recap",), ("metrics",), ("supervise",), ("verify", "duo")):
        code, out, err = mat(*words)
        assert (code, out) == (3, ""), words
        assert err.startswith(f"mat: {file} is no folder, so {state.root} can't be; move it away, or name another")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "state", "work"]


@pytest.mark.usefixtures("programs")
def test_a_check_that_cannot_look_has_failed_and_hides_no_other(mat: Mat, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine answers."""

    def broken(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/secret")

    monkeypatch.setattr(os, "statvfs", broken)
    check = found(mat, "disk")
    assert (check["state"], check["said"]) == ("failed", "/secret: Permission denied")
    assert check["fix"] == "see to /secret, then: mat doctor"
    assert found(mat, "supervisor")["state"] == "ok"


@pytest.mark.usefixtures("programs")
def test_without_a_home(mat: Mat, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is looked at all the same."""

    def nowhere() -> Path:
        raise RuntimeError

    monkeypatch.setattr(doctoring, "state_dir", nowhere)
    assert found(mat, "state folder")["fix"] == "export XDG_STATE_HOME=/a/folder/of/yours"
    assert found(mat, "tmux")["state"] == "ok"
    assert mat("doctor")[0] == 1


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("text", "said", "fix"),
    [
        ("rolesx: 1", 'no key "rolesx" here; did you mean "roles"? (and 1 more)', "mat up --dry-run"),
        ("roles: {dev: {backend: scripted, env: [MAT_TEST_NOT]}}", "MAT_TEST_NOT is not set", "export MAT_TEST_NOT="),
        (
            "roles: {dev: {backend: scripted}}\nnotify: [{command: [mat-no-such]}]",
            "mat-no-such would reach",
            "mat notify",
        ),
    ],
)
def test_the_duo_yaml_that_is_here(mat: Mat, text: str, said: str, fix: str) -> None:
    """What is wrong with it, or what it names and is not here: a warning, for the machine is not to blame."""
    Path("duo.yaml").write_text(text)
    check = found(mat, "duo.yaml")
    assert check["state"] == "warning"
    assert said in check["said"]
    assert fix in check["fix"]
    Path("duo.yaml").write_text("session: shop\nroles: {dev: {backend: scripted}}\n")
    assert found(mat, "duo.yaml")["said"] == "describes shop on tmux"


@pytest.mark.usefixtures("programs")
def test_a_backend_that_has_no_profile(mat: Mat) -> None:
    """The advice fits: there is no profile to mend."""
    Path("duo.yaml").write_text("roles: {dev: {backend: clod}}\n")
    assert found(mat, "profile clod")["fix"].startswith("name another in duo.yaml, or write one")
    assert mat("doctor")[0] == 1


@pytest.mark.usefixtures("programs")
def test_a_project_that_cannot_be_written(mat: Mat) -> None:
    """Agents hand over below it."""
    Path("duo.yaml").write_text("roles: {dev: {backend: scripted}}\n")
    assert " project: " not in mat("doctor")[1]
    Path(".mat").write_text("in the way")
    assert found(mat, "project")["fix"] == f"move {Path.cwd()}/.mat away"
    assert mat("doctor")[0] == 1


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("who", ["me", "nobody"])
def test_a_supervisor_without_a_heartbeat(
    mat: Mat, state: StatePlaces, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    """One that has just begun is well; one that holds its lock for long, or that nobody can name, is not."""
    with supervised(state):
        state.heartbeat.unlink()
        state.lock.write_text(f"{os.getpid()}\n" if who == "me" else "")
        monkeypatch.setattr(heartbeat, "STALE_S", 10**9)
        assert found(mat, "supervisor")["state"] == ("ok" if who == "me" else "failed")
        monkeypatch.setattr(heartbeat, "STALE_S", -1.0)
        check = found(mat, "supervisor")
        assert check["state"] == "failed"
        assert check["fix"].startswith(f"kill {os.getpid()};" if who == "me" else "end who holds it (fuser ")


def test_programs_that_a_duo_yaml_names_must_be_there(mat: Mat, programs: Path) -> None:
    """Another version than the profile's is a warning, one that is not named may be missing."""
    assert found(mat, "claude")["state"] == "ok"
    Path("duo.yaml").write_text("roles: {dev: {backend: claude}, review: {backend: codex}}\n")
    install(programs, "codex", "codex-cli 99.9.9")
    assert found(mat, "claude")["state"] == "failed"
    assert found(mat, "codex")["state"] == "warning"
    assert "99.9.9" in found(mat, "codex")["said"]
    assert mat("doctor")[0] == 1


@pytest.mark.parametrize(("cut", "state"), [(slice(None), "ok"), (slice(-1), "warning"), (slice(1, None), "warning")])
def test_a_piece_of_a_version_is_another_version(mat: Mat, programs: Path, cut: slice, state: str) -> None:
    """As 0.17 is another one than 0.171.0."""
    recorded = load("codex").recorded
    assert len(recorded) > len("0.171")
    install(programs, "codex", f"codex-cli {recorded[cut].strip('.')}")
    assert found(mat, "codex")["state"] == state


@pytest.mark.usefixtures("programs")
def test_a_locale_without_utf8_is_a_warning(mat: Mat, monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents draw their screens by it."""
    monkeypatch.setenv("LC_ALL", "POSIX")
    assert found(mat, "UTF-8")["state"] == "warning"


@pytest.mark.usefixtures("programs")
def test_the_supervisor(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Missing where there is something to watch, hanging, or well."""
    tell("duo").working()
    assert found(mat, "supervisor")["state"] == "failed"
    with supervised(state, "duo", age_s=60):
        assert "pid 4242 hangs" in found(mat, "supervisor")["said"]
    with supervised(state, "duo"):
        assert found(mat, "supervisor")["state"] == "ok"


@pytest.mark.usefixtures("programs")
def test_the_state_folder_and_what_is_in_it(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Open to others, a journal that can't be read, records that were set aside."""
    tell("duo").working()
    state.root.chmod(0o755)
    assert found(mat, "state folder")["fix"] == f"chmod 700 {state.root}"
    state.root.chmod(0o700)
    state.sessions.chmod(0o500)
    assert found(mat, "state folder")["fix"] == f"chmod u+rwx {state.sessions}"
    state.sessions.chmod(0o700)
    state.session("torn").mkdir()
    state.journal("torn").write_bytes(b"nothing" * 999)
    assert found(mat, "journal torn")["state"] == "failed"
    (state.spool / "aside").mkdir(parents=True)
    (state.spool / "aside" / "1.json.reason").write_text("it is no JSON")
    assert "it is no JSON" in found(mat, "set aside")["said"]
