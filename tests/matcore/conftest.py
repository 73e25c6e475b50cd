"""What the tests of this room share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.matcore.said_scene import PROGRAMS, Scene

Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """A duo's folder, without a supervisor."""
    return Scene(tmp_path)


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scene: Scene) -> Say:
    """`say(program, *words, role="dev")` runs an agent's command in this process: (exit code, stdout, stderr)."""

    def run(program: str, *words: str, role: str = "dev") -> tuple[int, str, str]:
        for key, value in scene.environ(role).items():
            monkeypatch.setenv(key, value)
        monkeypatch.chdir(scene.work)
        monkeypatch.setattr("sys.argv", [program, *words])
        found: dict[str, Callable[[], int]] = {}
        exec(PROGRAMS[program], found)  # noqa: S102 - one import, the same as in the process
        capsys.readouterr()
        code = found["main"]()
        return code, *capsys.readouterr()

    return run
