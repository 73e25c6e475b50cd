"""`mat init`: a duo.yaml that can be started, for the programs that are here, and over nothing that is somebody's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from matcore.cli import init
from matcore.engine.config import load
from matcore.words.prompts import shipped_agents
from tests.matcore.cli.conftest import Mat
from tmuxdriver import profile


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of the test's own; `install` puts a program there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)


def test_every_program_with_a_profile_is_known(mat: Mat) -> None:
    """A profile that is added is offered, without a list that somebody has to think of."""
    assert mat("init")[0] == 0
    shipped = [profile.read(path) for path in (shipped_agents() / "backends").glob("*.yaml")]
    wanted = {each.name: each.launch.argv[0] for each in shipped if not each.launch.argv[0].startswith("{")}
    assert {name: each.program for name, each in init.programs(Path.cwd()).items()} == wanted
    assert "qwen" in wanted


@pytest.mark.parametrize(
    ("here", "dev", "review"),
    [
        ((), "claude", "claude"), (("qwen",), "qwen", "qwen"), (("qwen", "codex"), "codex", "qwen"),
        (("pi", "claude", "codex"), "claude", "codex"), (("mine", "opencode"), "opencode", "mine"),
    ],
)  # fmt: skip
def test_two_of_those_that_are_here(mat: Mat, programs: Path, here: tuple[str, ...], dev: str, review: str) -> None:
    """Of one's own profiles too; a single program takes both seats, and is named once."""
    own = Path(".mat/agents/backends")
    own.mkdir(parents=True)
    text = (shipped_agents() / "backends" / "qwen.yaml").read_text()
    (own / "mine.yaml").write_text(text.replace("name: qwen", "name: mine").replace("[qwen]", "[mine]"))
    (own / "torn.yaml").write_text("name: [")
    install(programs, *here)
    code, out, _ = mat("init")
    assert code == 0
    roles = load(Path("duo.yaml")).roles
    assert (roles["dev"].backend, roles["review"].backend) == (dev, review)
    named = f"{dev} and {review}" if dev != review else dev
    assert f"wrote duo.yaml for {named}; next:" in out if here else "is on PATH, so install one first" in out
    assert set(json.loads(mat("init", "--force", "--json")[1])["found"]) == set(here)


def test_what_a_program_refuses_unless_allowed_is_said(mat: Mat, programs: Path) -> None:
    """In the words of its profile, for those that were chosen: the agent's first standstill is no surprise then."""
    install(programs, "codex", "pi")
    notes = [line for line in mat("init")[1].splitlines() if line.startswith("note: ")]
    assert notes == [f"note: {profile.load('codex').sandbox}"]


@pytest.mark.usefixtures("programs")
def test_without_any_program_a_scripted_one_is_named(mat: Mat) -> None:
    """And nothing is said of programs that are not there."""
    out = mat("init")[1]
    assert "`backend: scripted` plays one" in out
    assert "note: " not in out


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_the_advice_for_an_empty_file_works(mat: Mat, text: str) -> None:
    """`mat up` says `mat init`, and `mat init` writes over nothing."""
    Path("duo.yaml").write_text(text)
    code, _, err = mat("up")
    assert code == 2
    assert "duo.yaml: is empty; `mat init` writes one" in err
    assert mat("init")[0] == 0
    assert yaml.safe_load(Path("duo.yaml").read_text())


@pytest.mark.parametrize("text", ["# my notes\n", "roles: {}\n"])
def test_the_advice_for_a_file_with_something_in_it(mat: Mat, text: str) -> None:
    """A comment is somebody's: `--force` is named, and needed."""
    Path("duo.yaml").write_text(text)
    code, _, err = mat("init")
    assert code == 1
    assert "mat init --force" in err
    assert Path("duo.yaml").read_text() == text
    assert mat("init", "--force")[0] == 0
    assert Path("duo.yaml").read_text() != text


def test_what_cannot_be_written(mat: Mat) -> None:
    """Exit 1 with the path; a directory of that name is not taken for an empty file."""
    Path("duo.yaml").mkdir()
    assert mat("init")[0] == 1
    code, _, err = mat("init", "--force")
    assert code == 1
    assert f"{Path.cwd()}/duo.yaml can't be written" in err


def test_a_file_of_another_name(mat: Mat) -> None:
    """What is there is named; else how one is written."""
    assert "shop.yaml is not there; mat init writes a duo.yaml" in mat("up", "shop.yaml")[2]
    Path("duo.yml").write_text("roles: {dev: {backend: scripted}}")
    assert "duo.yaml is not there; there is duo.yml: mat up duo.yml" in mat("up")[2]
