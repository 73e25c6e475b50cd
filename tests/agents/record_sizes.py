"""Records screens of Claude Code, Codex and opencode in narrow and wide windows, after a resize, scrolled, and with a
shell in the background.

    sudo .venv/bin/python -m tests.agents.record_sizes claude tests/tmuxdriver/screens/claude

Adds its states to the folder and to its INDEX.tsv; what the profile must make of each is in expected.tsv, by hand.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.agents.lab import lab
from tests.agents.record_launched import ASKS, FREE, LONG, PERMISSION, SIZE, start, submit
from tests.agents.record_pi import Recorder
from tests.agents.terminal import Terminal
from tmuxdriver.profile import load

ROOT = Path("/tmp/sizes-lab")
NARROW = (40, 40)
WIDE = (240, 50)
DRAFT = "a draft that is too long for one row of a narrow window"
PAGE = "".join(f"row {n} of an answer that is longer than the window.\n" for n in range(1, 121))
REPLIES: list[dict[str, object]] = [
    {"user": r"count for (\w+)", "say": LONG.replace("line", "{{1}} line"), "over_s": 6},
    {"user": "tell it all", "say": PAGE},
    {"user": "start the server", "times": 1, "say": "I start it.", "run": "sleep 300", "background": True},
]
SCROLLS = {"claude": ("C-o", "Escape"), "codex": ("PageUp", "Escape"), "opencode": ("PageUp", "End")}
"""How the transcript is looked at further up, and left again."""


def emptied(terminal: Terminal, program: str) -> None:
    """Of a draft. Ctrl-C in an empty composer would end opencode, and Ctrl-U takes a row at a time."""
    for key in ["C-c"] if program == "opencode" else ["C-u"] * 3:
        terminal.keys(key)
        time.sleep(0.5)


def sized(record: Recorder, terminal: Terminal, program: str, name: str, size: tuple[int, int]) -> None:
    """The states that a width may change."""
    terminal.resize(*size)
    columns = f"{size[0]} columns"
    record.settled(f"{name}", f"{columns}, after {SIZE[0]}")
    submit(terminal, f"count for {name}")
    terminal.wait_for(f"{name} line 3 of")
    record.save(f"{name}-busy", f"{columns}, text streams in")
    terminal.wait_for(f"{name} line 11 of")
    time.sleep(2)
    terminal.keys("-l", DRAFT)
    record.settled(f"{name}-draft", f"{columns}, typed, not submitted")
    emptied(terminal, program)
    submit(terminal, ASKS[program])
    terminal.wait_for(PERMISSION[program])
    record.settled(f"{name}-permission", f"{columns}; {ASKS[program]}: may it?")
    terminal.keys("Enter")
    terminal.wait_until_gone(PERMISSION[program])
    time.sleep(3)


def scrolled(record: Recorder, terminal: Terminal, program: str) -> None:
    submit(terminal, "tell it all")
    terminal.wait_for("row 120 of")
    record.settled("scrolled-long", "an answer of 120 rows, more than the window has")
    there, back = SCROLLS[program]
    terminal.keys(there)
    time.sleep(1)
    record.settled("scrolled", f"{there}: the transcript further up, in the program's own way")
    terminal.keys(back)
    time.sleep(1)
    for begin in range(1, 60, 4):
        terminal.paste("".join(f"line {n}\n" for n in range(begin, begin + 4)))
        time.sleep(0.2)
    record.settled("draft-scrolled", "60 lines pasted in fifteen parts, none of them long: the composer scrolls")
    terminal.keys("C-c")
    time.sleep(1)


def backgrounds(record: Recorder, terminal: Terminal, program: str) -> None:
    """Codex leaves a command that does not end within ten seconds in the background by itself."""
    submit(terminal, "start the server")
    time.sleep(3)
    if program == "claude":
        terminal.keys("Enter")
    terminal.wait_for("TOOL-DONE|done|OK")
    time.sleep(14)
    record.settled("background", "the turn is over, a shell command of it still runs")


def main(argv: Sequence[str]) -> None:
    program, out = argv[0], Path(argv[1])
    os.environ["MAT_REQUIRE_AGENTS"] = "all"  # a heavy one, too, for it was asked for
    shutil.rmtree(ROOT, ignore_errors=True)
    with lab(program, ROOT) as lab_:
        lab_.model(REPLIES)
        os.environ["HOME"] = str(lab_.home)
        first = start(lab_, program)
        terminal = lab_.terminal(first.argv, env=dict(first.env), size=SIZE)
        record = Recorder(out, load(program).recorded, terminal, program)
        try:
            terminal.wait_for(FREE[program])
            time.sleep(2)
            sized(record, terminal, program, "narrow", NARROW)
            sized(record, terminal, program, "wide", WIDE)
            terminal.resize(*SIZE)
            record.settled("resized", f"{SIZE[0]} columns after {WIDE[0]}")
            scrolled(record, terminal, program)
            if program != "opencode":  # it waits for its commands
                backgrounds(record, terminal, program)
        except AssertionError:
            sys.stderr.write(terminal.screen())
            raise
    record.index()
    shutil.rmtree(ROOT)


if __name__ == "__main__":
    main(sys.argv[1:])
