"""The shell completes commands, sessions, roles and kinds, in bash, zsh and fish."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from matcore.cli import main
from matcore.cli.naming import RoleName, SessionName
from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Tell

MAT = str(Path(sys.executable).parent / "mat")
PAGE = Path(__file__).parents[3] / "docs" / "daily-use.md"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A tmux server of the test's own with one pane of an agent, and one that is nobody's."""
    socket = str(tmp_path / "s")
    marks = ["set-option", "-p", "@mat_session", "shop-duo", ";", "set-option", "-p", "@mat_role", "dev"]
    words = ["tmux", "-S", socket, "-f", os.devnull]
    subprocess.run([*words, "new-session", "-d", "-s", "x", "cat", ";", *marks, ";", "new-window", "cat"], check=True)
    yield socket
    subprocess.run([*words, "kill-server"], check=False)


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
    plain = (line.removeprefix("plain,") for line in lines if line.startswith("plain,"))
    return [line.partition("\t")[0] for line in plain]


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
    assert completed(state, shell, "cycle", "open", "--session", "sh") == ["shop-duo"]
    assert completed(state, shell, "cycle", "open", "--session", "shop-duo", "--to", "d") == ["dev"]
    assert completed(state, shell, "worker", "sh") == ["shop-duo"]
    assert completed(state, shell, "demo", "--driver", "b") == ["baton"]


def test_every_session_and_role_completes() -> None:
    """In every command, those of drivers too, wherever one stands; and every file."""
    ctx = click.Context(main.mat)
    for name in main.mat.list_commands(ctx):
        command = main.mat.get_command(ctx, name)
        assert command is not None
        inner = list(command.commands.values()) if isinstance(command, click.Group) else [command]
        for parameter in (each for one in inner for each in one.params):
            wanted = {"session": SessionName, "role": RoleName, "to": (RoleName, click.Path), "file": click.Path}
            kind = wanted.get(parameter.name or "", object)
            assert isinstance(parameter.type, kind), (name, parameter.name)  # type: ignore[arg-type]


@pytest.mark.live
def test_panes_complete(state: StatePlaces, server: str) -> None:
    """`mat record SESSION/ROLE`, on the server that is named."""
    assert completed(state, "bash", "record", "--socket", server, "shop-duo/") == ["shop-duo/dev"]
    assert completed(state, "bash", "record", "--socket", f"{server}-no", "") == []


SCRIPTS = {
    "bash": """eval "$(_MAT_COMPLETE=bash_source mat)"
compopt() { :; }
COMP_WORDS=(mat send shop-duo re) COMP_CWORD=3
_mat_completion mat
echo "${COMPREPLY[@]}"
""",
    "zsh": """autoload -Uz compinit; compinit -u -D
eval "$(_MAT_COMPLETE=zsh_source mat)"
compadd() { local name=$@[-1]; echo ${(P)name}; }
words=(mat send shop-duo re) CURRENT=4
_mat_completion
""",
    "fish": """_MAT_COMPLETE=fish_source mat | source
complete -C "mat send shop-duo re"
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_shell_itself_takes_it(state: StatePlaces, tell: Tell, shell: str, tmp_path: Path) -> None:
    """The line of the documentation, evaluated by the shell, offers the role."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    tell("shop-duo").working()
    script = tmp_path / "script"
    script.write_text(SCRIPTS[shell])
    path = f"{Path(MAT).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "HOME": str(tmp_path), "XDG_STATE_HOME": str(state.root.parent)}
    done = subprocess.run([shell, str(script)], env=env, capture_output=True, text=True, check=False, timeout=60)
    assert "review" in done.stdout, done.stderr
    assert "dev" not in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    """As `mat --help` and docs/daily-use.md say."""
    assert f"{shell}_source" in PAGE.read_text(encoding="utf-8")
    done = subprocess.run(
        [MAT], env={**os.environ, "_MAT_COMPLETE": f"{shell}_source"}, capture_output=True, text=True, check=False
    )
    assert "_MAT_COMPLETE" in done.stdout


def test_what_cannot_be_read_completes_to_nothing(state: StatePlaces) -> None:
    """A damaged journal is no traceback in somebody's command line."""
    state.session("torn").mkdir(parents=True)
    state.journal("torn").write_bytes(b"nothing" * 999)
    assert completed(state, "bash", "send", "torn", "") == []
