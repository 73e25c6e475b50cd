"""The draft in the composer. A long paste is one cell, shown by its label and submitted whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from matcore.scripted.glyphs import visible
from matcore.scripted.script import Collapse


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A long paste: its text, and the label that stands for it."""

    text: str
    label: str


@dataclass(slots=True)
class Editor:
    """Cells are characters or collapsed pastes; `cursor` counts cells."""

    collapse: Collapse | None = None
    cells: list[str | Collapsed] = field(default_factory=list)
    cursor: int = 0
    pastes: int = 0

    @property
    def text(self) -> str:
        """What would be submitted."""
        return "".join(cell if isinstance(cell, str) else cell.text for cell in self.cells)

    @property
    def shown(self) -> tuple[str, int]:
        """What is seen, with the cursor's place in it."""
        before = "".join(_label(cell) for cell in self.cells[: self.cursor])
        return before + "".join(_label(cell) for cell in self.cells[self.cursor :]), len(before)

    def insert(self, text: str) -> None:
        self.cells[self.cursor : self.cursor] = list(text)
        self.cursor += len(text)

    def paste(self, text: str) -> None:
        breaks = text.count("\n")
        if self.collapse is None or (len(text) <= self.collapse.chars and breaks <= self.collapse.lines):
            self.insert(text)
            return
        self.pastes += 1
        self.cells.insert(self.cursor, Collapsed(text, f"[Pasted text #{self.pastes} +{breaks} lines]"))
        self.cursor += 1

    def clear(self) -> None:
        self.cells.clear()
        self.cursor = 0

    def key(self, name: str) -> bool:
        """Whether the key is one that edits."""
        edit = _EDITS.get(name)
        if edit is not None:
            edit(self)
        return edit is not None

    def cut(self, start: int, end: int) -> None:
        del self.cells[start:end]
        self.cursor = start

    def backspace(self) -> None:
        if self.cursor:
            self.cut(self.cursor - 1, self.cursor)

    def cut_word(self) -> None:
        start = self.cursor
        while start and self.cells[start - 1] in (" ", "\n"):
            start -= 1
        while start and self.cells[start - 1] not in (" ", "\n"):
            start -= 1
        self.cut(start, self.cursor)

    def move(self, to: int) -> None:
        self.cursor = min(max(to, 0), len(self.cells))


def _label(cell: str | Collapsed) -> str:
    return visible(cell) if isinstance(cell, str) else cell.label


_EDITS: Mapping[str, Callable[[Editor], None]] = {
    "newline": lambda editor: editor.insert("\n"),
    "backspace": Editor.backspace,
    "delete": lambda editor: editor.cut(editor.cursor, editor.cursor + 1),
    "ctrl-u": lambda editor: editor.cut(0, editor.cursor),
    "ctrl-k": lambda editor: editor.cut(editor.cursor, len(editor.cells)),
    "ctrl-w": Editor.cut_word,
    "left": lambda editor: editor.move(editor.cursor - 1),
    "right": lambda editor: editor.move(editor.cursor + 1),
    "home": lambda editor: editor.move(0),
    "end": lambda editor: editor.move(len(editor.cells)),
}
