"""`mat doctor`: each check that is not well says how to mend it, and nothing is changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import supervised


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
    before = set(programs.parent.rglob("*"))
    code, out, _ = mat("doctor")
    assert code == 0, out
    assert "fix:" not in out
    assert set(programs.parent.rglob("*")) == before


@pytest.mark.parametrize(("says", "words"), [("tmux 2.9", "too old"), ("hello", "gives no version")])
def test_a_tmux_that_will_not_do(mat: Mat, programs: Path, says: str, words: str) -> None:
    """Too old, or no tmux at all."""
    install(programs, "tmux", says)
    assert mat("doctor")[0] == 1
    assert words in found(mat, "tmux")["said"]


def test_no_tmux(mat: Mat, programs: Path) -> None:
    """With the command that installs it."""
    (programs / "tmux").unlink()
    code, out, _ = mat("doctor")
    assert code == 1
    assert "FAIL tmux: is not on PATH" in out
    assert "fix: " in out


def test_programs_that_a_duo_yaml_names_must_be_there(mat: Mat, programs: Path) -> None:
    """Another version than the profile's is a warning, one that is not named may be missing."""
    assert found(mat, "claude")["state"] == "ok"
    Path("duo.yaml").write_text("roles: {dev: {backend: claude}, review: {backend: codex}}\n")
    install(programs, "codex", "codex-cli 99.9.9")
    assert found(mat, "claude")["state"] == "failed"
    assert found(mat, "codex")["state"] == "warning"
    assert "99.9.9" in found(mat, "codex")["said"]
    assert mat("doctor")[0] == 1


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
    state.session("torn").mkdir()
    state.journal("torn").write_bytes(b"nothing" * 999)
    assert found(mat, "journal torn")["state"] == "failed"
    (state.spool / "aside").mkdir(parents=True)
    (state.spool / "aside" / "1.json.reason").write_text("it is no JSON")
    assert "it is no JSON" in found(mat, "set aside")["said"]
