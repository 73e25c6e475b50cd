"""Fixtures of the tests that drive a real tmux."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.rig import Rig


@pytest.fixture
def make_rig(tmp_path: Path) -> Iterator[Callable[..., Rig]]:
    """Makes rigs and ends all that they started."""
    made: list[Rig] = []

    def make(**options: Any) -> Rig:
        folder = tmp_path / f"rig{len(made)}"
        folder.mkdir()
        made.append(Rig(folder, **options))
        return made[-1]

    yield make
    for rig in made:
        rig.down()
