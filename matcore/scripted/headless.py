"""One turn without a terminal: the message from stdin, the answer to stdout, all else to stderr.

Nobody is there for a dialog: a permission is denied, any other dialog fails the turn.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass, field

from matcore.scripted.acting import Acting
from matcore.scripted.shell import RunningShell
from matcore.scripted.signals import Signals, Told
from matcore.scripted.stage import Answer, Choice, Ending, Pause, Playing, Shell, ShellResult, Wait

LONGEST_WAIT_S = 3600.0
CLOSED_OUTPUT_S = 0.05


class Left(Exception):
    """An `exit` step."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(code)


class NobodyThere(Exception):
    """A dialog that needs a person."""


def run(stage: Headless, *, as_json: bool) -> int:
    """0 when the turn was done, else the script's `error_exit`."""
    try:
        text = stage.read(0)
        stage.around.log.write("submitted", text=text, how="headless")
        ending = _played(stage, stage.turn(text))
        code = 0 if ending.outcome == "done" else stage.script.options.error_exit
    except Left as left:
        ending, code = Ending(), left.code
    except Told:
        stage.close()
        return 128 + (stage.signals.ending or 0)
    stage.ended(ending)
    if ending.error is not None:
        stage.say("error", ending.error)
    sys.stdout.write(_result(stage, ending) if as_json else "".join(f"{answer}\n" for answer in stage.answers))
    sys.stdout.flush()
    stage.around.hooks.close(10.0)
    return code


def _played(stage: Headless, playing: Playing) -> Ending:
    answer: Answer = None
    try:
        while True:
            answer = stage.waited(playing.send(answer))
    except StopIteration as over:
        return over.value or Ending()
    except NobodyThere as nobody:
        return Ending("error", str(nobody))
    finally:
        playing.close()


def _result(stage: Headless, ending: Ending) -> str:
    told = {
        "type": "result",
        "is_error": ending.outcome != "done",
        "outcome": ending.outcome,
        "error": ending.error,
        "result": "\n".join(stage.answers),
        "session_id": stage.memory.session,
        "turn": stage.memory.turns,
    }
    return json.dumps(told) + "\n"


@dataclass(slots=True)
class Headless(Acting):
    """The stage of one turn that nobody watches."""

    signals: Signals
    answers: list[str] = field(default_factory=list)
    shell: RunningShell | None = None

    def waited(self, wait: Wait) -> Answer:
        """Raises NobodyThere, Told."""
        if isinstance(wait, Pause):
            self._sleep(wait.seconds)
            return None
        return self._run(wait.command) if isinstance(wait, Shell) else self._decline(wait.choice)

    def read(self, fd: int) -> str:
        """All of it, as UTF-8. Raises Told."""
        chunks: list[bytes] = []
        while True:
            self.signals.check()
            if self.signals.wait([fd], None):
                chunks.append(os.read(fd, 65536))
                if not chunks[-1]:
                    return b"".join(chunks).decode("utf-8", "replace")

    def close(self) -> None:
        """Leaves no child."""
        if self.shell is not None:
            self.shell.kill()
        self.around.hooks.close(0.0)

    def _sleep(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.signals.check()
            self.signals.wait([], min(left, LONGEST_WAIT_S))
        self.signals.check()

    def _run(self, command: str) -> ShellResult:
        try:
            self.shell = RunningShell(command)
        except (OSError, ValueError) as error:
            result = ShellResult(127, str(error))
        else:
            result = self._awaited(self.shell)
        self.shell = None
        self.ran(command, result)
        return result

    def _awaited(self, shell: RunningShell) -> ShellResult:
        while (result := shell.poll()) is None:
            self.signals.check()
            self.signals.wait([] if shell.fd is None else [shell.fd], CLOSED_OUTPUT_S if shell.fd is None else None)
        return result

    def _decline(self, choice: Choice) -> int:
        self.asked(choice)
        if choice.kind != "permission":
            message = f"nobody can answer a dialog here: {choice.heading}"
            raise NobodyThere(message)
        return len(choice.options) - 1

    def say(self, kind: str, text: str) -> None:
        if kind == "answer":
            self.answers.append(text)
        else:
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    def draft(self, text: str) -> None:
        """There is no composer."""

    def quit(self, code: int) -> None:
        raise Left(code)

    def hang(self) -> None:
        self.around.log.write("hang")
