"""Records pi's screens for `tests/tmuxdriver/screens/pi`, when a new version of pi is pinned.

    sudo .venv/bin/python -m tests.agents.record_pi tests/tmuxdriver/screens/pi

Each state is two files, plain and with styles, and a line of INDEX.tsv with tmux's variables at that moment. What the
profile must make of each is in expected.tsv, by hand. The folder is a fixed one, so that a new recording differs only
where pi does.
"""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.agents.lab import REPOSITORY, Lab, lab
from tests.agents.terminal import Terminal
from tests.waiting import wait_for

ROOT = Path("/tmp/pi-lab")
LONG = "".join(f"line {n} of a long answer that goes on.\n" for n in range(1, 13))
QUOTES = """\
While it works, pi shows a row like

 ⠋ Working...

above the composer, and `Retrying (1/2) in 1s...` after an error:

 Error: 500 no, this is only quoted"""
REPLIES: list[dict[str, object]] = [
    {"user": "think hard", "wait_s": 3, "say": "Thought."},
    {"user": "count slowly", "say": LONG, "over_s": 4},
    {"user": "run the tests", "times": 1, "say": "I run them.", "run": "echo collecting; sleep 3; echo 12 passed"},
    {"user": "what does pi show", "say": QUOTES},
    {"user": "what comes last", "say": "⠋ Working..."},
    {"user": "now fail", "status": 500},
    {"user": "too many", "status": 429},
    {"user": "bad request", "status": 400},
    {"user": "no key", "status": 401},
    {"own": True, "wait_s": 3, "say": "They counted."},
]
WORKING = r"^ [⠀-⣿] Working\.\.\."
RETRYING = r"^ [⠀-⣿] Retrying \("
RULE = r"^─{40}"


@dataclass(slots=True)
class Recorder:
    """Saves what a terminal shows, and what tmux says of it."""

    out: Path
    version: str
    terminal: Terminal
    program: str = "pi"
    lines: list[str] = field(default_factory=list)

    def save(self, state: str, how: str) -> None:
        plain, styled = self.terminal.both_screens()
        variables = self.terminal.variables()
        size = variables.pop("size")
        (self.out / f"{state}.txt").write_text(plain, encoding="utf-8")
        (self.out / f"{state}.ansi.txt").write_text(styled, encoding="utf-8")
        said = " ".join(f"{name}={value}" for name, value in variables.items())
        self.lines.append("\t".join((self.program, self.version, state, size, how, said)))

    def index(self) -> None:
        """Put what was recorded into INDEX.tsv, in place of what was recorded of these states before."""
        index = self.out / "INDEX.tsv"
        made = {line.split("\t")[2] for line in self.lines}
        kept = [line for line in index.read_text(encoding="utf-8").splitlines() if line.split("\t")[2] not in made]
        index.write_text("\n".join((*kept, *self.lines)) + "\n", encoding="utf-8")

    def settled(self, state: str, how: str) -> None:
        """Save the screen once nothing moves on it any more."""
        seen: list[str] = []

        def still() -> bool:
            seen.append(self.terminal.screen())
            return len(seen) > 30 and len(set(seen[-30:])) == 1

        wait_for(still, 20, f"a still screen for {state}")
        self.save(state, how)


def clear(terminal: Terminal) -> None:
    """Empty the composer. A second Ctrl-C within half a second would end pi."""
    time.sleep(1)
    terminal.keys("C-c")


def drafts(record: Recorder, terminal: Terminal) -> None:
    terminal.wait_for(RULE)
    record.settled("idle", "started, nothing typed yet")
    terminal.keys("-l", "look at the parser")
    record.settled("draft", "typed, not submitted")
    terminal.keys("C-u")
    terminal.paste("first line of a draft\nsecond line\n\n  fourth, indented")
    record.settled("draft-multiline", "four lines pasted, not submitted")
    clear(terminal)
    for start in range(1, 30, 8):
        terminal.paste("".join(f"line {n}\n" for n in range(start, start + 8)))
    record.settled("draft-scrolled", "32 lines pasted in four parts, none of them long: the composer scrolls")
    clear(terminal)
    terminal.paste("x" * 1200)
    record.settled("draft-pasted-line", "one line of 1,200 characters pasted, not submitted")
    clear(terminal)
    terminal.paste("\n".join(f"pasted line {n}" for n in range(1, 21)))
    record.settled("draft-pasted", "20 lines pasted, not submitted")
    terminal.keys("Enter")
    terminal.wait_for("OK chars=")
    record.settled("after-answer", "the paste was submitted and answered")


