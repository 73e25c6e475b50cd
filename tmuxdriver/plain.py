"""What a text for an agent may hold: nothing that leaves the paste frame, presses a key or is run before it is read."""

from __future__ import annotations

import re

from matcore.errors import OurMistake

MOST_BYTES = 1024
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PASTE_FRAME = re.compile(r"(?:\x1b\[|\x9b)20[01]~")
_COMPLETED = re.compile(r"(?:^|\s)[$@/#]\S*$")


def sanitise(text: str) -> str:
    """A text that can't leave the paste frame nor press a key: no C0 but newline and tab, no DEL, no C1, no frame ends.

    The last newlines go too, for Enter is pressed apart; a space parts it from a last word for which programs open a
    list of completions, which would take the Enter (`$HOME`, `@file`). Raises `OurMistake` for a text that programs
    would run or look up instead of reading it, or that is too long: no text that is meant for an agent is.
    """
    clean = text.replace("\r\n", "\n")
    while _PASTE_FRAME.search(clean):
        clean = _PASTE_FRAME.sub("", clean)
    clean = _CONTROL.sub("", clean).rstrip()
    size = len(clean.encode("utf-8", "replace"))
    if not clean or clean[0] in "!/#@":
        raise OurMistake(f"A text for an agent must not be empty nor start with {clean[:1]!r}.")
    if size > MOST_BYTES:
        raise OurMistake(f"A text for an agent has {size} bytes; it may have {MOST_BYTES}.")
    return f"{clean} " if _COMPLETED.search(clean) else clean
