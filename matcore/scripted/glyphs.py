"""Text as a terminal may safely show it: control characters made visible, widths counted in cells, lines wrapped."""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    """No character of the result moves the cursor or changes a style. Line breaks stay, tabs become spaces."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text.replace("\r\n", "\n").expandtabs(4))


def _shown(char: str) -> str:
    code = ord(char)
    if char == "\n" or char.isprintable():
        return char
    if code < 0x20 or code == 0x7F:
        return "^" + chr(code ^ 0x40)
    if unicodedata.category(char) == "Zs":
        return " "
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def cells(text: str) -> int:
    """How many columns a text without control characters takes."""
    return len(text) if text.isascii() else sum(_width(char) for char in text)


def _width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def cut(text: str, width: int) -> str:
    """As much of the beginning as fits."""
    if text.isascii():
        return text[: max(width, 0)]
    used = 0
    for n, char in enumerate(text):
        used += _width(char)
        if used > width:
            return text[:n]
    return text


def wrap(text: str, width: int) -> list[str]:
    """The lines of a text, broken at blanks where there are any. At least one line, each at most `width` cells."""
    lines: list[str] = []
    for line in text.split("\n"):
        rest = line
        while cells(rest) > width:
            head = cut(rest, width) or rest[0]
            at = head.rfind(" ")
            if at > 0 and len(rest) > len(head) and rest[len(head)] != " ":
                head = head[:at]
            lines.append(head)
            rest = rest[len(head) :].removeprefix(" ")
        lines.append(rest)
    return lines


def wrap_hard(text: str, width: int, cursor: int) -> tuple[list[str], int, int]:
    """The lines of a text broken by width alone, with the row and column of the character number `cursor`."""
    lines: list[str] = [""]
    used = row = column = 0
    for n, char in enumerate(text):
        wide = 0 if char == "\n" else _width(char)
        if used + wide > width:
            lines.append("")
            used = 0
        if n == cursor:
            row, column = len(lines) - 1, used
        if char == "\n":
            lines.append("")
            used = 0
        else:
            lines[-1] += char
            used += wide
    if cursor >= len(text):
        if used >= width:
            lines.append("")
            used = 0
        row, column = len(lines) - 1, used
    return lines, row, column
