"""A collapsed paste, as each program shows it: its count tells whether it may be ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tmuxdriver.test_screens import FOLDER, variables
from tmuxdriver.cells import Capture
from tmuxdriver.compare import counts, holds
from tmuxdriver.left import Left
from tmuxdriver.profile import load
from tmuxdriver.screen import Screen, read

LONG = "x" * (4095 - 69) + "\n" * 69
"""What was pasted into four programs: as many lines and characters."""
SHOWN = [
    ("claude", "paste-4KB", LONG),
    ("codex", "paste-4KB", LONG),
    ("qwen", "paste-4KB", LONG),
    ("opencode", "paste-4KB", LONG),
    ("opencode", "launched-draft-pasted", "line\n" * 12 + "line"),
    ("pi", "draft-pasted", "line\n" * 19 + "line"),
    ("pi", "draft-pasted-line", "x" * 1200),
]


def seen(program: str, state: str) -> Screen:
    text = (FOLDER / program / f"{state}.txt").read_text(encoding="utf-8")
    return read(load(program), Capture(text, variables(program, state)))


@pytest.mark.field_case("Submitting")
@pytest.mark.parametrize(("program", "state", "text"), SHOWN)
def test_the_marker_of_a_paste_is_ours_when_it_counts_what_we_typed(program: str, state: str, text: str) -> None:
    """In the composer, and left there by an earlier delivery; not when a person has pasted something else."""
    screen, pasted = seen(program, state), load(program).composer.pasted
    assert holds(screen.typed, text, pasted)
    assert Left(text, pasted, "100").stands_in(screen, "100")
    other = text + "\nand what\na person thinks of it\nall in all"
    assert not holds(screen.typed, other, pasted)
    assert not Left(other, pasted, "100").stands_in(screen, "100")
    assert not Left(text, pasted, "100").stands_in(screen, "101")
    assert not Left(text, pasted).stands_in(screen, "100")


def test_every_program_that_collapses_a_paste_is_recorded_with_one() -> None:
    """A profile whose marker nobody has seen might refuse our own text."""
    folder = Path(load("claude").folder)
    collapses = {path.stem for path in folder.glob("*.yaml") if load(path.stem).composer.pasted is not None}
    assert collapses - {"scripted"} == {program for program, _, _ in SHOWN}


@pytest.mark.parametrize(
    ("marker", "text", "is_ours"),
    [
        ("[Pasted text #3 +2 lines]", "a\nb\nc", True),
        ("[Pasted text #2 +4 lines]", "a\nb\nc", False),
        ("[Pasted Content 2 chars]", "a\nb\nc", False),
        ("[Pasted Content 4 chars]", "a\N{GRINNING FACE}b", True),
        ("[Pasted Content 3 chars]", "a\N{GRINNING FACE}b", True),
        ("[paste #3 6 chars]", "a\tb", True),
        ("[a paste of 3 KB]", "a\nb\nc", None),
    ],
)
def test_lines_and_characters_are_counted_as_programs_do(marker: str, text: str, is_ours: bool | None) -> None:
    """The paste's own number counts nothing, and where nothing is counted nothing can be compared."""
    assert counts(marker, text) is is_ours
    assert holds(marker, text, r"\[.*\]") is (is_ours is not False)
