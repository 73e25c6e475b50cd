"""`mat record` where there is nothing to record: each refusal names what there is, or how another server is named."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from matcore.cli.main import run


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A tmux server with one pane of an agent."""
    socket = str(tmp_path / "s")
    words = ["tmux", "-S", socket, "-f", os.devnull]
    marks = ["set-option", "-p", "@mat_session", "duo", ";", "set-option", "-p", "@mat_role", "dev"]
    subprocess.run([*words, "new-session", "-d", "-s", "x", "cat", ";", *marks], check=True)
    yield socket
    subprocess.run([*words, "kill-server"], check=False)


@pytest.mark.live
@pytest.mark.parametrize(
    ("pane", "code", "said"),
    [
        ("duo/review", 1, "there is: duo/dev"),
        ("shop/dev", 1, "there is: duo/dev"),
        ("dev", 2, "say %3"),
        ("%99", 3, "list-panes -a"),
    ],
)
def test_a_pane_that_is_not_there(
    server: str, capsys: pytest.CaptureFixture[str], pane: str, code: int, said: str
) -> None:
    """On a server that runs."""
    assert run(["record", "--socket", server, pane]) == code
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("pane", ["%1", "duo/dev"])
def test_a_server_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str], pane: str) -> None:
    """The option that names another."""
    assert run(["record", "--socket", str(tmp_path / "none"), pane]) in (1, 3)
    assert "--socket names another" in capsys.readouterr().err
