"""A captured screen as rows of text and, where they were captured, the style of each character.

`capture-pane -e` writes SGR sequences that go on from one row to the next, so a row's styles depend on all that stands
above it. Text is cheap and wanted always, styles are dear and wanted for a few rows: they are worked out when asked
for.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_OTHER = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;:?]*[A-Za-ln-z]|\x1b[()][0-9A-B]")
_LINE_DRAWING = re.compile(r"\x0e([^\x0f\n]*)\x0f?")
_DRAWN = str.maketrans("qxlkmjntuvwa", "─│┌┐└┘┼├┤┴┬▒")


@dataclass(frozen=True, slots=True)
class Style:
    """How one character is drawn. Colours as SGR parameters (`31`, `38;5;246`), empty for the terminal's own."""

    bold: bool = False
    dim: bool = False
    italic: bool = False
    reverse: bool = False
    fg: str = ""
    bg: str = ""


PLAIN = Style()


@dataclass(frozen=True, slots=True)
class Capture:
    """One look at a pane: what it shows and what tmux said of it at that moment (`pane_title`, `pane_dead`, …)."""

    text: str
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def styled(self) -> bool:
        """Whether styles were captured. Without any, a suggestion can't be told from a draft by its looks."""
        return "\x1b[" in self.text


class Rows:
    """A capture's rows, top to bottom, without the blanks at their ends."""

    def __init__(self, capture: Capture) -> None:
        cleaned = _OTHER.sub("", capture.text)
        if "\x0e" in cleaned:
            cleaned = _LINE_DRAWING.sub(lambda m: m[1].translate(_DRAWN), cleaned)
        self._raw = cleaned.replace("\r\n", "\n").split("\n")
        self.styled = capture.styled
        self.text = [_SGR.sub("", row).rstrip() for row in self._raw]
        self._starts: list[Style] | None = None

    def narrowed(self, width: int) -> Rows:
        """The same without what stands to the right of the first `width` columns."""
        rows = copy.copy(self)
        rows.text = [row[:width].rstrip() for row in self.text]
        return rows

    def __len__(self) -> int:
        return len(self.text)

    def styles(self, number: int) -> list[Style]:
        """One style for each character of the row `number`, blanks at its end included."""
        if self._starts is None:
            self._starts = _styles_at_row_starts(self._raw)
        style, styles, position = self._starts[number], [], 0
        row = self._raw[number]
        for found in _SGR.finditer(row):
            styles += [style] * (found.start() - position)
            style, position = _after(style, found[1]), found.end()
        return styles + [style] * (len(row) - position)

    def filled(self, start: int = 0, stop: int | None = None) -> list[int]:
        """Numbers of the rows in the range that are not blank."""
        return [n for n in range(start, len(self.text) if stop is None else stop) if self.text[n].strip()]


def _styles_at_row_starts(rows: list[str]) -> list[Style]:
    starts, style = [], PLAIN
    for row in rows:
        starts.append(style)
        for found in _SGR.finditer(row):
            style = _after(style, found[1])
    return starts


_FLAGS = {1: ("bold", True), 2: ("dim", True), 3: ("italic", True), 7: ("reverse", True)}
_FLAGS |= {23: ("italic", False), 27: ("reverse", False)}


@lru_cache(maxsize=4096)
def _after(style: Style, parameters: str) -> Style:
    """The style that holds after one SGR sequence."""
    codes = parameters.replace(":", ";").split(";")
    at = 0
    while at < len(codes):
        code = int(codes[at] or 0)
        width = _colour_width(codes, at) if code in (38, 48, 58) else 1
        style = _applied(style, code, ";".join(codes[at : at + width]))
        at += width
    return style


def _colour_width(codes: list[str], at: int) -> int:
    kind = codes[at + 1] if at + 1 < len(codes) else ""
    return {"5": 3, "2": 5}.get(kind, 2)


def _applied(style: Style, code: int, colour: str) -> Style:
    if code == 0:
        return PLAIN
    if code in _FLAGS:
        name, value = _FLAGS[code]
        return replace(style, **{name: value})  # type: ignore[arg-type]  # only flags are named
    if code == 22:  # ECMA-48: neither bold nor faint
        return replace(style, bold=False, dim=False)
    if code == 38 or 30 <= code <= 37 or 90 <= code <= 97:  # ECMA-48 foregrounds
        return replace(style, fg=colour)
    if code == 48 or 40 <= code <= 47 or 100 <= code <= 107:  # ECMA-48 backgrounds
        return replace(style, bg=colour)
    return replace(style, **{39: {"fg": ""}, 49: {"bg": ""}}.get(code, {}))  # type: ignore[arg-type]
