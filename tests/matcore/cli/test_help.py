"""`mat --help` and the help of each command: what a newcomer reads first."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest

from matcore.cli import main
from tests.matcore.cli.conftest import Mat


@click.command()
def looks() -> None:
    """Look through another window. It has more to say."""


def test_every_command_says_what_it_does(mat: Mat) -> None:
    """In a sentence of its own, those of drivers too; none is told by the name of its module."""
    _, out, _ = mat("--help")
    rows = [line.split(maxsplit=1) for line in out.splitlines() if line.startswith("  ") and "  " in line.strip()]
    told = {row[0]: row[1] for row in rows}
    for name in main.mat.list_commands(click.Context(main.mat)):
        assert told[name][0].isupper(), (name, told[name])
        assert "baton" not in told[name]
        assert "tmuxdriver" not in told[name]


def test_a_command_of_another_package_is_told_in_its_words(mat: Mat, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that can't be loaded says so, beside all the others."""
    found = [EntryPoint("look", f"{__name__}:looks", main.PLUGGED), EntryPoint("torn", "mat_no_such:x", main.PLUGGED)]
    monkeypatch.setattr(main, "plugged", lambda: found)
    code, out, err = mat("--help")
    assert (code, err) == (0, "")
    assert "look  Look through another window." in out
    assert "torn  can't be loaded from mat_no_such" in out
    assert "status" in out


def test_every_command_has_help(mat: Mat) -> None:
    """How it is called, by its name."""
    for name in main.mat.list_commands(click.Context(main.mat)):
        if name != "wait":  # agents' words, below
            code, out, _ = mat(name, "-h")
            assert code == 0
            assert out.startswith(f"Usage: mat {name} ")


@pytest.mark.parametrize("name", ["hook", "wait", "cycle"])
def test_so_have_those_that_are_answered_without_click(name: str) -> None:
    """A person may ask what agents and hooks call."""
    for option in ("--help", "-h"):
        done = subprocess.run(
            [Path(sys.executable).parent / "mat", name, option], capture_output=True, text=True, check=False, timeout=30
        )
        assert done.returncode == 0
        assert done.stdout.lower().startswith(f"usage: mat {name}")
