"""What may be typed: text that can neither leave its paste frame nor press a key."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from matcore.errors import OurMistake
from tmuxdriver.plain import sanitise


@given(st.text(max_size=200))
@example("\x1b[201~\x1b[200~\r\x7f\x9b201~")
@example("\x1b\x1b[201~[201~")
@example("\x1b[20\x1b[201~1~")
def test_no_control_character_gets_through(text: str) -> None:
    """No C0 but newline and tab, no DEL, no C1; what was allowed stays as it is, in order."""
    typed = sanitise("[m] " + text)
    assert all(char in "\n\t" or unicodedata.category(char) != "Cc" for char in typed)
    assert typed.startswith("[m]")
    assert sanitise(typed) == typed


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=200))
def test_other_text_arrives_as_it_is(text: str) -> None:
    """Unicode, quotes, dollars, backticks and tmux formats are text."""
    assert sanitise("[m]" + text).rstrip() == ("[m]" + text).rstrip()


@pytest.mark.parametrize("last", ["$HOME", "@TASK.md", "/etc", "#12", "$"])
def test_a_space_follows_a_word_that_programs_would_complete(last: str) -> None:
    """Codex opens a list of names for it, and that list takes the Enter."""
    assert sanitise(f"[m] look at {last}\n") == f"[m] look at {last} "
    assert sanitise(f"[m] look at {last} now") == f"[m] look at {last} now"


@pytest.mark.parametrize("text", ["", "\n", "!ls", "/quit", "#x", "@file", "\x1b!ls", "\x00/quit"])
def test_what_programs_would_run_is_our_mistake(text: str) -> None:
    """No text for an agent starts like a command, not even behind a control character."""
    with pytest.raises(OurMistake):
        sanitise(text)


def test_a_payload_is_our_mistake() -> None:
    """Panes get pointers to files, always under 1 KiB."""
    sanitise("ä" * 512)
    with pytest.raises(OurMistake, match="1026 bytes"):
        sanitise("ä" * 513)
