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
from tmuxdriver.compare import squeeze
from tmuxdriver.composer import ComposerState, Field, composer_state, find_composer, is_drawn, own_column
from tmuxdriver.profile import Dialog, Mark, Note, Profile, pattern

State: TypeAlias = Literal["starting", "idle", "busy", "dialog", "gone", "unknown"]


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
    """The row that a note of a failed turn was read from."""
    ended: str | None = None
    """All that stands above the composer, where the last of it is the mark of a turn's end: one of `done`, or a note
    that `ends`."""
    turns: tuple[str, ...] = ()
    """What stands above an idle composer: what comes before the first prompt, then each prompt with what follows it,
    the prompt's row first. All without white space."""


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
    is_held: bool | None
    """Whether the cursor is in the composer, None where it is not known."""


_Answer: TypeAlias = tuple[State, str | None, str]
"""State, kind of dialog, evidence."""

FAILED = ("rate-limited", "context-full", "login", "error")
"""Notes that make a failure of the turn which they stand under."""
_LAB_NAMES = {
    "title": "pane_title", "dead": "pane_dead", "cmd": "pane_current_command", "mode": "pane_in_mode", "cur": "cursor",
}  # fmt: skip
_DIED = re.compile(r"^Pane is dead \(")


def read(profile: Profile, capture: Capture) -> Screen:
    """What the screen says: its state, the dialog that stands, what the composer holds, notes on the last turn."""
    rows = own_column(profile.composer, Rows(capture))
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
        composer_state(profile.composer, found, rows.styled),
        _title_state(profile, title),
        _is_held(found, variables),
    )
    state, dialog, evidence = next(answer for judge in _QUESTIONS if (answer := judge(look)) is not None)
    notes, detail = _notes(look)
    shown: ComposerState = "absent" if state in ("dialog", "gone") else look.composer
    typed = found.text if found and shown == "draft" else ""
    turns = _turns(look) if state == "idle" else ()
    return Screen(state, dialog, shown, notes, evidence, typed, detail, _ended(look), turns)


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


def _lacks_the_cursor(look: _Look) -> _Answer | None:
    """Something else takes the keys, whatever it is."""
    if look.profile.composer.cursor and not look.is_held:
        return "unknown", None, "cursor: not in the composer"
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
    _lacks_the_cursor,
    _is_idle,
)


# -- title, cursor, marks, dialogs, notes ------------------------------------------------------------------------


def _is_held(found: Field | None, variables: Mapping[str, str]) -> bool | None:
    row = variables.get("cursor_y") or variables.get("cursor", "").partition(",")[2]
    return found.first <= int(row) <= found.last if found is not None and row.isdecimal() else None


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
        if found and _looks_right(look.rows, number, found, mark):
            return number
    return None


def _looks_right(rows: Rows, number: int, found: re.Match[str], mark: Mark | Note) -> bool:
    if mark.style:
        return rows.styled and is_drawn(_first_style(rows, number, found), mark.style)
    return not mark.styled or _stands_out(rows, number, found)


def _stands_out(rows: Rows, number: int, found: re.Match[str]) -> bool:
    style = _first_style(rows, number, found)
    return not rows.styled or bool(style.fg) or style.dim


def _first_style(rows: Rows, number: int, found: re.Match[str]) -> Style:
    start = found.start() + len(found[0]) - len(found[0].lstrip())
    styles = rows.styles(number)
    return styles[start] if start < len(styles) else PLAIN


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


def _turns(look: _Look) -> tuple[str, ...]:
    """A row that looks like a prompt but is a command for the program or the shell begins none."""
    if look.field is None or look.profile.turn_start is None:
        return ()
    start = pattern(look.profile.turn_start)
    turns: list[list[str]] = [[]]
    for row in look.rows.text[: look.field.above]:
        found = start.search(row)
        if found and row[found.end() :].lstrip()[:1] not in ("", "/", "!"):
            turns.append([squeeze(row) + "\n"])
        else:
            turns[-1].append(squeeze(row))
    return tuple("".join(turn) for turn in turns)


def _dialog_kind(look: _Look) -> str | None:
    """The kind of the dialog that stands in the composer's place."""
    framed = look.field is not None and look.field.framed
    for dialog in look.profile.dialogs:
        is_over = dialog.over and not look.is_held
        if (is_over or dialog.framed or not framed) and _stands(look.rows, dialog):
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
    found = [(note, number) for note in look.profile.notes if (number := _find(look, note)) is not None]
    detail = next((_said(look.rows.text[n], note) for note, n in found if note.note in FAILED), None)
    return tuple(dict.fromkeys(note.note for note, _ in found)), detail


def _said(row: str, note: Note) -> str:
    found = pattern(note.match).search(row)
    return str((found.groupdict().get("said") if found else None) or row).strip()


def _ended(look: _Look) -> str | None:
    """The newest row wins: a mark that something else stands below ended nothing that goes on now."""
    if look.field is None:
        return None
    above = look.rows.text[: look.field.above]
    last = next((number for number in range(len(above) - 1, -1, -1) if above[number].strip()), 0)
    ends: tuple[Mark | Note, ...] = (*look.profile.done, *(note for note in look.profile.notes if note.ends))
    marks = [number for mark in ends if (number := _find(look, mark)) is not None]
    is_last = any(all(row.strip() for row in above[number : last + 1]) for number in marks)
    return "\n".join(above).strip() if is_last else None
