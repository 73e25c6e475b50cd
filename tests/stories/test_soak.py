"""A short soak: hours of a few duos with random faults; the long one is `benchmarks/soak.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.soak import Soak


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_is_lost_nothing_comes_twice_and_every_invariant_holds(seed: int, tmp_path: Path) -> None:
    """Every journal, folded anew, decides the same, and no step of it breaks a promise of the ladder."""
    soak = Soak(tmp_path, 5, seed)
    soak.run(8)
    assert soak.check() > 500
    soak.end()
