"""What a profile makes of one captured screen. Pure: the same capture always gives the same answer.

The order of the questions is the point. What the program can't fake comes first (the pane is dead, the title), then
what takes the composer's place (a dialog), then marks of work, and only what is left over may be called idle: an
empty composer that is ready to take text. Marks are anchored to regions of the screen, for a reply may quote any of
them. What is neither is `unknown`, and unknown is never idle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tmuxdriver.cells import PLAIN, Capture, Rows, Style
from tmuxdriver.profile import Composer, Dialog, Mark, Note, Profile, pattern

State: TypeAlias = Literal["starting", "idle", "busy", "dialog", "gone", "unknown"]
ComposerState: TypeAlias = Literal["empty", "draft", "ghost", "absent"]


@dataclass(frozen=True, slots=True)
class Screen:
    """The one right answer for a capture. `evidence` says what it rests on, `typed` what the composer holds."""

    state: State
    dialog: str | None
    composer: ComposerState
    notes: tuple[str, ...]
    evidence: str
    typed: str = ""
    detail: str | None = None
    """The row that a note `error` or `rate-limited` was read from."""


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


@dataclass(frozen=True, slots=True)
class _Look:
    """All that the questions below are asked of."""

    profile: Profile
    rows: Rows
    title: str | None
    dead: bool
    field: Field | None
    composer: ComposerState
    title_state: str | None


_Answer: TypeAlias = tuple[State, str | None, str]
"""State, kind of dialog, evidence."""

_LAB_NAMES = {"title": "pane_title", "dead": "pane_dead", "cmd": "pane_current_command", "mode": "pane_in_mode"}
_DIED = re.compile(r"^Pane is dead \(")
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"), None)


def read(profile: Profile, capture: Capture) -> Screen:
    """What the screen says: its state, the dialog that stands, what the composer holds, notes on the last turn."""
    rows = Rows(capture)
    variables = {_LAB_NAMES.get(name, name): value for name, value in capture.variables.items()}
    found = find_composer(profile.composer, rows)
    title = variables.get("pane_title")
    if title == variables.get("host"):
        title = None  # what tmux puts there until a program says something
    look = _Look(
        profile,
        rows,
        title,
        variables.get("pane_dead") == "1",
        found,
        _composer_state(profile.composer, found, rows.styled),
        _title_state(profile, title),
    )
    state, dialog, evidence = next(answer for judge in _QUESTIONS if (answer := judge(look)) is not None)
    notes, detail = _notes(look)
    shown: ComposerState = "absent" if state in ("dialog", "gone") else look.composer
    typed = found.text if found and shown == "draft" else ""
    return Screen(state, dialog, shown, notes, evidence, typed, detail)


def screen_json(profile: Profile, text: str, variables: Mapping[str, str]) -> dict[str, object]:
    """What `mat screen` prints for one file: the answer as JSON data."""
    screen = read(profile, Capture(text, variables))
    return {
        "state": screen.state,
        "dialog": screen.dialog,
        "composer": screen.composer,
        "notes": list(screen.notes),
        "evidence": screen.evidence,
    }


# -- the questions, in the order in which they are asked ---------------------------------------------------------


def _is_dead(look: _Look) -> _Answer | None:
    filled = look.rows.filled()
    if look.dead or (filled and _DIED.search(look.rows.text[filled[-1]])):
        return "gone", None, "pane is dead"
    return None


def _has_exited(look: _Look) -> _Answer | None:
    return _marked(look, look.profile.exited, "gone") if look.field is None else None


def _asks(look: _Look) -> _Answer | None:
    if look.title_state == "dialog":
        return "dialog", _dialog_kind(look) or "permission", "title"
    kind = _dialog_kind(look)
    return ("dialog", kind, "screen: dialog") if kind else None


def _title_says_busy(look: _Look) -> _Answer | None:
    return ("busy", None, "title") if look.title_state == "busy" else None


def _shows_work(look: _Look) -> _Answer | None:
    """A mark of work. A title that says idle outweighs marks in rows that a reply could have written."""
    marks = look.profile.busy
    if look.title_state == "idle":
        marks = tuple(mark for mark in marks if mark.where == "footer")
    return _marked(look, marks, "busy")


def _has_no_composer(look: _Look) -> _Answer | None:
    if look.field is not None:
        return None
    if not look.rows.filled():
        return "starting", None, "screen: blank"
    return _marked(look, look.profile.starting, "starting") or ("unknown", None, "screen: no composer")


def _is_not_ready(look: _Look) -> _Answer | None:
    """A composer may be painted before the program reads it, or before a dialog takes its place."""
    starting = _marked(look, look.profile.starting, "starting")
    if starting or not look.profile.ready or look.composer == "draft":
        return starting
    ready = any(_find(look, mark) is not None for mark in look.profile.ready)
    return None if ready else ("starting", None, "screen: not ready")


def _lacks_its_title(look: _Look) -> _Answer | None:
    if look.profile.title.required and look.title_state != "idle":
        return "unknown", None, "title: says nothing"
    return None


def _is_idle(look: _Look) -> _Answer:
    seen = "screen: composer"
    return "idle", None, f"title, {seen}" if look.title_state == "idle" else seen


_QUESTIONS: tuple[Callable[[_Look], _Answer | None], ...] = (
    _is_dead,
    _has_exited,
    _asks,
    _title_says_busy,
    _shows_work,
    _has_no_composer,
    _is_not_ready,
    _lacks_its_title,
    _is_idle,
)


# -- title, marks, dialogs, notes --------------------------------------------------------------------------------


def _title_state(profile: Profile, title: str | None) -> str | None:
    if not title:
        return None
    words = (("dialog", profile.title.dialog), ("busy", profile.title.busy), ("idle", profile.title.idle))
    return next((word for word, text in words if text and pattern(text).search(title)), None)


def _marked(look: _Look, marks: tuple[Mark, ...], state: State) -> _Answer | None:
    for mark in marks:
        number = _find(look, mark)
        if number is not None:
            return state, None, f"screen: {mark.where} /{mark.match}/"
    return None


def _find(look: _Look, mark: Mark | Note) -> int | None:
    """The lowest row of the mark's region that bears it."""
    wanted = pattern(mark.match)
    for number in reversed(_region(look, mark)):
        found = wanted.search(look.rows.text[number])
        if found and (not mark.styled or _stands_out(look.rows, number, found)):
            return number
    return None


