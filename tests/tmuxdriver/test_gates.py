"""Each gate that a program's screen can tell of has a recording that raises it."""

from __future__ import annotations

import csv
from functools import cache

import pytest

from tests.tmuxdriver.test_screens import FOLDER, variables
from tmuxdriver import profile
from tmuxdriver.cells import Capture
from tmuxdriver.evidence import Evidence
from tmuxdriver.limits import Limit
from tmuxdriver.screen import read

GATES = {"dialog", "login", "rate-limited", "human-typing", "compacting"}
"""Those of a program. What tmux and the process tree tell, copy mode and the like, is the same for all."""
load = cache(profile.load)


@pytest.mark.parametrize("program", ["claude", "codex", "pi"])
def test_every_gate_of_a_program_has_a_screen_that_raises_it(program: str) -> None:
    """By what the profile makes of the recordings, each seen by a seat of its own."""
    with (FOLDER / program / "expected.tsv").open(encoding="utf-8", newline="") as file:
        states = sorted({row["file"].split(".")[0] for row in csv.DictReader(file, delimiter="\t")})
    raised: dict[str, str] = {}
    for state in states:
        text = (FOLDER / program / f"{state}.txt").read_text(encoding="utf-8")
        seat = Evidence("duo", "dev", limit=Limit(load(program).resets))
        seen = seat.looked(0.0, read(load(program), Capture(text, variables(program, state))), text)
        raised |= {str(s.fields["gate"]): state for s in seen if s.name == "gate.raised"}
    assert raised.keys() == GATES, raised