def work(record: Recorder, terminal: Terminal) -> None:
    terminal.submit("count slowly")
    terminal.wait_for("line 3 of")
    record.save("busy-streaming", "text streams in")
    terminal.keys("-l", "a note for later")
    terminal.wait_for("^a note for later")
    record.save("busy-draft", "typed while text streams, not submitted")
    terminal.keys("Enter")
    terminal.wait_for("Steering: a note")
    record.save("busy-queued", "submitted while text streams: pi calls it steering")
    terminal.wait_for("OK chars=16")
    terminal.wait_until_gone(WORKING)
    terminal.submit("think hard")
    terminal.wait_for(WORKING)
    record.save("busy-thinking", "three seconds without a byte of an answer")
    terminal.wait_for("Thought.")
    terminal.submit("run the tests")
    terminal.wait_for("^ collecting")
    record.save("busy-tool", "a shell command runs")
    terminal.wait_for("TOOL-DONE")
    record.settled("after-tool", "the command and its answer are done")
    terminal.submit("what does pi show")
    terminal.wait_for("only quoted")
    record.settled("after-quote", "the answer quotes a busy row and an error row")
    terminal.submit("what comes last")
    record.settled("after-quote-last", "the answer's last row reads like a busy row")


def errors(record: Recorder, terminal: Terminal) -> None:
    terminal.submit("now fail")
    terminal.wait_for(RETRYING)
    record.save("retrying", "HTTP 500; pi waits before it tries again")
    for state, prompt, shown in (
        ("after-error", None, "Retry failed after 2 attempts: 500"),
        ("after-rate-limit", "too many", "Retry failed after 2 attempts: 429"),
        ("after-bad-request", "bad request", "Error: 400"),
        ("after-login-error", "no key", "Error: 401"),
        ("after-recovery", "SCRIPT:text", "TEXT-DONE"),
    ):
        if prompt is not None:
            terminal.submit(prompt)
        terminal.wait_for(shown)
        record.settled(state, f"{prompt or 'now fail'}: {shown}")


def sizes(record: Recorder, terminal: Terminal) -> None:
    terminal.resize(40, 40)
    record.settled("narrow", "40 columns after 120")
    terminal.submit("count slowly, narrow")
    terminal.wait_for(WORKING)
    record.save("narrow-busy", "40 columns, text streams in")
    terminal.wait_until_gone(WORKING)
    terminal.submit("now fail, narrow")
    terminal.wait_for(RETRYING)
    record.save("narrow-retrying", "40 columns; HTTP 500")
    terminal.wait_for("Retry failed after 2")
    record.settled("narrow-error", "40 columns; HTTP 500 until pi gave up")
    terminal.keys("-l", "a draft that is longer than one row of forty columns")
    record.settled("narrow-draft", "40 columns, a draft that wraps")
    terminal.keys("C-u")
    terminal.resize(160, 48)
    record.settled("resized", "160 columns after 40")


def commands(record: Recorder, terminal: Terminal) -> None:
    terminal.submit("SCRIPT:slow8")
    terminal.wait_for("piece 3")
    terminal.keys("Escape")
    terminal.wait_for("Operation aborted")
    record.settled("after-interrupt", "Escape while text streamed")
    terminal.submit("/compact")
    terminal.wait_for("Compacting context")
    record.save("busy-compacting", "/compact, the summary is being made")
    terminal.wait_for(r"\[compaction\]")
    record.settled("after-compact", "/compact, done")
    terminal.keys("-l", "/")
    record.settled("menu-commands", "a slash typed: the list of commands is open")
    terminal.keys("BSpace")
    terminal.keys("-l", "!ls")
    record.settled("draft-shell", "a shell line typed, not submitted")
    terminal.keys("C-u")
    terminal.submit("/model")
    terminal.wait_for("Model Name:")
    record.settled("menu-model", "/model: a list in the composer's place")
    terminal.keys("Escape")
    terminal.wait_until_gone("Model Name:")
    terminal.submit("/new")
    terminal.wait_for("New session started")
    record.settled("after-new", "/new: an empty session")


def end(record: Recorder, terminal: Terminal, argv: list[str], work_dir: Path) -> None:
    terminal.submit("/quit")
    wait_for(lambda: terminal.variables()["dead"] == "1", what="pi's end")
    record.settled("dead", "/quit; tmux keeps the dead pane")
    terminal.tmux("respawn-pane", "-t", "=lab:", "-c", str(work_dir), *argv)
    terminal.wait_for(RULE)
    record.settled("resumed", "started anew with the same --session")


def launch_argv(lab_: Lab) -> list[str]:
    extension = REPOSITORY / "agents" / "backends" / "pi" / "mat.ts"
    session = lab_.work / ".mat" / "dev.jsonl"
    return [str(lab_.binary), "--extension", str(extension), "--session", str(session)]


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(ROOT, ignore_errors=True)
    with lab("pi", ROOT) as pi:
        pi.model(REPLIES)
        version = pi.run([pi.binary, "--version"]).stdout.strip()
        argv = launch_argv(pi)
        terminal = pi.terminal(argv)
        record = Recorder(out, version, terminal)
        for part in (drafts, work, errors, sizes, commands):
            part(record, terminal)
        end(record, terminal, argv, pi.work)
    head = "\t".join(("program", "version", "state", "size", "what produced it", "tmux variables at that moment"))
    (out / "INDEX.tsv").write_text("\n".join((head, *record.lines)) + "\n", encoding="utf-8")
    shutil.rmtree(ROOT)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
