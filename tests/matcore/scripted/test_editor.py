"""The draft: what is typed, what is seen, what would be submitted."""

from __future__ import annotations

from matcore.scripted.editor import Editor
from matcore.scripted.script import Collapse


def typed(text: str) -> Editor:
    editor = Editor(Collapse(chars=20, lines=2))
    editor.insert(text)
    return editor


def press(editor: Editor, *names: str) -> str:
    for name in names:
        assert editor.key(name)
    return editor.text


def test_text_is_edited_at_the_cursor() -> None:
    """Moving, inserting, deleting at both sides."""
    editor = typed("abd")
    press(editor, "left")
    editor.insert("c")
    assert press(editor, "home", "delete", "end", "backspace") == "bc"


def test_ctrl_u_clears_up_to_the_cursor() -> None:
    """At the end of the draft that is all of it."""
    assert press(typed("a\nb"), "ctrl-u") == ""
    assert press(typed("abc"), "left", "ctrl-u") == "c"


def test_ctrl_w_and_ctrl_k_take_a_word_and_the_rest() -> None:
    """As in a shell."""
    assert press(typed("one two "), "ctrl-w") == "one "
    assert press(typed("one two"), "home", "ctrl-k") == ""


def test_keys_at_the_edges_do_nothing() -> None:
    """An empty draft bears every key."""
    assert press(typed(""), "backspace", "delete", "left", "right", "ctrl-w", "ctrl-u", "home", "end") == ""
    assert not typed("").key("f1")


def test_a_short_paste_is_text() -> None:
    """Within both limits it is merged into the draft."""
    editor = typed("draft ")
    editor.paste("a\nb")
    assert editor.shown == ("draft a\nb", 9)


def test_a_long_paste_is_collapsed_and_submitted_whole() -> None:
    """By lines or by characters; each has its number."""
    editor = typed("see ")
    editor.paste("1\n2\n3\n4")
    editor.paste("x" * 21)
    assert editor.shown[0] == "see [Pasted text #1 +3 lines][Pasted text #2 +0 lines]"
    assert editor.text == "see 1\n2\n3\n4" + "x" * 21


def test_backspace_takes_a_collapsed_paste_as_one() -> None:
    """It is one cell."""
    editor = typed("a")
    editor.paste("x" * 21)
    assert press(editor, "backspace") == "a"


def test_without_limits_nothing_is_collapsed() -> None:
    """`collapse_paste: false`."""
    editor = Editor(None)
    editor.paste("x\n" * 50)
    assert editor.shown[0] == "x\n" * 50


def test_control_characters_are_seen_but_not_changed() -> None:
    """What is shown can't move the cursor; what is submitted is what came."""
    editor = typed("a\x9bb")
    assert editor.shown == ("a\\x9bb", 6)
    assert editor.text == "a\x9bb"
