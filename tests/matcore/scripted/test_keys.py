"""Bytes to keys: framed pastes, keys in pieces, and any garbage."""

from __future__ import annotations

import random

import pytest

from matcore.scripted.keys import Event, Key, Keys, Paste, Typed


def read(*chunks: bytes) -> list[Event]:
    keys = Keys()
    return [event for chunk in chunks for event in keys.feed(chunk)] + keys.flush()


def test_typed_text_and_enter_are_told_apart() -> None:
    """Text comes as one event, CR is Enter, LF is a line break in the draft."""
    assert read(b"hi\r\nyou") == [Typed("hi"), Key("enter"), Key("newline"), Typed("you")]


def test_a_framed_paste_is_one_event_with_newlines() -> None:
    """CR and CRLF inside the frame are line breaks, never Enter; other control characters are dropped."""
    assert read(b"\x1b[200~a\rb\r\nc\td\x07\x1b\x7f\x1b[201~\r") == [Paste("a\nb\nc\td"), Key("enter")]


def test_a_paste_end_inside_a_paste_ends_it() -> None:
    """What follows it counts as typed: this is how a message breaks out of its frame."""
    assert read(b"\x1b[200~a\x1b[201~!ls\r\x1b[201~") == [Paste("a"), Typed("!ls"), Key("enter"), Key("other")]


@pytest.mark.parametrize("text", ["a long paste", "äöü €", "emoji 🙂 ok", ""])
def test_a_paste_may_come_in_any_pieces(text: str) -> None:
    """Cut at every byte it is the same one paste."""
    data = b"x\x1b[200~" + text.encode() + b"\x1b[201~y"
    for at in range(len(data)):
        events = read(data[:at], data[at:])
        assert Paste(text) in events
        assert "".join(event.text for event in events if isinstance(event, Typed)) == "xy"
    single = Keys()
    assert [event for byte in data for event in single.feed(bytes([byte]))] == [Typed("x"), Paste(text), Typed("y")]


def test_a_lone_escape_is_a_key_once_nothing_follows() -> None:
    """Escape waits for what may follow; then it is Escape."""
    keys = Keys()
    assert keys.feed(b"\x1b") == []
    assert keys.pending
    assert keys.flush() == [Key("escape")]
    assert not keys.pending


def test_cursor_keys_come_in_both_spellings() -> None:
    """Application mode or not, up is up; a sequence in two pieces as well."""
    assert read(b"\x1b[A\x1bOB\x1b", b"[C") == [Key("up"), Key("down"), Key("right")]


@pytest.mark.parametrize("data", [b"\x1b[<0;1;2M", b"\x1b[I", b"\x1b]11;rgb:0/0/0\x07", b"\x1bP>|x\x1b\\", b"\x1bx"])
def test_what_is_no_key_of_ours_does_nothing(data: bytes) -> None:
    """Mouse, focus, answers of the terminal, Alt keys: never text."""
    assert read(data) == [Key("other")]


def test_two_escapes_are_two_keys() -> None:
    """The first Escape is not swallowed by the second."""
    assert read(b"\x1b\x1b") == [Key("escape"), Key("escape")]


def test_a_paste_that_never_ends_is_given_up() -> None:
    """After a while without input it counts as it is, and typing works again."""
    keys = Keys()
    assert keys.feed(b"\x1b[200~abc\x1b[2") == []
    assert keys.pasting
    assert keys.flush() == [Paste("abc[2")]
    assert keys.feed(b"d") == [Typed("d")]


def test_bytes_that_are_no_text_become_marks() -> None:
    """Broken UTF-8 is shown, not fatal."""
    assert read(b"a\xffb\xc3") == [Typed("a\ufffdb"), Typed("\ufffd")]
    assert read(b"\xc3\r") == [Typed("\ufffd"), Key("enter")]


def test_garbage_never_stops_it() -> None:
    """Whatever came before, after a pause typing works."""
    chance = random.Random(7)
    for _ in range(300):
        keys = Keys()
        for _ in range(4):
            keys.feed(bytes(chance.choice(b"\x1b[]OP200~1;\x07\\a\r\xc3\xa4\xff\x00") for _ in range(30)))
        keys.flush()
        assert not keys.pending
        assert keys.feed(b"ok") == [Typed("ok")]


def test_an_endless_sequence_is_cut_off() -> None:
    """A sequence that never ends is not hoarded."""
    keys = Keys()
    for _ in range(100):
        keys.feed(b"\x1b]" + b"a" * 100)
    assert len(keys.flush()) <= 1
