"""A source checkout sets itself up, says nothing on stdout, and names the command to run when it may not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.waiting import wait_for

ROOT = Path(__file__).parent.parent
SCRIPTS = [*sorted((ROOT / "bin").iterdir()), ROOT / ".ci" / "run"]
TOOLS = ("sh", "dirname", "cat", "cksum", "sed", "touch", "id", "env", "mkdir", "readlink", "flock")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in a folder with a space in its name whose environment is there: `mat` in it prints its arguments."""
    root = tmp_path / "a checkout"
    shutil.copytree(ROOT / "bin", root / "bin")
    (root / "pyproject.toml").write_text("[project]\n")
    commands = root / ".venv" / "bin"
    commands.mkdir(parents=True)
    for name in ("python", "mat", "send-relay", "notify-user"):
        (commands / name).write_text('#!/bin/sh\necho "${0##*/}:" "$@"\n')
        (commands / name).chmod(0o755)
    stamp(root)
    return root


def stamp(root: Path) -> None:
    """Says that the environment was made from this pyproject.toml, as `bin/setup-env` does."""
    with (root / "pyproject.toml").open("rb") as file:
        checksum = subprocess.run(["cksum"], stdin=file, check=True, capture_output=True, text=True).stdout.strip()
    (root / ".venv" / ".ready").write_text(f"dev {checksum}\n{root}\n")


@pytest.fixture
def bare_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH without tmux, Python and package managers."""
    folder = tmp_path / "bare"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool) or tool)
    monkeypatch.setenv("PATH", str(folder))


def run(*argv: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, check=False, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_can_be_run_and_parsed(script: Path) -> None:
    """Each is executable and holds no mistake of syntax."""
    assert os.access(script, os.X_OK)
    shell = "bash" if "bash" in script.read_text().split("\n", 1)[0] else "sh"
    assert run(shell, "-n", script).returncode == 0


@pytest.mark.parametrize("name", ["mat", "send-relay", "notify-user"])
def test_a_command_of_a_checkout_runs_the_installed_one(name: str, checkout: Path, tmp_path: Path) -> None:
    """Arguments arrive unchanged, through a link as well."""
    link = tmp_path / name
    link.symlink_to(checkout / "bin" / name)
    for command in (checkout / "bin" / name, link):
        assert run(command, "two words", "").stdout == f"{name}: two words \n"


@pytest.mark.usefixtures("bare_path")
@pytest.mark.parametrize("name", ["send-relay", "notify-user"])
def test_agents_use_an_old_environment_as_it_is(name: str, checkout: Path) -> None:
    """An agent has no network and may not write there: what it calls never sets anything up anew."""
    (checkout / ".venv" / ".ready").unlink()
    assert run(checkout / "bin" / name).stdout == f"{name}:\n"


def test_an_environment_that_is_ready_is_left_alone(checkout: Path) -> None:
    """Nothing is said, nothing is installed; a touched pyproject.toml with the same text changes nothing."""
    later = (checkout / ".venv" / ".ready").stat().st_mtime + 10
    os.utime(checkout / "pyproject.toml", (later, later))
    ended = run(checkout / "bin" / "setup-env", "--dev")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert run(checkout / "bin" / "mat", "status").stdout == "mat: status\n"


@pytest.mark.usefixtures("bare_path")
def test_missing_tmux_names_the_command(checkout: Path) -> None:
    """Who may not install is told what to run: on stderr, exit 3, and stdout stays empty."""
    ended = run(checkout / "bin" / "setup-env", "--tmux")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "missing: tmux. Run: " in ended.stderr


@pytest.mark.usefixtures("bare_path")
def test_missing_python_names_the_command(checkout: Path) -> None:
    """One command for all that is missing: on stderr, exit 3."""
    shutil.rmtree(checkout / ".venv")
    ended = run(checkout / "bin" / "setup-env", "--tmux")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "missing: tmux python3-venv. Run: " in ended.stderr


def test_two_at_once_wait_for_each_other(checkout: Path) -> None:
    """While one sets up, another one waits, and then finds everything done."""
    (checkout / ".venv" / ".ready").unlink()
    with (checkout / "pyproject.toml").open("rb") as held:
        locked = subprocess.run(["flock", "--exclusive", "0"], stdin=held, check=False)
        assert locked.returncode == 0
        with subprocess.Popen([checkout / "bin" / "setup-env", "--dev"], stderr=subprocess.PIPE, text=True) as second:
            wait_for(lambda: _waits_for_a_lock(second.pid), what="the second one waits for the lock")
            stamp(checkout)
            subprocess.run(["flock", "--unlock", "0"], stdin=held, check=True)
            said = second.communicate(timeout=30)[1]
    assert (second.returncode, said) == (0, "")


def _waits_for_a_lock(pid: int) -> bool:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return any(Path(f"/proc/{child}/comm").read_text().strip() == "flock" for child in children)