def _stands_out(rows: Rows, number: int, found: re.Match[str]) -> bool:
    if not rows.styled:
        return True
    start = found.start() + len(found[0]) - len(found[0].lstrip())
    styles = rows.styles(number)
    style = styles[start] if start < len(styles) else PLAIN
    return bool(style.fg) or style.dim


def _region(look: _Look, mark: Mark | Note) -> list[int]:
    rows, composer = look.rows, look.field
    end = composer.above if composer else len(rows)
    if mark.where == "footer":
        return rows.filled(composer.below) if composer else rows.filled()[-3:]
    if mark.where == "turn":
        return rows.filled(_turn_start(look, end), end)[-mark.rows :]
    if mark.where == "live":
        return rows.filled(0, end)[-mark.rows :]
    return rows.filled() if mark.where == "screen" else rows.filled()[-mark.rows :]


def _turn_start(look: _Look, end: int) -> int:
    if look.profile.turn_start is None:
        return 0
    start = pattern(look.profile.turn_start)
    return next((number for number in range(end - 1, -1, -1) if start.search(look.rows.text[number])), 0)


def _dialog_kind(look: _Look) -> str | None:
    """The kind of the dialog that stands in the composer's place."""
    framed = look.field is not None and look.field.framed
    for dialog in look.profile.dialogs:
        if (dialog.framed or not framed) and _stands(look.rows, dialog):
            return dialog.kind
    if framed:
        return None
    menu = pattern(look.profile.menu)
    lowest = look.rows.filled(look.field.first if look.field else 0)[-12:]
    number = next((n for n in reversed(lowest) if menu.search(look.rows.text[n])), None)
    return "other" if number is not None and _goes_on(look.rows, number) else None


