"""Records screens of Claude Code, Codex and opencode as mat launches them: its size, its hooks, its role prompt.

    sudo .venv/bin/python -m tests.agents.record_launched claude tests/tmuxdriver/screens/claude

Adds the states `launched-…` to the folder and to its INDEX.tsv; what the profile must make of each is in expected.tsv,
by hand. The other states there were recorded by hand, of the bare program.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from matcore.engine.driver import RoleSpec, SessionSpec
from tests.agents.lab import Lab, lab
from tests.agents.record_pi import Recorder
from tests.agents.terminal import Terminal
from tmuxdriver import found
from tmuxdriver.layout import Start, plan
from tmuxdriver.profile import load

ROOT = Path("/tmp/launched-lab")
SIZE = (160, 48)
FREE = {"claude": "for shortcuts", "codex": "for agents", "opencode": "Ask anything"}
PERMISSION = {"claude": "Do you want to", "codex": "Would you like to", "opencode": "Permission required"}
# Codex is asked by a model that wants to leave its sandbox, opencode by one that wants to leave its folder; what Claude
# Code does not know, it asks about.
ASKS = {
    "claude": "SCRIPT:tool[touch made]",
    "codex": "SCRIPT:asktool[touch made]",
    "opencode": "SCRIPT:tool[touch ../made]",
}
INTERRUPTS = {"claude": 1, "codex": 1, "opencode": 2}
# opencode tries five times after a 500, for more than a minute.
FAILS = {"claude": "SCRIPT:err500", "codex": "SCRIPT:err500", "opencode": "SCRIPT:err400"}
OPENCODE_WORKS = "^ {3}[■⬝]"
ERROR = "API Error|high demand|scripted error 400"
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
    {"user": "long fail", "status": 500, "say": "The provider has too much to do and could not take it up. " * 4},
    {"user": "limit here", "status": 429, "say": "You have hit your usage limit. Try again in ~20 seconds."},
    {"user": "overflow", "status": 400, "say": "maximum context length is 200000 tokens", "times": 1},
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


def composer(record: Recorder, terminal: Terminal, program: str) -> None:
    terminal.wait_for(FREE[program])
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
        if program == "opencode":
            terminal.keys("Escape")
            time.sleep(0.5)
    terminal.paste("see $HOME ")
    record.settled("launched-draft-variable", "a line that ends in a variable and a space, pasted")
    terminal.keys("C-u")
    time.sleep(0.5)


def work(record: Recorder, terminal: Terminal, program: str) -> None:
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
    for _ in range(INTERRUPTS[program]):
        terminal.keys("Escape")
        time.sleep(0.3)
    record.settled("launched-after-interrupt", "Escape while text streamed")
    terminal.keys("C-u")
    time.sleep(0.5)


def dialogs(record: Recorder, terminal: Terminal, program: str) -> None:
    submit(terminal, FAILS[program])
    terminal.wait_for(ERROR, 60)
    record.settled("launched-after-error", f"{FAILS[program]}, until it gave up")
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


def only_opencode(record: Recorder, terminal: Terminal) -> None:
    """What the others don't show."""
    time.sleep(6)  # the notice of the last error fades
    terminal.keys("C-p")
    record.settled("launched-menu-palette", "C-p: the list of commands over the transcript")
    terminal.keys("Escape")
    time.sleep(1)
    terminal.keys("-l", "!")
    record.settled("launched-shell-empty", "an exclamation mark: the shell's composer, nothing typed")
    terminal.keys("Escape")
    time.sleep(1)
    submit(terminal, "SCRIPT:err500")
    terminal.wait_for("retrying", 60)
    record.save("launched-retrying", "HTTP 500, it tries again")
    interrupts(terminal)
    submit(terminal, "long fail")
    terminal.wait_for("retrying", 60)
    terminal.resize(80, 30)
    time.sleep(2)
    record.save("launched-retrying-narrow", "a long error in a narrow window")
    terminal.resize(*SIZE)
    interrupts(terminal)
    submit(terminal, "limit here")
    time.sleep(2)
    terminal.wait_until_gone(OPENCODE_WORKS)
    record.settled("launched-after-limit", "HTTP 429 until it gave up")
    terminal.paste("".join(f"line {n}\n" for n in range(12)) + "end")
    record.settled("launched-draft-pasted", "13 lines pasted, not submitted")
    terminal.keys("C-c")  # empties it; in an empty one it would end the program
    time.sleep(1)
    submit(terminal, "overflow")
    terminal.wait_for("OK chars", 60)
    record.settled("launched-after-compact", "a context that was full: compacted, and asked again")


def interrupts(terminal: Terminal) -> None:
    while re.search(OPENCODE_WORKS, terminal.screen(), re.MULTILINE):
        terminal.keys("Escape")
        time.sleep(0.5)
    time.sleep(1)


def session_of(program: str) -> str | None:
    finds = load(program).launch.finds
    return found.agent_session(finds, "what do you show", 0) if finds else None


def ends(record: Recorder, terminal: Terminal, lab_: Lab, what: Start) -> None:
    os.kill(int(terminal.tmux("display-message", "-p", "-t", "=lab:", "#{pane_pid}")), 9)
    record.settled("launched-killed", "SIGKILL")
    environment = [word for name, value in what.env.items() for word in ("-e", f"{name}={value}")]
    terminal.tmux("respawn-pane", "-k", "-t", "=lab:", "-c", str(lab_.work), *environment, "--", *what.argv)
    time.sleep(3)
    terminal.wait_for(r"\S")  # opencode's is blank for long
    record.settled("launched-resumed", "started anew")


def main(argv: Sequence[str]) -> None:
    program, out = argv[0], Path(argv[1])
    os.environ["MAT_REQUIRE_AGENTS"] = "all"  # a heavy one, too, for it was asked for
    shutil.rmtree(ROOT, ignore_errors=True)
    with lab(program, ROOT) as lab_:
        lab_.model(REPLIES)
        os.environ["HOME"] = str(lab_.home)  # where a session is looked for that is to be taken up
        first = start(lab_, program)
        terminal = lab_.terminal(first.argv, env=dict(first.env), size=SIZE)
        version = load(program).recorded
        record = Recorder(out, version, terminal, program)
        try:
            composer(record, terminal, program)
            work(record, terminal, program)
            dialogs(record, terminal, program)
            if program == "opencode":
                only_opencode(record, terminal)
            ends(record, terminal, lab_, start(lab_, program, resume=first.agent_session or session_of(program)))
        except AssertionError:
            sys.stderr.write(terminal.screen())
            raise
    record.index()
    shutil.rmtree(ROOT)


if __name__ == "__main__":
    main(sys.argv[1:])
