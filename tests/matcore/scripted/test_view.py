"""Frames: what each state looks like, at any size."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from matcore.scripted.glyphs import cells
from matcore.scripted.stage import Choice
from matcore.scripted.view import Block, View, block_rows, frame, title, tool_text

IDLE = View(placeholder="Ask me to do anything", footer="? for shortcuts")
BUSY = replace(IDLE, busy_s=3.4)
ASKED = replace(BUSY, choice=Choice("permission", "Would you like to run this command?", ("Yes", "No"), "$ ls"))


def plain(view: View, width: int = 40, height: int = 24) -> list[str]:
    return [unstyled(row) for row in frame(view, width, height).rows]


def unstyled(row: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", row)


def test_an_idle_screen_has_a_composer_with_a_dim_suggestion() -> None:
    """The suggestion is no draft: it is dim, and the cursor stands before it."""
    rule = "─" * 40
    assert plain(IDLE) == ["", rule, "> Ask me to do anything", rule, "  ? for shortcuts"]
    seen = frame(IDLE, 40, 24)
    assert "\x1b[2mAsk me" in seen.rows[2]
    assert seen.cursor == (2, 2)


def test_a_draft_takes_the_place_of_the_suggestion() -> None:
    """In normal style, with the cursor behind it; later lines are indented."""
    seen = frame(replace(IDLE, draft="do not\nmer", cursor=10), 40, 24)
    assert seen.rows[2:4] == ("> do not", "  mer")
    assert seen.cursor == (3, 5)


def test_a_busy_screen_has_a_status_row_above_the_composer() -> None:
    """And the composer stays."""
    assert plain(BUSY)[:3] == ["", "* Working (3s - esc to interrupt)", ""]
    assert "> Ask me to do anything" in plain(BUSY)
    assert plain(replace(BUSY, tick=1))[1].startswith("+ Working")


@pytest.mark.parametrize(("style", "row"), [("footer", "  esc to interrupt"), ("title", "  ? for shortcuts")])
def test_busy_may_be_seen_elsewhere(style: str, row: str) -> None:
    """In the footer, in the title alone."""
    seen = replace(BUSY, busy_style=style)
    assert plain(seen)[-1] == row
    assert len(plain(seen)) == len(plain(IDLE))


def test_the_title_names_the_state() -> None:
    """Idle, busy with a spinner that turns, a dialog; `none` hides that it is busy."""
    assert title("scripted", IDLE) == "scripted"
    assert {title("scripted", replace(BUSY, tick=tick)) for tick in range(99)} == {"⠂ scripted", "⠐ scripted"}
    assert title("scripted", ASKED) == "[!] scripted"
    assert title("scripted", replace(BUSY, busy_style="none")) == "scripted"


def test_a_dialog_takes_the_place_of_the_composer() -> None:
    """No composer, no cursor; the marked option is seen."""
    assert plain(ASKED) == [
        "",
        "─" * 40,
        " Would you like to run this command?",
        "",
        "   $ ls",
        "",
        " > 1. Yes",
        "   2. No",
        "",
        " Enter to confirm, Esc to cancel",
    ]
    assert frame(ASKED, 40, 24).cursor is None
    assert " > 2. No" in plain(replace(ASKED, marked=1))


def test_composers_have_three_shapes() -> None:
    """Between rules, in a border, plain."""
    bordered = plain(replace(IDLE, composer="bordered", draft="x", cursor=1))
    assert bordered[1:4] == ["╭" + "─" * 38 + "╮", "│ > x" + " " * 34 + "│", "╰" + "─" * 38 + "╯"]
    assert frame(replace(IDLE, composer="bordered"), 40, 24).cursor == (2, 4)
    assert plain(replace(IDLE, composer="plain"))[1] == "> Ask me to do anything"


def test_a_long_draft_scrolls_to_its_cursor() -> None:
    """The composer does not grow without end."""
    text = "\n".join(str(n) for n in range(50))
    end = frame(replace(IDLE, draft=text, cursor=len(text)), 40, 24)
    assert "  49" in end.rows
    assert end.cursor is not None
    assert end.rows[end.cursor[0]] == "  49"
    assert "> 0" in frame(replace(IDLE, draft=text, cursor=0), 40, 24).rows


def test_waiting_messages_are_shown() -> None:
    """One row each, above the composer."""
    rows = plain(replace(BUSY, queued=("first\nmore", "second")))
    assert rows[3:5] == ["  Queued: first", "  Queued: second"]


@pytest.mark.parametrize("width", [1, 2, 5, 12, 40, 200])
@pytest.mark.parametrize("height", [1, 2, 3, 5, 6, 9, 60])
@pytest.mark.parametrize("view", [IDLE, BUSY, ASKED], ids=["idle", "busy", "dialog"])
def test_a_frame_fits_any_screen(view: View, width: int, height: int) -> None:
    """Never more rows than there are, never a cursor outside; from 5 columns on, never too wide."""
    full = replace(view, draft="words 漢字 " * 20, cursor=7, queued=("q" * 50,) * 9, composer="bordered")
    for shape in (view, full):
        seen = frame(shape, width, height)
        assert 1 <= len(seen.rows) <= height
        assert seen.cursor is None or (seen.cursor[0] < len(seen.rows) and seen.cursor[1] < width)
        assert width < 5 or all(cells(unstyled(row)) <= width for row in seen.rows)


def test_what_was_received_stands_in_the_transcript() -> None:
    """Behind the same mark as a draft, whole, as real agents do."""
    assert block_rows(Block("you", "one\ntwo"), 40) == ["", "> one", "  two"]


def test_the_output_of_a_command_is_cut() -> None:
    """A few rows of it, and how many are left out; its exit code when it failed."""
    text = tool_text("seq 50", "\n".join(str(n) for n in range(50)), 2)
    rows = block_rows(Block("tool", text), 40)
    assert rows[1:4] == ["• Ran seq 50  (exit code 2)", "  └ 0", "    1"]
    assert rows[-1] == "  … +40 lines"
    assert block_rows(Block("tool", tool_text("true", "", 0)), 40)[2] == "  └ (no output)"


def test_control_characters_in_the_transcript_are_visible() -> None:
    """No command's output can act on the terminal."""
    rows = block_rows(Block("tool", tool_text("x", "\x1b]2;evil\x07\x1b[2J", 0)), 60)
    assert rows[2] == "  └ ^[]2;evil^G^[[2J"
