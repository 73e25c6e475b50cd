"""The shell completes commands, sessions, roles and kinds, in bash, zsh and fish."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Tell

MAT = str(Path(sys.executable).parent / "mat")


def completed(state: StatePlaces, shell: str, *words: str) -> list[str]:
    """What the shell is offered for the last of `words`."""
    given = {"COMP_WORDS": " ".join(("mat", *words)), "COMP_CWORD": str(len(words))}
    if shell == "fish":
        given["COMP_CWORD"] = words[-1]
    env = {**os.environ, "XDG_STATE_HOME": str(state.root.parent), "_MAT_COMPLETE": f"{shell}_complete", **given}
    done = subprocess.run([MAT], env=env, capture_output=True, text=True, check=True, timeout=30)
    lines = done.stdout.splitlines()
    if shell == "zsh":
        return [name for kind, name in zip(lines[::3], lines[1::3], strict=False) if kind == "plain"]
    return [line.partition(",")[2].partition("\t")[0] for line in lines if line]


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_names_complete(state: StatePlaces, tell: Tell, shell: str) -> None:
    """Commands, sessions that have a journal, and the roles of the one that was named."""
    tell("shop-duo").working()
    tell("other").working()
    assert completed(state, shell, "sta") == ["status"]
    assert completed(state, shell, "status", "sh") == ["shop-duo"]
    assert completed(state, shell, "send", "shop-duo", "") == ["dev", "review"]
    assert completed(state, shell, "restart", "shop-duo", "re") == ["review"]
    assert completed(state, shell, "log", "--kind", "nud") == ["nudge"]
    assert completed(state, shell, "screen", "cod") == ["codex"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    """As `mat --help` says."""
    done = subprocess.run(
        [MAT], env={**os.environ, "_MAT_COMPLETE": f"{shell}_source"}, capture_output=True, text=True, check=False
    )
    assert "_MAT_COMPLETE" in done.stdout


def test_what_cannot_be_read_completes_to_nothing(state: StatePlaces) -> None:
    """A damaged journal is no traceback in somebody's command line."""
    state.session("torn").mkdir(parents=True)
    state.journal("torn").write_bytes(b"nothing" * 999)
    assert completed(state, "bash", "send", "torn", "") == []
