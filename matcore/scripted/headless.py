"""One turn without a terminal: the message from stdin, the answer to stdout, all else to stderr.

Nobody is there for a dialog: a permission is denied, any other dialog fails the turn.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from matcore.scripted import steps
from matcore.scripted.agent import end_now
from matcore.scripted.hooks import Hooks
from matcore.scripted.log import Log, boot_s
from matcore.scripted.memory import Memory
from matcore.scripted.script import Script
from matcore.scripted.shell import RunningShell
from matcore.scripted.stage import Answer, Choose, Context, Ending, Pause, Playing, Shell, ShellResult, Wait
from matcore.scripted.view import tool_text


@dataclass(frozen=True, slots=True)
class Surroundings:
    role: str
    log: Log
    hooks: Hooks
    as_json: bool = False


class _Left(Exception):
    """An `exit` step."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(code)


def run(script: Script, memory: Memory, around: Surroundings) -> int:
    """0 when the turn was done, else the script's `error_exit`."""
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    memory.turns += 1
    turn = _Turn(memory, around, Context(text, around.role, memory.session, memory.turns, time.time))
    signal.signal(signal.SIGTERM, turn.told)
    signal.signal(signal.SIGHUP, turn.told)
    around.log.write("submitted", text=text, how="headless")
    try:
        ending = turn.play(script, text)
    except _Left as left:
        ending, code = Ending(), left.code
    else:
        code = 0 if ending.outcome == "done" else script.options.error_exit
    if ending.outcome not in script.options.silent_endings:
        turn.hook("turn-ended", outcome=ending.outcome, error=ending.error)
    around.log.write("turn-ended", turn=memory.turns, outcome=ending.outcome, error=ending.error)
    turn.print_result(ending)
    around.hooks.close(10.0)
    return code


@dataclass(slots=True)
class _Turn:
    """The stage of a headless turn."""

    memory: Memory
    around: Surroundings
    context: Context
    answers: list[str] = field(default_factory=list)
    shell: RunningShell | None = None

    def play(self, script: Script, text: str) -> Ending:
        self.hook("prompt-submitted")
        self.hook("turn-started")
        refusal = self.memory.refusal(time.time())
        rule, found = (None, ()) if refusal else self.memory.pick(script, text)
        self.memory.save()
        self.around.log.write("turn-started", turn=self.memory.turns, rule=rule, text=text)
        if refusal is not None:
            return refusal
        playing = steps.play(found, self)
        answer: Answer = None
        try:
            while True:
                answer = self._waited(playing.send(answer), playing)
        except StopIteration as over:
            return over.value or Ending()
        except _NobodyThere as nobody:
            return Ending("error", str(nobody))

    def _waited(self, wait: Wait, playing: Playing) -> Answer:
        if isinstance(wait, Pause):
            time.sleep(wait.seconds)
            return None
        if isinstance(wait, Shell):
            return self._ran(wait.command)
        return self._answered(wait, playing)

    def _answered(self, wait: Choose, playing: Playing) -> int:
        choice = wait.choice
        self.around.log.write("dialog", kind=choice.kind, heading=choice.heading, detail=choice.detail)
        if choice.kind != "permission":
            playing.close()
            message = f"Nobody can answer a dialog here: {choice.heading}"
            raise _NobodyThere(message)
        self.hook("permission-asked", command=choice.detail.removeprefix("$ "))
        return len(choice.options) - 1

    def _ran(self, command: str) -> ShellResult:
        try:
            self.shell = RunningShell(command)
            result = self.shell.wait()
        except (OSError, ValueError) as error:
            result = ShellResult(127, str(error))
        self.shell = None
        self.around.log.write("ran", command=command, exit=result.code, output=result.output)
        self._aside(tool_text(command, result.output, result.code))
        return result

    def print_result(self, ending: Ending) -> None:
        result = "\n".join(self.answers)
        if self.around.as_json:
            told = {
                "type": "result",
                "is_error": ending.outcome != "done",
                "outcome": ending.outcome,
                "error": ending.error,
                "result": result,
                "session_id": self.memory.session,
                "turn": self.memory.turns,
            }
            sys.stdout.write(json.dumps(told) + "\n")
        elif result:
            sys.stdout.write(result + "\n")
        if ending.error is not None:
            self._aside(ending.error)
        sys.stdout.flush()

    def told(self, number: int, _frame: FrameType | None) -> None:
        """A signal that ends the program: no child is left."""
        if self.shell is not None:
            self.shell.kill()
        self.around.hooks.close(0.0)
        os._exit(128 + number)

    def hook(self, event: str, **facts: object) -> None:
        about = {"session_id": self.memory.session, "role": self.around.role, "cwd": str(Path.cwd())}
        rest = {"turn": self.memory.turns, "boot_s": boot_s(), "prompt": self.context.request}
        self.around.hooks.fire(event, {**about, **rest, "outcome": None, "error": None, **facts})

    def _aside(self, text: str) -> None:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def say(self, kind: str, text: str) -> None:
        if kind == "answer":
            self.answers.append(text)
        else:
            self._aside(text)

    def write(self, path: str, text: str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
        self._aside(f"Wrote {path}")

    def draft(self, text: str) -> None:
        """There is no composer."""

    def compacted(self) -> None:
        self.hook("compaction")

    def exhausted(self) -> None:
        self.memory.is_exhausted = True
        self.memory.save()

    def limited(self, until: float) -> None:
        self.memory.limited_until = until
        self.memory.save()

    def quit(self, code: int) -> None:
        raise _Left(code)

    def crash(self, code: int | None, signal: int | None) -> None:
        end_now(self.around.log, code, signal)

    def hang(self) -> None:
        self.around.log.write("hang")
        while True:
            signal.pause()


class _NobodyThere(Exception):
    """A dialog that needs a person."""
