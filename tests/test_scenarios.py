"""The conformance suite of the core: every scenario holds, and ours are those that were handed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from matcore.show import simulation

SCENARIOS = Path(__file__).parent / "scenarios"
OURS = sorted(SCENARIOS.glob("*.yaml"))
OWN = sorted((SCENARIOS / "own").glob("*.yaml"))
"""Not handed over: runs in which the core once decided otherwise than the page says."""
THEIRS = Path(__file__).parents[2] / "shared" / "scenarios"


@pytest.mark.parametrize("file", [*OURS, *OWN], ids=lambda file: file.stem)
def test_a_scenario_holds(file: Path) -> None:
    """Fed in virtual time, the core decides exactly what the file expects."""
    scenario = simulation.load(file)
    assert scenario.expect is not None
    assert simulation.difference(scenario.expect, simulation.run(scenario)) is None


@pytest.mark.skipif(not THEIRS.is_dir(), reason="no ../shared/scenarios beside this checkout")
def test_the_handed_over_scenarios_are_among_ours() -> None:
    """A copy that was changed, or one that is missing, is found."""
    ours = {file.name: file.read_bytes() for file in OURS}
    for file in THEIRS.glob("*.yaml"):
        assert ours.get(file.name) == file.read_bytes(), file.name
