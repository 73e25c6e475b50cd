"""What the commands' tests share: places of their own, and `mat` as its user runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from matcore.cli.main import run
from matcore.places import StatePlaces
from tests.matcore.cli.told import Told

Mat = Callable[..., tuple[int, str, str]]
Tell = Callable[..., Told]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StatePlaces:
    """A state folder without a session."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "100")
    return StatePlaces(tmp_path / "state" / "mat")


@pytest.fixture
def mat(
    state: StatePlaces,  # noqa: ARG001 - sets where things are
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> Mat:
    """`mat(*words)`: (exit code, stdout, stderr), in a directory of its own."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def call(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(list(words))
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def tell(state: StatePlaces) -> Iterator[Tell]:
    """Makes sessions, and closes their journals."""
    made: list[Told] = []

    def make(session: str = "duo", **options: Any) -> Told:
        made.append(Told(state, session, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
