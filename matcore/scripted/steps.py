"""The steps of a script, each with what it does on a stage. A step waits by yielding and ends the turn by returning."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from matcore.scripted.stage import Answer, Choice, Choose, Ending, Pause, Playing, Shell, ShellResult, Stage, Wait

PAINTED_S = 0.15  # long enough for the state before it to be painted, so that the last frame is the truth


class Step(Protocol):
    """One step of a script."""

    def play(self, stage: Stage) -> Playing:
        """None lets the turn go on with the next step. Raises TemplateError, OSError, ValueError."""


def play(steps: tuple[Step, ...], stage: Stage) -> Generator[Wait, Answer, Ending]:
    """All steps in order. A turn ends after the last one, or where a step says so, or at a fault."""
    try:
        ending = yield from _in_order(steps, stage)
    except (OSError, ValueError) as fault:
        return Ending("error", f"script error: {fault}")
    return ending or Ending()


def _in_order(steps: tuple[Step, ...], stage: Stage) -> Playing:
    for step in steps:
        ending = yield from step.play(stage)
        if ending is not None:
            return ending
    return None


def _run(command: str, stage: Stage) -> Generator[Wait, Answer, ShellResult]:
    result = yield Shell(command)
    if not isinstance(result, ShellResult):
        message = "a command is answered by its result"
        raise TypeError(message)
    stage.context.last = result
    return result


@dataclass(frozen=True, slots=True)
class Work:
    """Busy for `seconds`. Each gap (start, length) shows idle frames, as between two tool calls."""

    seconds: float
    gaps: tuple[tuple[float, float], ...] = ()

    def play(self, stage: Stage) -> Playing:  # noqa: ARG002 - every step is given the stage
        at = 0.0
        for start, length in sorted(self.gaps):
            if start > at:
                yield Pause(start - at)
            yield Pause(length, busy=False)
            at = max(at, start) + length
        if self.seconds > at:
            yield Pause(self.seconds - at)
        return None


@dataclass(frozen=True, slots=True)
class Print:
    """Say a text."""

    text: str

    def play(self, stage: Stage) -> Playing:
        yield Pause(0)
        stage.say("answer", stage.context.fill(self.text))
        return None


@dataclass(frozen=True, slots=True)
class Run:
    """Run a shell command and show its output."""

    command: str

    def play(self, stage: Stage) -> Playing:
        yield from _run(stage.context.fill(self.command), stage)
        return None


@dataclass(frozen=True, slots=True)
class SendRelay:
    """Writes the handoff, then really runs `send-relay [TO] FILE` and shows its answer."""

    body: str
    to: str | None = None
    file: str | None = None
    front: tuple[tuple[str, str], ...] = ()
    again: bool = False

    def play(self, stage: Stage) -> Playing:
        fill = stage.context.fill
        path = fill(self.file or "handoff-{{role}}-{{turn}}.md")
        front = "".join(f"{key}: {fill(value)}\n" for key, value in self.front)
        body = fill(self.body)
        text = f"---\n{front}---\n{body}" if front else body
        stage.write(path, text if text.endswith("\n") else text + "\n")
        words = ["send-relay", *(["--again"] if self.again else []), *([fill(self.to)] if self.to else []), path]
        yield from _run(shlex.join(words), stage)
        return None


@dataclass(frozen=True, slots=True)
class End:
    """End the turn well."""

    def play(self, stage: Stage) -> Playing:  # noqa: ARG002 - every step is given the stage
        yield Pause(0)
        return Ending()


@dataclass(frozen=True, slots=True)
class Fail:
    """End the turn with an error."""

    error: str

    def play(self, stage: Stage) -> Playing:
        yield Pause(0)
        return Ending("error", stage.context.fill(self.error))


@dataclass(frozen=True, slots=True)
class Ask:
    """A permission dialog for a command. Afterwards the turn goes on, unless `then` or `denied` ended it."""

    permission: str
    then: tuple[Step, ...]
    denied: tuple[Step, ...]

    OPTIONS = (
        "Yes, proceed",
        "Yes, and don't ask again for commands like this",
        "No, and tell the agent what to do differently",
    )

    def play(self, stage: Stage) -> Playing:
        command = stage.context.fill(self.permission)
        answer = yield Choose(Choice("permission", "Would you like to run this command?", self.OPTIONS, f"$ {command}"))
        granted = answer != len(self.OPTIONS) - 1
        stage.say("note", "Permission granted" if granted else "Permission denied")
        return (yield from _in_order(self.then if granted else self.denied, stage))


@dataclass(frozen=True, slots=True)
class Dialog:
    """Show a dialog that is no permission, and go on once it is answered."""

    choice: Choice

    def play(self, stage: Stage) -> Playing:
        answer = yield Choose(self.choice)
        chosen = self.choice.options[answer] if isinstance(answer, int) else "nothing"
        stage.say("note", f"Chosen: {chosen}")
        return None


@dataclass(frozen=True, slots=True)
class Crash:
    """On the spot, without restoring the terminal. `signal` is its number."""

    code: int | None
    signal: int | None = None

    def play(self, stage: Stage) -> Playing:
        yield Pause(PAINTED_S)
        stage.crash(self.code, self.signal)
        return Ending()


@dataclass(frozen=True, slots=True)
class Exit:
    """End the program in good order."""

    code: int

    def play(self, stage: Stage) -> Playing:
        yield Pause(0)
        stage.quit(self.code)
        return Ending()


@dataclass(frozen=True, slots=True)
class Hang:
    """Stop reading and painting, for ever."""

    def play(self, stage: Stage) -> Playing:
        yield Pause(PAINTED_S)
        stage.hang()
        while True:
            yield Pause(math.inf)


@dataclass(frozen=True, slots=True)
class RateLimited:
    """End the turn at a usage limit, which refuses further turns for `until_s` seconds."""

    until_s: float

    def play(self, stage: Stage) -> Playing:
        yield Pause(0)
        until = stage.context.wall() + self.until_s
        stage.limited(until)
        return limit_ending(until)


@dataclass(frozen=True, slots=True)
class Exhaust:
    """End the turn with a full context; every further turn of the agent session fails."""

    def play(self, stage: Stage) -> Playing:
        yield Pause(0)
        stage.exhausted()
        return EXHAUSTED


@dataclass(frozen=True, slots=True)
class Compact:
    """Compact the context."""

    def play(self, stage: Stage) -> Playing:
        yield Pause(0.3)
        stage.compacted()
        stage.say("note", "Context compacted")
        return None


@dataclass(frozen=True, slots=True)
class Draft:
    """Put a text into the composer, as if a person had typed it."""

    text: str

    def play(self, stage: Stage) -> Playing:
        yield Pause(0)
        stage.draft(stage.context.fill(self.text))
        return None


@dataclass(frozen=True, slots=True)
class Flood:
    """Say so many lines at once."""

    lines: int

    def play(self, stage: Stage) -> Playing:
        yield Pause(0)
        stage.say("answer", "\n".join(f"flood line {n} of {self.lines}" for n in range(1, self.lines + 1)))
        return None


EXHAUSTED = Ending("exhausted", "Context window full")


def limit_ending(until: float) -> Ending:
    """`until` is a time of the wall clock; the notice names it in local time."""
    return Ending("rate-limited", f"Usage limit reached, resets at {time.strftime('%H:%M:%S', time.localtime(until))}")
