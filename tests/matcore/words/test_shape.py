"""Names, paths and sentences made to fit."""

from __future__ import annotations

import pytest

from matcore.words import shape


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("a\x1b[201~\rrm -rf\x07", "a\nrm -rf"),
        ("a\x9b201~b\x85c", "abc"),
        ("tab\tline\r\nend\x7f", "tab\tline\nend"),
        ("\u202egnp.exe", "gnp.exe"),
        ("half \ud800 pair", "half  pair"),
    ],
)
def test_nothing_that_is_a_key_stays(raw: str, cleaned: str) -> None:
    """Paste ends, control characters, direction marks and lone surrogates are gone; newline and tab stay."""
    assert shape.clean(raw) == cleaned


def test_the_middle_goes_first() -> None:
    """What is too long keeps its beginning and its end, and no character is cut in two."""
    assert shape.middle("abc", 3) == "abc"
    assert shape.middle("abcdefghij", 7) == "ab…ij"
    assert shape.size(shape.middle("ü" * 50, 20)) <= 20


def test_a_path_stays_reachable() -> None:
    """A path that does not fit, or can't be typed, is named below $MAT_DIR; only a foreign one loses its middle."""
    inside = "/w/" + "x/" * 200 + ".mat/s1/handoffs/abc.md"
    assert shape.reachable("/w/.mat/s1/handoffs/abc.md", 100) == "/w/.mat/s1/handoffs/abc.md"
    assert shape.reachable(inside, 100) == "$MAT_DIR/handoffs/abc.md"
    assert shape.reachable("/w\n/.mat/s1/handoffs/abc.md", 100) == "$MAT_DIR/handoffs/abc.md"
    assert "…" in shape.reachable("/etc/" + "x" * 200, 100)


@pytest.mark.parametrize(
    ("command", "name", "called"),
    [
        ("send-relay", "send-relay", "send-relay"),
        ("send-relay", "mat", "mat"),
        ("/opt/bin/send-relay", "mat", "/opt/bin/mat"),
        ("/opt/my bin/send-relay", "send-relay", "send-relay"),
        ("/" + "x" * 200 + "/send-relay", "send-relay", "send-relay"),
    ],
)
def test_a_command_can_be_typed_as_it_is_named(command: str, name: str, called: str) -> None:
    """An absolute path is named where it can be typed as it stands; else PATH has to do."""
    assert shape.program(command, name) == called
