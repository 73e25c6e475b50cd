"""Bytes from a terminal to keys, texts and pastes. Pure and incremental; any bytes at all are accepted.

A paste-end sequence inside a paste ends it, and what follows counts as typed: real programs can't know better either.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

PASTE_START, PASTE_END = b"\x1b[200~", b"\x1b[201~"
LONGEST_SEQUENCE = 256

_CSI = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
_CSI_PART = re.compile(rb"\x1b\[[0-?]*[ -/]*\Z")
_STRING = re.compile(rb"\x1b[]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)")
_STRING_PART = re.compile(rb"\x1b[]P^_X][^\x07\x1b]*(?:\x1b)?\Z")
_PLAIN = re.compile(rb"[^\x00-\x1f\x7f]+")
_CONTROLS = {
    b"\r": "enter",
    b"\n": "newline",
    b"\x7f": "backspace",
    b"\x08": "backspace",
    b"\x03": "ctrl-c",
    b"\x15": "ctrl-u",
    b"\x17": "ctrl-w",
    b"\x0b": "ctrl-k",
    b"\x01": "home",
    b"\x05": "end",
    b"\t": "tab",
}
_SEQUENCES = {
    b"\x1b[A": "up",
    b"\x1b[B": "down",
    b"\x1b[C": "right",
    b"\x1b[D": "left",
    b"\x1bOA": "up",
    b"\x1bOB": "down",
    b"\x1bOC": "right",
    b"\x1bOD": "left",
    b"\x1b[H": "home",
    b"\x1b[F": "end",
    b"\x1b[1~": "home",
    b"\x1b[4~": "end",
    b"\x1b[3~": "delete",
    b"\x1b\r": "newline",
}


@dataclass(frozen=True, slots=True)
class Key:
    """A key by name; keys that do nothing are `other`."""

    name: str


@dataclass(frozen=True, slots=True)
class Typed:
    """Printable characters that came outside of a paste."""

    text: str


@dataclass(frozen=True, slots=True)
class Paste:
    """One framed paste, line breaks as newlines, other control characters dropped."""

    text: str


Event = Key | Typed | Paste


@dataclass(slots=True)
class Keys:
    """`feed` what was read; when nothing more comes for a moment, `flush` what `pending` holds back."""

    _held: bytes = b""
    _paste: bytearray | None = None
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )

    @property
    def pending(self) -> bool:
        """Whether something is held back that may go on."""
        return bool(self._held) or self._paste is not None or bool(self._decoder.getstate()[0])

    @property
    def pasting(self) -> bool:
        """Whether a paste has begun and not ended."""
        return self._paste is not None

    def feed(self, data: bytes) -> list[Event]:
        data = self._held + data
        self._held = b""
        events: list[Event] = []
        while data:
            data = self._in_paste(data, events) if self._paste is not None else self._one(data, events)
        return events

    def flush(self) -> list[Event]:
        """Nothing followed: a lone escape is the key, a broken sequence is garbage, an endless paste ends."""
        events: list[Event] = []
        if self._paste is not None:
            self._paste += self._held
            self._end_paste(events)
        elif self._held:
            events.append(Key("escape" if self._held == b"\x1b" else "other"))
        self._held = b""
        self._say(self._decoder.decode(b"", True), events)
        self._decoder.reset()
        return events

    def _in_paste(self, data: bytes, events: list[Event]) -> bytes:
        paste = self._paste if self._paste is not None else bytearray()
        end = data.find(PASTE_END)
        if end >= 0:
            paste += data[:end]
            self._end_paste(events)
            return data[end + len(PASTE_END) :]
        keep = _possible_start(data, PASTE_END)
        paste += data[: len(data) - keep]
        self._held = data[len(data) - keep :]
        return b""

    def _end_paste(self, events: list[Event]) -> None:
        text = bytes(self._paste or b"").decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        events.append(Paste("".join(char for char in text if char in "\n\t" or (char >= " " and char != "\x7f"))))
        self._paste = None

    def _one(self, data: bytes, events: list[Event]) -> bytes:
        if plain := _PLAIN.match(data):
            self._say(self._decoder.decode(plain.group()), events)
            return data[plain.end() :]
        self._say(self._decoder.decode(b"", True), events)  # a control character breaks off a half character
        self._decoder.reset()
        if data[:1] == b"\x1b":
            return self._escape(data, events)
        events.append(Key(_CONTROLS.get(data[:1], "other")))
        return data[1:]

    def _escape(self, data: bytes, events: list[Event]) -> bytes:
        if data.startswith(PASTE_START):
            self._paste = bytearray()
            return data[len(PASTE_START) :]
        whole = _CSI.match(data) or _STRING.match(data)
        if whole:
            events.append(Key(_SEQUENCES.get(whole.group(), "other")))
            return data[whole.end() :]
        if data in (b"\x1b", b"\x1bO") or _CSI_PART.match(data) or _STRING_PART.match(data):
            if len(data) > LONGEST_SEQUENCE:
                events.append(Key("other"))
                return b""
            self._held = data
            return b""
        return self._short(data, events)

    @staticmethod
    def _short(data: bytes, events: list[Event]) -> bytes:
        """Escape with one more key: a newline, a cursor key of old, else two keys of which the first is Escape."""
        if data.startswith(b"\x1bO"):
            events.append(Key(_SEQUENCES.get(data[:3], "other")))
            return data[3:]
        if data[:2] in _SEQUENCES:
            events.append(Key(_SEQUENCES[data[:2]]))
            return data[2:]
        if data[1:2] == b"\x1b":
            events.append(Key("escape"))
            return data[1:]
        events.append(Key("other"))  # Alt with a key, or a sequence that broke off
        return data[2:]

    @staticmethod
    def _say(text: str, events: list[Event]) -> None:
        if not text:
            return
        if events and isinstance(events[-1], Typed):
            text = events.pop().text + text  # type: ignore[union-attr]
        events.append(Typed(text))


def _possible_start(data: bytes, of: bytes) -> int:
    """How many bytes at the end of `data` may be the beginning of `of`."""
    for length in range(min(len(of) - 1, len(data)), 0, -1):
        if of.startswith(data[-length:]):
            return length
    return 0