def _goes_on(rows: Rows, number: int) -> bool:
    """Whether a chosen entry has another numbered one beside it: one row alone may be a prompt that says `1. …`."""
    near = rows.text[max(0, number - 3) : number] + rows.text[number + 1 : number + 4]
    return any(re.match(r"^\W*\d+[.)] ", row) for row in near)


def _stands(rows: Rows, dialog: Dialog) -> bool:
    filled = rows.filled()
    foot = next((n for n in reversed(filled[-dialog.rows :]) if pattern(dialog.foot).search(rows.text[n])), None)
    if foot is None or dialog.body is None:
        return foot is not None
    body = pattern(dialog.body)
    return any(body.search(rows.text[n]) for n in filled if foot - 30 <= n <= foot)


def _notes(look: _Look) -> tuple[tuple[str, ...], str | None]:
    found = [(note.note, number) for note in look.profile.notes if (number := _find(look, note)) is not None]
    detail = next((look.rows.text[n].strip() for name, n in found if name in ("rate-limited", "error")), None)
    return tuple(dict.fromkeys(name for name, _ in found)), detail


# -- the composer ------------------------------------------------------------------------------------------------


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
        lines.append(row[cut:].translate(_INVISIBLE))
        styles += [
            row_styles[at] if at < len(row_styles) else PLAIN
            for at in range(cut, len(row))
            if row[at].translate(_INVISIBLE).strip()
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


def _composer_state(composer: Composer, found: Field | None, styled: bool) -> ComposerState:
    if found is None:
        return "absent"
    if not found.text:
        return "empty"
    if not styled:
        is_known = any(pattern(text).fullmatch(found.text) for text in composer.placeholders)
        return "ghost" if is_known else "draft"
    # The cursor is drawn in reverse over whatever it stands on: it says nothing of the text's own style.
    visible = [style for style in found.styles if not style.reverse]
    return "ghost" if visible and all(_is_ghost(composer, style) for style in visible) else "draft"


def _is_ghost(composer: Composer, style: Style) -> bool:
    return any(
        style.dim if name == "dim" else style.italic if name == "italic" else name == f"fg:{style.fg}"
        for name in composer.ghost
    )


# -- comparing ---------------------------------------------------------------------------------------------------

_SPINNER = re.compile("[\u2800-\u28ff✢✳✶✻✽✺·•◦●○◐◓◑◒◴◷◶◵■⬝▪▫█▓▒░]")
_COUNTER = re.compile(r"\d+(?:[.:,]\d+)*")


def normalise(text: str) -> str:
    """A screen without what moves on its own: styles, spinners, clocks, counters, blanks at the ends of rows."""
    rows = Rows(Capture(text)).text
    return "\n".join(_COUNTER.sub("0", _SPINNER.sub("", row)).rstrip() for row in rows).rstrip()


def squeeze(text: str) -> str:
    """A text without its white space, to find it again however a composer wraps it."""
    return re.sub(r"\s+", "", text.translate(_INVISIBLE))


def holds(typed: str, text: str, pasted: str | None) -> bool:
    """Whether a composer that was empty before provably holds `text`, whole and alone, now.

    As it was typed, or as one collapsed paste, or (in a composer that scrolls) as a long piece of it.
    """
    shown, wanted = squeeze(typed), squeeze(text)
    if shown == wanted:
        return bool(wanted)
    if pasted is not None and pattern(pasted).fullmatch(typed.strip()):
        return True
    return len(shown) >= max(200, len(wanted) // 2) and shown in wanted
