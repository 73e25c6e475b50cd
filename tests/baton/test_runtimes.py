"""The command lines of the shipped profiles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from baton import runtimes
from baton.runtimes import Asked, Headless
from matcore.errors import BadConfig, Unavailable

PROGRAMS = ("claude", "codex", "opencode", "pi", "scripted")


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """A folder on PATH in which every program is there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in (*PROGRAMS, "send-relay"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o700)
    return folder


def asked(tmp_path: Path, **changes: Any) -> Asked:
    values: dict[str, Any] = {
        "session_id": "S1", "opened": False, "prompt_file": tmp_path / "prompt.md",
        "mat_dir": tmp_path / ".mat" / "duo", "dir": tmp_path, "path": str(tmp_path / "bin"),
    }  # fmt: skip
    return Asked(**{**values, **changes})


def profile(**keys: Any) -> Headless:
    return Headless(**{"fresh": ("claude",), "resume": ("claude",), **keys})


@pytest.mark.usefixtures("bin_folder")
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_shipped_program_opens_and_resumes(name: str, tmp_path: Path) -> None:
    """By absolute path; the session is named where the program takes an id; text never goes into argv."""
    runtime = runtimes.load(name, tmp_path)
    fresh = runtimes.argv(runtime, asked(tmp_path, args=["--model", "{x}"]))
    resume = runtimes.argv(runtime, asked(tmp_path, opened=True))
    assert Path(fresh[0]).is_absolute()
    assert fresh[fresh.index("--model") + 1] == "{x}", "the user's words are taken as they are"
    assert any("S1" in word for word in fresh) == runtime.takes_id
    assert any("S1" in word for word in resume)
    assert runtime.by_stdin
    assert not [word for word in fresh + resume if word.startswith("{") and word != "{x}"]


@pytest.mark.usefixtures("bin_folder")
def test_what_opencode_is_told_by_a_variable_is_filled_in(tmp_path: Path) -> None:
    """The role's prompt and the permission for our own commands, as configuration that is added to the user's."""
    config = json.loads(runtimes.env(runtimes.load("opencode", tmp_path), asked(tmp_path))["OPENCODE_CONFIG_CONTENT"])
    assert config["instructions"] == [str(tmp_path / "prompt.md")]
    allowed = config["agent"]["build"]["permission"]["bash"]
    assert {f"{tmp_path}/bin/send-relay *", "mat cycle *"} < set(allowed)


@pytest.mark.usefixtures("bin_folder")
def test_claude_may_run_our_own_commands_and_nothing_else(tmp_path: Path) -> None:
    """By their bare names, and by the absolute path that the texts may name."""
    words = runtimes.argv(runtimes.load("claude", tmp_path), asked(tmp_path))
    allowed = [word for word in words if word.startswith("Bash(")]
    for command in ("send-relay", "notify-user", "mat cycle", "mat wait"):
        assert f"Bash({command}:*)" in allowed
        assert f"Bash({tmp_path}/bin/{command}:*)" in allowed
    assert len(allowed) == 8


@pytest.mark.usefixtures("bin_folder")
def test_permissions_and_a_folder_apart_are_words_of_the_profile(tmp_path: Path) -> None:
    """codex: a sandbox that may write by default, the session's folder where the role works elsewhere."""
    other = tmp_path / "other"
    other.mkdir()
    runtime = runtimes.load("codex", tmp_path)
    line = " ".join(runtimes.argv(runtime, asked(tmp_path, dir=other)))
    assert "--sandbox workspace-write" in line
    assert f"--add-dir {tmp_path}/.mat/duo" in line
    line = " ".join(runtimes.argv(runtime, asked(tmp_path, permissions="read-only")))
    assert "--sandbox read-only" in line
    assert "--add-dir" not in line
    with pytest.raises(BadConfig, match="can't be given a second folder"):
        runtimes.argv(profile(confined=True), asked(tmp_path, dir=other))
    with pytest.raises(BadConfig, match="there are default, read-only, full-access"):
        runtimes.argv(runtime, asked(tmp_path, permissions="everything"))
    with pytest.raises(Unavailable, match="no-such is not on PATH"):
        runtimes.argv(profile(fresh=("no-such",)), asked(tmp_path))


@pytest.mark.usefixtures("bin_folder")
def test_a_program_that_reads_no_stdin_gets_an_argument_or_a_file(tmp_path: Path) -> None:
    """As its profile says."""
    runtime = profile(fresh=("claude", "--message", "{text}"))
    assert not runtime.by_stdin
    assert runtimes.argv(runtime, asked(tmp_path, text="{dir} hello"))[-1] == "{dir} hello"
    runtime = profile(fresh=("claude", "--file={text_file}"))
    assert not runtime.by_stdin
    assert runtimes.argv(runtime, asked(tmp_path, text_file=Path("/t.txt")))[-1] == "--file=/t.txt"


@pytest.mark.parametrize(
    ("headless", "fault"),
    [
        ({"fresh": ["x"]}, "resume"),
        ({"fresh": ["x"], "resume": ["x"], "clases": {}}, "clases"),
        ({"fresh": ["x"], "resume": ["x"], "classes": {"tired": "x"}}, r"classes\.tired: there is no such class"),
        ({"fresh": ["x"], "resume": ["x"], "classes": {"auth": "("}}, "auth is not a regular expression"),
        (None, "has no `headless:`"),
    ],
)
def test_a_broken_profile_is_refused_with_its_key(headless: object, fault: str, tmp_path: Path) -> None:
    """Before anything is started."""
    folder = tmp_path / ".mat" / "agents" / "backends"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(json.dumps({"name": "mine", "headless": headless}))
    with pytest.raises(BadConfig, match=fault):
        runtimes.load("mine", tmp_path)
    with pytest.raises(BadConfig, match='no backend "other"'):
        runtimes.load("other", tmp_path)
    (folder / "mine.yaml").write_text("{")
    with pytest.raises(BadConfig, match=r"mine\.yaml"):
        runtimes.load("mine", tmp_path)
