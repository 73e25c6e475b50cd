"""Text that a terminal may show: nothing in it acts, and widths are counted in cells."""

from __future__ import annotations

import random

import pytest

from matcore.scripted.glyphs import cells, cut, visible, wrap, wrap_hard


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\x1b[31mb", "a^[[31mb"),
        ("\x00\x07\x7f", "^@^G^?"),
        ("\x9b2J", "\\x9b2J"),
        ("a\r\nb\rc", "a\nb^Mc"),
        ("\u202eevil", "\\u202eevil"),
        ("a\tb", "a   b"),
        ("\u00a0", " "),
        ("é 漢 🙂", "é 漢 🙂"),
    ],
)
def test_control_characters_become_visible(text: str, shown: str) -> None:
    """Escape sequences, C1, bidirectional marks: seen as what they are."""
    assert visible(text) == shown


def test_nothing_visible_acts_on_a_terminal() -> None:
    """Whatever goes in, only printable characters and line breaks come out."""
    chance = random.Random(3)
    for _ in range(200):
        text = "".join(chr(chance.choice([chance.randrange(0xA0), chance.randrange(0x3000)])) for _ in range(50))
        assert all(char == "\n" or char.isprintable() for char in visible(text))


def test_width_is_counted_in_cells() -> None:
    """Wide characters take two, combining ones none."""
    assert (cells("abc"), cells("漢字"), cells("e\u0301")) == (3, 4, 1)
    assert cut("漢字", 3) == "漢"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("one two three", ["one two", "three"]),
        ("abcdefghij", ["abcdefgh", "ij"]),
        ("a\n\nb", ["a", "", "b"]),
        ("eight ch x", ["eight ch", "x"]),
        ("漢字漢字漢", ["漢字漢字", "漢"]),
    ],
)
def test_lines_are_broken_at_blanks(text: str, lines: list[str]) -> None:
    """A word that is too long is cut; a blank at the break is dropped."""
    assert wrap(text, 8) == lines


@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_no_line_is_too_wide(width: int) -> None:
    """Even at one column everything ends, and all characters that fit are there."""
    for line in wrap("some words\nin a 漢字 text", width):
        assert cells(line) <= max(width, 2)


def test_the_cursor_is_found_in_wrapped_text() -> None:
    """At a break by width it stands at the beginning of the next row."""
    assert wrap_hard("abcdef", 3, 3) == (["abc", "def"], 1, 0)
    assert wrap_hard("abc", 3, 3) == (["abc", ""], 1, 0)
    assert wrap_hard("a\nb", 9, 1) == (["a", "b"], 0, 1)
    assert wrap_hard("a\nb", 9, 3) == (["a", "b"], 1, 1)
    assert wrap_hard("", 9, 0) == ([""], 0, 0)
