"""Whether two screens are the same, and whether a composer holds a text: what moves or wraps on its own is left out."""

from __future__ import annotations

import re

from tmuxdriver.cells import Capture, Rows
from tmuxdriver.composer import INVISIBLE
from tmuxdriver.profile import pattern

_SPINNER = re.compile("[\u2800-\u28ff✢✳✶✻✽✺·•◦●○◐◓◑◒◴◷◶◵■⬝▪▫█▓▒░]")
_ENOUGH = 80
_COUNTER = re.compile(r"\d+(?:[.:,]\d+)*")
_COUNT = re.compile(r"(\d+) *(line|char)")
_TAB = " " * 4
"""What some programs make of a tab before they count."""


def normalise(text: str) -> str:
    """A screen without what moves on its own: styles, spinners, clocks, counters, blanks at the ends of rows."""
    rows = Rows(Capture(text)).text
    return "\n".join(_COUNTER.sub("0", _SPINNER.sub("", row)).rstrip() for row in rows).rstrip()


def picture(capture: Capture) -> str:
    """What of a look is compared with the next one: rows that scroll away count, however much alike they are."""
    return f"{normalise(capture.text)}\n{capture.variables.get('history_size', '')}"


def squeeze(text: str) -> str:
    """A text without its white space, to find it again however a composer wraps it."""
    return re.sub(r"\s+", "", text.translate(INVISIBLE))


def counts(marker: str, text: str) -> bool | None:
    """Whether the marker of a collapsed paste counts the lines or characters of `text`; None: it counts neither.

    Programs count lines or the breaks between them, and characters as Unicode or as UTF-16 has them.
    """
    found = _COUNT.search(marker)
    if found is None:
        return None
    if found[2] == "line":
        return int(found[1]) - text.count("\n") in (0, 1)
    forms = (text, text.replace("\t", _TAB))
    return int(found[1]) in {size for form in forms for size in (len(form), len(form.encode("utf-16-le")) // 2)}


def holds(typed: str, text: str, pasted: str | None) -> bool:
    """Whether a composer that was empty before provably holds `text`, whole and alone, now.

    As it was typed, or as one collapsed paste that counts as much, or (in a composer that scrolls) as a long piece of
    it. In a small pane there is no room for a long one: its end, where the cursor stands, is enough.
    """
    shown, wanted = squeeze(typed), squeeze(text)
    if shown == wanted:
        return bool(wanted)
    if pasted is not None and pattern(pasted).fullmatch(typed.strip()):
        return counts(typed, text) is not False
    return (len(shown) >= max(200, len(wanted) // 2) and shown in wanted) or (
        len(shown) >= _ENOUGH and wanted.endswith(shown)
    )
