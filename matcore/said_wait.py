"""`mat wait`: an agent says that work is really under way. It is trusted until the time that it names, no longer."""

from __future__ import annotations

import os
import time

from matcore import spoolfile
from matcore.errors import BadConfig, Refused
from matcore.said_here import here
from matcore.said_run import parsed, waiting

WAIT_USAGE = """\
usage: mat wait DURATION REASON    work is really under way for that long (30m, 1h30m, 4h at most)
       mat wait --done             it has ended early"""

MAX_WAIT_S = 4 * 3600
_UNITS_S = {"s": 1, "m": 60, "h": 3600}


def wait(argv: list[str]) -> str:
    """Declare a wait, or its end. Returns what is printed."""
    options, words = parsed(argv, WAIT_USAGE, ("--done",), "nothing changed")
    if "--help" in options:
        return WAIT_USAGE
    seat = here(os.environ, "mat wait", "nothing changed")
    if "--done" in options and not words:
        spoolfile.write(seat.spool, {"session": seat.session, "request": "wait", "done": True})
        return f"the wait has ended{waiting(seat, 'this')}"
    if "--done" in options or len(words) < 2:
        raise BadConfig([f"{WAIT_USAGE}\nnothing changed"])
    for_s = _duration_s(words[0])
    reason = " ".join(" ".join(words[1:]).split())[:200]
    if not reason:
        raise BadConfig([f"{WAIT_USAGE}\nnothing changed"])
    spoolfile.write(seat.spool, {"session": seat.session, "request": "wait", "until_s": for_s, "reason": reason})
    end = time.strftime("%H:%M:%S", time.localtime(time.time() + for_s))
    return f"trusted to wait until {end}; say `mat wait --done` if it ends earlier{waiting(seat, 'this')}"


def _duration_s(text: str) -> int:
    """`90s`, `30m`, `1h30m` in seconds."""
    total, number = 0, None
    for character in text:
        if character.isascii() and character.isdigit():
            number = min(10 * (number or 0) + int(character), MAX_WAIT_S + 1)  # Python reads no number of any length.
        elif number is not None and character in _UNITS_S:
            total += number * _UNITS_S[character]
            number = None
        else:
            total = 0
            break
    if number is not None or total <= 0:
        raise BadConfig([f"{text!r} is no duration: write it like 90s, 30m or 1h30m; nothing changed"])
    if total > MAX_WAIT_S:
        raise Refused(
            "a wait may last 4h at most: say `mat wait 4h REASON`, and again when that is over; nothing changed"
        )
    return total
