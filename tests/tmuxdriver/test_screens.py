"""Each profile against real screens of its program: one right answer for each."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

import pytest

from tmuxdriver import profile
from tmuxdriver.cells import Capture
from tmuxdriver.screen import read, screen_json

FOLDER = Path(__file__).parent / "screens"
load = cache(profile.load)
PROGRAMS = ("claude", "codex", "opencode", "qwen")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def variables(program: str, state: str) -> dict[str, str]:
    """What tmux said when the screen was recorded: `title=✳ Claude Code cmd=claude …`."""
    index = rows(FOLDER / program / "INDEX.tsv")
    line = next(row["tmux variables at that moment"] for row in index if row["state"] == state)
    return {name: value.strip() for name, value in re.findall(r"(\w+)=(.*?)(?= \w+=|$)", line)}


CASES = [(program, row) for program in PROGRAMS for row in rows(FOLDER / program / "expected.tsv")]


@pytest.mark.parametrize(
    ("program", "row"), CASES, ids=lambda value: value if isinstance(value, str) else value["file"]
)
def test_each_screen_has_one_right_answer(program: str, row: dict[str, str]) -> None:
    """State, dialog, composer and notes are those of the table, with styles or without."""
    text = (FOLDER / program / row["file"]).read_text(encoding="utf-8")
    said = screen_json(load(program), text, variables(program, row["file"].split(".")[0]))
    assert {**said, "evidence": None} == {
        "state": row["state"],
        "dialog": row["dialog"] or None,
        "composer": row["composer"],
        "notes": row["notes"].split(",") if row["notes"] else [],
        "evidence": None,
    }
    assert said["evidence"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_table_holds_every_screen(program: str) -> None:
    """A recording without a right answer is no test."""
    recorded = {path.name for path in (FOLDER / program).glob("*.txt")}
    assert recorded == {row["file"] for row in rows(FOLDER / program / "expected.tsv")}


@pytest.mark.parametrize(
    ("program", "row"), CASES, ids=lambda value: value if isinstance(value, str) else value["file"]
)
def test_less_is_known_without_tmuxs_variables_but_nothing_else(program: str, row: dict[str, str]) -> None:
    """A screen whose title or cursor is not known is never called idle or free when it is neither."""
    text = (FOLDER / program / row["file"]).read_text(encoding="utf-8")
    screen = read(load(program), Capture(text))
    assert screen.state in (row["state"], "unknown")
    assert screen.composer == row["composer"] or (screen.state, row["state"]) == ("unknown", "gone")
