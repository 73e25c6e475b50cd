"""Records what Claude Code and Codex show of a context that is full or being compacted, and Codex without a login.

    sudo .venv/bin/python -m tests.agents.record_full claude tests/tmuxdriver/screens/claude

Adds the states `full-…` (Codex: `first-start-login`, too) to the folder and its INDEX.tsv; what the profile must make
of each is in expected.tsv, by hand.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.agents.lab import Lab, lab
from tests.agents.record_launched import FREE, SIZE, start, submit
from tests.agents.record_pi import Recorder
from tests.agents.terminal import Terminal
from tmuxdriver.profile import load

ROOT = Path("/tmp/full-lab")
TOO_LONG = {
    "claude": "prompt is too long: 213462 tokens > 200000 maximum",
    "codex": "Your input exceeds the context window of this model. Please adjust your input and try again.",
}
REFUSED = {"claude": "Context limit reached", "codex": "^■ "}
REPLIES: list[dict[str, object]] = [
    {"user": "too much", "status": 400},
    {"user": "(?i)detailed summary|CONTEXT CHECKPOINT", "wait_s": 6, "say": "<summary>It was short.</summary>"},
    {"user": "fill up", "say": "Filled.", "tokens": 990_000},
    {"own": True, "wait_s": 6, "say": "It was short."},
]


def contexts(record: Recorder, terminal: Terminal, program: str) -> None:
    terminal.wait_for(FREE[program])
    for number in range(3):
        submit(terminal, f"hello {number}")
        terminal.wait_for(f"hello {number}(.|\n)*OK chars=")
    if program == "claude":
        submit(terminal, "fill up")
        terminal.wait_for("100% context used")
        record.settled("full-used", "an answer whose usage says 990,000 tokens")
    terminal.keys("-l", "/compact")
    record.settled("full-menu-compact", "/compact typed: the list of commands is open")
    terminal.keys("Enter")
    terminal.wait_for("Compacting con")
    record.save("full-compacting", "/compact, the summary is being made")
    terminal.wait_for("ompacted")
    record.settled("full-compacted", "/compact, done")
    submit(terminal, "too much")
    terminal.wait_for(REFUSED[program])
    record.settled("full-refused", f"HTTP 400, {TOO_LONG[program]}")


def without_login(lab_: Lab, out: Path) -> list[str]:
    """Codex with no settings and no key."""
    shutil.rmtree(lab_.home / ".codex")
    terminal = lab_.terminal(["env", "-u", "OPENAI_API_KEY", lab_.binary, "--no-daemon"])
    record = Recorder(out, load("codex").recorded, terminal, "codex")
    terminal.wait_for("Sign in with ChatGPT")
    record.settled("first-start-login", "no settings, no key")
    return record.lines


def main(argv: Sequence[str]) -> None:
    program, out = argv[0], Path(argv[1])
    shutil.rmtree(ROOT, ignore_errors=True)
    with lab(program, ROOT) as lab_:
        lab_.model([{**rule, **({"say": TOO_LONG[program]} if "status" in rule else {})} for rule in REPLIES])
        begin = start(lab_, program)
        terminal = lab_.terminal(begin.argv, env=dict(begin.env), size=SIZE)
        record = Recorder(out, load(program).recorded, terminal, program)
        try:
            contexts(record, terminal, program)
        except AssertionError:
            sys.stderr.write(terminal.screen())
            raise
        terminal.stop()
        lines = [*record.lines, *(without_login(lab_, out) if program == "codex" else ())]
    index = out / "INDEX.tsv"
    states = {line.split("\t")[2] for line in lines}
    kept = [line for line in index.read_text(encoding="utf-8").splitlines() if line.split("\t")[2] not in states]
    index.write_text("\n".join((*kept, *lines)) + "\n", encoding="utf-8")
    shutil.rmtree(ROOT)


if __name__ == "__main__":
    main(sys.argv[1:])
