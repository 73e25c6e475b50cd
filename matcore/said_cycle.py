"""`mat cycle` by an agent: opens a unit of work, or ends the open one. Prints one compact JSON object, no prose."""

from __future__ import annotations

import json
import os

from matcore import spoolfile
from matcore.errors import BadConfig, Refused
from matcore.said_here import here, supervised
from matcore.said_run import fact

CYCLE_USAGE = """\
usage: mat cycle open [--goal TEXT]
       mat cycle complete|blocked [--reason TEXT]"""


def cycle(argv: list[str]) -> str:
    """Open or end a cycle, by the agent that the environment names. Returns one compact JSON object."""
    text = {"open": "--goal", "complete": "--reason", "blocked": "--reason"}.get(argv[0] if argv else "")
    if text is None or len(argv) not in (1, 3) or argv[1:2] not in ([], [text]):
        raise BadConfig([f"{CYCLE_USAGE}\nnothing changed"])
    if text == "--goal" and len(argv) == 3 and not argv[2].strip():
        raise BadConfig(["--goal is empty; say what is to be reached, or leave it out; nothing changed"])
    seat = here(os.environ, "mat cycle", "nothing changed")
    event = {"open": "cycle.opened", "complete": "cycle.completed", "blocked": "cycle.blocked"}[argv[0]]
    said: dict[str, object] = {"event": event, "by": seat.role}
    if argv[0] != "open":
        if seat.cycle is None:
            raise Refused("no cycle is open; `mat cycle open --goal TEXT` opens one; nothing changed")
        said["cycle"] = seat.cycle
    if len(argv) == 3:
        said[text.lstrip("-")] = argv[2]
    fields = {key: value for key, value in said.items() if key != "event"}
    spoolfile.write(seat.spool, fact(seat, event, **fields))
    if supervised(seat.state_dir) is False:
        said["waits_for"] = "supervisor"
    return json.dumps(said, separators=(",", ":"))
