"""pi's profile against pi's own screens: one right answer for each."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tmuxdriver.cells import Capture
from tmuxdriver.profile import load
from tmuxdriver.screen import read

FOLDER = Path(__file__).parent / "screens" / "pi"


def rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def variables(state: str) -> dict[str, str]:
    """What tmux said when the screen was recorded: `title=π - w cmd=pi …`."""
    line = next(row["tmux variables at that moment"] for row in rows("INDEX.tsv") if row["state"] == state)
    return {name: value.strip() for name, value in re.findall(r"(\w+)=(.*?)(?= \w+=|$)", line)}


@pytest.mark.parametrize("row", rows("expected.tsv"), ids=lambda row: row["file"])
def test_each_screen_of_pi_has_one_right_answer(row: dict[str, str]) -> None:
    """State, dialog, composer and notes of the styled screen are those of the table."""
    text = (FOLDER / f"{row['file']}.ansi.txt").read_text(encoding="utf-8")
    screen = read(load("pi"), Capture(text, variables(row["file"])))
    assert (screen.state, screen.dialog or "", screen.composer, ",".join(screen.notes)) == (
        row["state"],
        row["dialog"],
        row["composer"],
        row["notes"],
    )


def test_the_table_holds_every_screen() -> None:
    """A recording without a right answer is no test."""
    recorded = {path.name.removesuffix(".ansi.txt") for path in FOLDER.glob("*.ansi.txt")}
    assert recorded == {row["file"] for row in rows("expected.tsv")} == {row["state"] for row in rows("INDEX.tsv")}
