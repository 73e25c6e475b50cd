"""Records screens of Claude Code and Codex as mat launches them: its size, its hooks, its role prompt.

    sudo .venv/bin/python -m tests.agents.record_launched claude tests/tmuxdriver/screens/claude

Adds the states `launched-…` to the folder and to its INDEX.tsv; what the profile must make of each is in expected.tsv,
by hand. The other states there were recorded by hand, of the bare program.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from matcore.engine.driver import RoleSpec, SessionSpec
from tests.agents.lab import Lab, lab
from tests.agents.record_pi import Recorder
from tests.agents.terminal import Terminal
from tmuxdriver.layout import Start, plan
from tmuxdriver.profile import load

ROOT = Path("/tmp/launched-lab")
SIZE = (160, 48)
FREE = {"claude": "for shortcuts", "codex": "for agents"}
PERMISSION = {"claude": "Do you want to", "codex": "Would you like to"}
# Codex is asked by a model that wants to leave its sandbox; what Claude Code does not know, it asks about.
ASKS = {"claude": "SCRIPT:tool[touch made]", "codex": "SCRIPT:asktool[touch made]"}
MARK = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
LONG = "".join(f"line {n} of a long answer that goes on.\n" for n in range(12))
QUOTES = f"""\
{MARK}
  esc to interrupt

Do you want to proceed?
 {MARK} 1. Yes
   2. No

 Esc to cancel"""
REPLIES: list[dict[str, object]] = [
    {"user": "count slowly", "say": LONG, "over_s": 6},
    {"user": "think hard", "wait_s": 4, "say": "Thought."},
    {"user": "run the tests", "times": 1, "say": "I run them.", "run": "sleep 4; echo 12 passed"},
    {"user": "what do you show", "say": QUOTES},
]


def start(lab_: Lab, program: str, resume: str | None = None) -> Start:
    prompt = lab_.work / "role.md"
    prompt.write_text("# You are review, the reviewer of the duo s\n", encoding="utf-8")
    role = RoleSpec("review", program, lab_.work, prompt)
    return plan(SessionSpec("s", lab_.work, (role,), lab_.env()["PATH"]), role, load(program), resume=resume)


def submit(terminal: Terminal, text: str) -> None:
    """As mat does it: Enter comes when the text is there."""
    terminal.paste(text)
    time.sleep(0.5)
    terminal.keys("Enter")


def composer(record: Recorder, terminal: Terminal, free: str) -> None:
    terminal.wait_for(free)
    record.settled("launched-idle", "launched by mat, nothing typed yet")
    for state, text, how in (
        ("launched-draft-shell", "!ls", "a shell line typed, not submitted"),
        ("launched-menu-commands", "/", "a slash typed: the list of commands is open"),
        ("launched-menu-files", "@", "an at sign typed: a list of files is open"),
    ):
        terminal.keys("-l", text)
        record.settled(state, how)
        for _ in range(5):
            terminal.keys("BSpace")
            time.sleep(0.2)
    terminal.paste("see $HOME ")
    record.settled("launched-draft-variable", "a line that ends in a variable and a space, pasted")
    terminal.keys("C-u")
    time.sleep(0.5)


def work(record: Recorder, terminal: Terminal) -> None:
    submit(terminal, "count slowly")
    terminal.wait_for("line 3 of")
    record.save("launched-busy-streaming", "text streams in")
    terminal.keys("-l", "a note for later")
    time.sleep(0.3)
    record.save("launched-busy-draft", "typed while text streams, not submitted")
    terminal.wait_for("line 11 of")
    time.sleep(1)
    terminal.keys("C-u")
    submit(terminal, "think hard")
    time.sleep(2)
    record.save("launched-busy-thinking", "two seconds without a byte of an answer")
    terminal.wait_for("Thought")
    time.sleep(1)
    submit(terminal, "run the tests")
    time.sleep(2)
    record.save("launched-busy-tool", "a shell command runs, or waits to be allowed")
    terminal.keys("Enter")
    terminal.wait_for("TOOL-DONE")
    record.settled("launched-after-tool", "the command and its answer are done")
    submit(terminal, "SCRIPT:slow8")
    terminal.wait_for("piece 3")
    terminal.keys("Escape")
    record.settled("launched-after-interrupt", "Escape while text streamed")
    terminal.keys("C-u")
    time.sleep(0.5)


def dialogs(record: Recorder, terminal: Terminal, program: str) -> None:
    submit(terminal, "SCRIPT:err500")
    terminal.wait_for("API Error|high demand", 60)
    record.settled("launched-after-error", "HTTP 500 until it gave up")
    submit(terminal, ASKS[program])
    terminal.wait_for(PERMISSION[program])
    record.save("launched-permission", f"{ASKS[program]}: may it?")
    terminal.keys("Escape")
    record.settled("launched-after-denial", "Escape at the question")
    terminal.keys("C-u")
    terminal.keys("-l", "/model")
    time.sleep(0.7)
    terminal.keys("Enter")
    record.settled("launched-menu-model", "/model: a list in the composer's place")
    terminal.keys("Escape")
    time.sleep(1)
    terminal.keys("C-u")
    time.sleep(0.5)
    submit(terminal, "what do you show")
    record.settled("launched-after-quote", "the answer quotes a composer, a busy row and a dialog")


def ends(record: Recorder, terminal: Terminal, lab_: Lab, what: Start) -> None:
    os.kill(int(terminal.tmux("display-message", "-p", "-t", "=lab:", "#{pane_pid}")), 9)
    record.settled("launched-killed", "SIGKILL")
    environment = [word for name, value in what.env.items() for word in ("-e", f"{name}={value}")]
    terminal.tmux("respawn-pane", "-k", "-t", "=lab:", "-c", str(lab_.work), *environment, "--", *what.argv)
    time.sleep(3)
    record.settled("launched-resumed", "started anew")


def main(argv: Sequence[str]) -> None:
    program, out = argv[0], Path(argv[1])
    shutil.rmtree(ROOT, ignore_errors=True)
    with lab(program, ROOT) as lab_:
        lab_.model(REPLIES)
        os.environ["HOME"] = str(lab_.home)  # where a session is looked for that is to be taken up
        first = start(lab_, program)
        terminal = lab_.terminal(first.argv, env=dict(first.env), size=SIZE)
        version = load(program).recorded
        record = Recorder(out, version, terminal, program)
        try:
            composer(record, terminal, FREE[program])
            work(record, terminal)
            dialogs(record, terminal, program)
            ends(record, terminal, lab_, start(lab_, program, resume=first.agent_session))
        except AssertionError:
            sys.stderr.write(terminal.screen())
            raise
    index = out / "INDEX.tsv"
    kept = [line for line in index.read_text(encoding="utf-8").splitlines() if "\tlaunched-" not in line]
    index.write_text("\n".join((*kept, *record.lines)) + "\n", encoding="utf-8")
    shutil.rmtree(ROOT)


if __name__ == "__main__":
    main(sys.argv[1:])
