"""How foreign text is written for people, so that it is harmless, and times beside it."""

from __future__ import annotations

import json
import unicodedata

from matcore.words.figures import clock as clock  # every time is written alike, here and in what is sent
from matcore.words.figures import duration as duration


def moment(wall_s: float, now_s: float) -> str:
    """As `clock`, without the date where that is today's: `02:11:09+0100`."""
    told = clock(wall_s)
    date, _, rest = told.partition(" ")
    return rest if clock(now_s).startswith(f"{date} ") else told


def lasted(since_s: float, now_s: float) -> str:
    """How long it is since then; `0s` where clocks disagree."""
    return duration(max(0.0, now_s - since_s))


def due(at_s: float, now_s: float) -> str:
    """`in 7s, at 02:11:09+0100`, or `now`."""
    return f"in {duration(at_s - now_s)}, at {moment(at_s, now_s)}" if at_s > now_s else "now"


def plain(text: object) -> str:
    """Foreign text on one line, its control characters made visible: nothing in it can move a cursor."""
    said = str(text)
    return said if said.isprintable() else "".join(c if c.isprintable() else _visible(c) for c in said)


def short(text: object, most: int) -> str:
    """As `plain`, of at most `most` characters."""
    said = plain(text)
    return said if len(said) <= most else said[: most - 1] + "…"


def folded(text: str, width: int) -> list[str]:
    """A line between its words, in lines of at most `width` cells, each further one indented by two more. A word that
    is longer (a path, a command's argument) stays whole, so that it can be copied."""
    indent = " " * (len(text) - len(text.lstrip(" ")))
    lines, line = list[str](), indent
    for word in text.split():
        longer = f"{line} {word}" if line.strip() else f"{line}{word}"
        if line.strip() and _cells(longer) > width:
            lines.append(line)
            longer = f"{indent}  {word}"
        line = longer
    return [*lines, line]


def _cells(text: str) -> int:
    """How many columns of a terminal it takes."""
    wide = sum(unicodedata.east_asian_width(character) in ("W", "F") for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def json_line(data: object) -> str:
    """One JSON text on one line. What can't be printed is escaped, as JSON has it, so that a terminal takes no harm."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _visible(character: str) -> str:
    if character in "\n\t\r" or unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode("ascii")
