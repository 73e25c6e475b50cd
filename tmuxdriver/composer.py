"""Where a program takes text in, and what stands there: nothing, a suggestion of its own, or what somebody typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tmuxdriver.cells import PLAIN, Rows, Style
from tmuxdriver.profile import Composer, pattern

ComposerState: TypeAlias = Literal["empty", "draft", "ghost", "absent"]
INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"), None)
"""Characters of no width, which some programs leave behind the cursor."""


@dataclass(frozen=True, slots=True)
class Field:
    """Where the composer was found: its rows, the row after which the footer begins, and what stands in it."""

    first: int
    last: int
    above: int
    below: int
    framed: bool
    text: str
    styles: tuple[Style, ...]


def find_composer(composer: Composer, rows: Rows) -> Field | None:
    """The composer that is in use: the lowest one, with nothing but a footer below it."""
    if composer.bottom is None:
        return _open_composer(composer, rows)
    bottom = pattern(composer.bottom)
    for number in range(len(rows) - 1, 0, -1):
        if len(rows.filled(number + 1)) > composer.foot_rows:
            return None
        if bottom.search(rows.text[number]):
            first = _first_framed(composer, rows, number)
            if first is not None:
                return _field(composer, rows, (first, number - 1), (first - bool(composer.top), number + 1))
    return None


def own_column(composer: Composer, rows: Rows) -> Rows:
    """The rows without another column to the right of the composer."""
    found = find_composer(composer, rows) if composer.edge and composer.bottom else None
    if found is None:
        return rows
    edge = pattern(composer.bottom or "").search(rows.text[found.last + 1])
    return rows.narrowed(edge.end()) if edge else rows


def _first_framed(composer: Composer, rows: Rows, end: int) -> int | None:
    """The first row inside the frame that `end` closes."""
    lowest = max(0, end - composer.rows)
    mark = pattern(composer.mark or "")
    if composer.top is None:
        first = end
        while first > lowest and mark.search(rows.text[first - 1]):
            first -= 1
        return first if first < end else None
    top = pattern(composer.top)
    begins = [mark, pattern(composer.indent)] if composer.scrolls and composer.indent else [mark]
    for number in range(end - 2, lowest - 2, -1):
        if number >= 0 and top.search(rows.text[number]) and any(each.match(rows.text[number + 1]) for each in begins):
            return number + 1
    return None


def _open_composer(composer: Composer, rows: Rows) -> Field | None:
    """A composer without a frame: from the lowest row with its mark down to the blank row above the footer."""
    mark = pattern(composer.mark or "")
    filled = rows.filled()
    lowest = filled[-composer.rows - composer.foot_rows :]
    first = next((n for n in reversed(lowest) if mark.search(rows.text[n])), None)
    if first is None:
        return None
    foot = _footer_start(rows, first)
    if len(rows.filled(foot)) > composer.foot_rows:
        return None
    return _field(composer, rows, (first, foot - 1), (first, foot))


def _footer_start(rows: Rows, first: int) -> int:
    """Where the lowest block of rows begins that a blank row parts from the composer."""
    filled = rows.filled(first + 1)
    start = len(rows)
    for number in reversed(filled):
        if number < start - 1 and start != len(rows):
            break
        start = number
    return start if start > first + 1 and filled and not rows.text[start - 1].strip() else len(rows)


def _field(composer: Composer, rows: Rows, inner: tuple[int, int], outer: tuple[int, int]) -> Field:
    first, last = inner
    lines: list[str] = []
    styles: list[Style] = []
    for number in _text_rows(composer, rows, first, last):
        row = pattern(composer.right).sub("", rows.text[number]) if composer.right else rows.text[number]
        cut = _cut(composer, row, number == first)
        row_styles = rows.styles(number) if rows.styled else []
        lines.append(row[cut:].translate(INVISIBLE))
        styles += [
            row_styles[at] if at < len(row_styles) else PLAIN
            for at in range(cut, len(row))
            if row[at].translate(INVISIBLE).strip()
        ]
    return Field(first, last, outer[0], outer[1], composer.bottom is not None, "\n".join(lines).strip(), tuple(styles))


def _text_rows(composer: Composer, rows: Rows, first: int, last: int) -> list[int]:
    numbers = list(range(first, last + 1))
    if composer.chrome is None:
        return numbers
    chrome = pattern(composer.chrome)
    dropped = next((n for n in reversed(numbers) if chrome.search(rows.text[n])), None)
    return [n for n in numbers if n != dropped]


def _cut(composer: Composer, row: str, is_first: bool) -> int:
    text = composer.mark if is_first or (composer.top is None and composer.bottom) else composer.indent
    found = pattern(text).match(row) if text else None
    return found.end() if found else 0


def composer_state(composer: Composer, found: Field | None, styled: bool) -> ComposerState:
    """What stands in it. Without styles a suggestion is known by its words alone."""
    if found is None:
        return "absent"
    if not found.text:
        return "empty"
    if not styled or not composer.ghost:
        is_known = any(pattern(text).fullmatch(found.text) for text in composer.placeholders)
        return "ghost" if is_known else "draft"
    # The cursor is drawn in reverse over whatever it stands on: it says nothing of the text's own style.
    visible = [style for style in found.styles if not style.reverse]
    return "ghost" if visible and all(is_drawn(style, composer.ghost) for style in visible) else "draft"


def is_drawn(style: Style, names: tuple[str, ...]) -> bool:
    """Whether a character is drawn in one of these styles, as profiles name them."""
    return any(
        style.dim if name == "dim" else style.italic if name == "italic" else name == f"fg:{style.fg}" for name in names
    )
