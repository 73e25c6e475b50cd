"""What is to be seen at a moment, and as which rows. Pure: a view and a size make a frame.

The rows below the transcript are the live region: what waits, the status row, composer or dialog, the footer. It is
never higher than the screen; on a small one the ornaments go first, the composer last.
"""

from __future__ import annotations

from dataclasses import dataclass

from matcore.scripted.glyphs import cells, cut, visible, wrap, wrap_hard
from matcore.scripted.stage import Choice

DIM, BOLD, RED = "\x1b[2m", "\x1b[1m", "\x1b[31m"
RESET = "\x1b[0m"
MARK = "> "
SPINNER = "*+x+"
TITLE_SPINNER = "⠂⠐"
COMPOSER_ROWS = 8
SHOWN_OUTPUT, SHOWN_MESSAGE = 12, 200


@dataclass(frozen=True, slots=True)
class Block:
    """One entry of the transcript. `kind`: you, answer, tool, note, error, header."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class View:
    """`busy_s` is None when idle; `tick` moves the spinners."""

    draft: str = ""
    cursor: int = 0
    placeholder: str = ""
    composer: str = "ruled"
    footer: str = ""
    busy_style: str = "status"
    busy_s: float | None = None
    doing: str = "Working"
    tick: int = 0
    queued: tuple[str, ...] = ()
    choice: Choice | None = None
    marked: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """Rows with styles, at most as many as the screen has. Without a cursor it is hidden."""

    rows: tuple[str, ...]
    cursor: tuple[int, int] | None


_PREFIX = {"you": MARK, "answer": "• ", "tool": "• ", "note": "  ", "error": "■ ", "header": ""}
_STYLE = {"note": DIM, "error": RED, "header": DIM}


def block_rows(block: Block, width: int) -> list[str]:
    """The rows of a transcript entry, a blank one first."""
    prefix = _PREFIX[block.kind]
    style = _STYLE.get(block.kind, "")
    text = _shortened(block)
    lines = wrap(text, max(width - len(prefix), 1))
    blank = " " * len(prefix)
    rows = [cut((prefix if n == 0 else blank) + line, width) for n, line in enumerate(lines)]
    return ["", *(_styled(style, row) for row in rows)]


def _shortened(block: Block) -> str:
    lines = visible(block.text).rstrip("\n").split("\n")
    most = SHOWN_OUTPUT if block.kind == "tool" else SHOWN_MESSAGE if block.kind == "you" else len(lines)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"… +{len(lines) - most + 1} lines"]
    return "\n".join(lines)


def tool_text(command: str, output: str, code: int) -> str:
    """A finished command as the transcript shows it."""
    lines = output.rstrip("\n").split("\n") if output.strip() else ["(no output)"]
    status = "" if code == 0 else f"  (exit code {code})"
    return "\n".join([f"Ran {command}{status}", *(("└ " if n == 0 else "  ") + line for n, line in enumerate(lines))])


def title(name: str, view: View) -> str:
    """The window title."""
    if view.choice is not None:
        return f"[!] {name}"
    if view.busy_s is not None and view.busy_style != "none":
        return f"{TITLE_SPINNER[view.tick // 8 % len(TITLE_SPINNER)]} {name}"
    return name


def frame(view: View, width: int, height: int) -> Frame:
    """The live region for a screen of that size."""
    if view.choice is not None:
        rows = _dialog_rows(view.choice, view.marked, width)
        return Frame(tuple(rows[max(len(rows) - height, 0) :]), None)
    above = _above(view, width)
    ornate = height >= 6
    most = max(height - (3 if ornate else 1), 1)
    box, row, column = _composer(view, width, min(COMPOSER_ROWS, most), ornate=ornate)
    below = [_styled(DIM, cut("  " + _footer(view), width))] if height >= 2 else []
    room = max(height - len(box) - len(below), 0)
    above = above[max(len(above) - room, 0) :]
    return Frame((*above, *box, *below), (len(above) + row, column))


def _above(view: View, width: int) -> list[str]:
    rows = [""]
    if view.busy_s is not None and view.busy_style == "status":
        spinner = SPINNER[view.tick % len(SPINNER)]
        rows += [cut(f"{spinner} {view.doing} ({int(view.busy_s)}s - esc to interrupt)", width), ""]
    for text in view.queued:
        rows.append(_styled(DIM, cut(f"  Queued: {visible(text).splitlines()[0] if text.strip() else ''}", width)))
    return rows


def _footer(view: View) -> str:
    if view.busy_s is not None and view.busy_style == "footer":
        return "esc to interrupt"
    return view.footer


def _composer(view: View, width: int, most: int, *, ornate: bool) -> tuple[list[str], int, int]:
    """The rows of the composer with the cursor's place in them."""
    bordered = ornate and view.composer == "bordered" and width >= 12
    left, right = ("│ ", " │") if bordered else ("", "")
    inner = max(width - len(left) - len(right) - len(MARK), 1)
    if view.draft:
        lines, row, column = wrap_hard(view.draft, inner, view.cursor)
        first = max(min(row - most + 1, len(lines) - most), 0)
        texts = [(MARK if n == 0 else "  ", line, "") for n, line in enumerate(lines)][first : first + most]
        row -= first
    else:
        texts, row, column = [(MARK, cut(view.placeholder, inner), DIM)], 0, 0
    rows = [_boxed(left, right, mark, line, style, inner) for mark, line, style in texts]
    if not ornate or view.composer == "plain":
        return rows, row, min(column + len(MARK), width - 1)
    edges = ("╭" + "─" * (width - 2) + "╮", "╰" + "─" * (width - 2) + "╯") if bordered else ("─" * width,) * 2
    rows = [_styled(DIM, edges[0]), *rows, _styled(DIM, edges[1])]
    return rows, row + 1, min(column + len(left) + len(MARK), width - 1)


def _boxed(left: str, right: str, mark: str, line: str, style: str, inner: int) -> str:
    pad = " " * (inner - cells(line)) if right else ""
    return f"{left}{mark}{_styled(style, line)}{pad}{right}"


def _dialog_rows(choice: Choice, marked: int, width: int) -> list[str]:
    rows = ["", _styled(DIM, "─" * width)]
    rows += [_styled(BOLD, line) for line in wrap(f" {visible(choice.heading)}", width)]
    rows.append("")
    if choice.detail:
        rows += [f"   {line}" for line in wrap(visible(choice.detail), max(width - 3, 1))]
        rows.append("")
    for n, option in enumerate(choice.options):
        mark = " > " if n == marked else "   "
        rows.append(cut(f"{mark}{n + 1}. {visible(option)}", width))
    rows += ["", _styled(DIM, cut(" Enter to confirm, Esc to cancel", width))]
    return rows


def _styled(style: str, text: str) -> str:
    return f"{style}{text}{RESET}" if style and text else text
