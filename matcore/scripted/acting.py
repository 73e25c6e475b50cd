"""What all stages have in common: a message becomes a turn, steps reach the session's memory, the hooks, the disk."""

from __future__ import annotations

import abc
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

from matcore.scripted import steps
from matcore.scripted.around import Around
from matcore.scripted.memory import Memory
from matcore.scripted.script import Script
from matcore.scripted.stage import Choice, Context, Ending, Pause, Playing, ShellResult
from matcore.scripted.view import tool_text

_UNCATCHABLE = (signal.SIGKILL, signal.SIGSTOP)


@dataclass(slots=True)
class Acting(abc.ABC):
    """A stage without a surface."""

    script: Script
    memory: Memory
    around: Around
    context: Context = field(init=False)

    def __post_init__(self) -> None:
        self._heard("")

    def turn(self, text: str) -> Playing:
        """A new turn for a message: what is to be played."""
        self.memory.turns += 1
        self._heard(text)
        self.hook("prompt-submitted")
        self.hook("turn-started")
        return self._playing(text)

    def steered(self, text: str) -> Playing:
        """A message that takes over the turn which is under way."""
        self._heard(text)
        self.hook("prompt-submitted")
        return self._playing(text)

    def ended(self, ending: Ending, **facts: object) -> None:
        """The turn is over."""
        outcome, error = ending.outcome, ending.error
        self.around.log.write("turn-ended", turn=self.memory.turns, outcome=outcome, error=error)
        if outcome not in self.script.options.silent_endings:
            self.hook("turn-ended", outcome=outcome, error=error, **facts)

    def asked(self, choice: Choice) -> None:
        """A dialog is shown."""
        self.around.log.write("dialog", kind=choice.kind, heading=choice.heading, detail=choice.detail)
        if choice.kind == "permission":
            self.hook("permission-asked", command=choice.detail.removeprefix("$ "))

    def ran(self, command: str, result: ShellResult) -> None:
        """A command has ended."""
        self.around.log.write("ran", command=command, exit=result.code, output=result.output)
        self.say("tool", tool_text(command, result.output, result.code))

    def hook(self, event: str, **facts: object) -> None:
        self.around.tell(event, self.memory, self.context.request, **facts)

    def _heard(self, text: str) -> None:
        self.context = Context(text, self.around.role, self.memory.session, self.memory.turns, self.around.wall)

    def _playing(self, text: str) -> Playing:
        refusal = self.memory.refusal(self.around.wall())
        rule, found = (None, ()) if refusal else self.memory.pick(self.script, text)
        self.memory.save()
        self.around.log.write("turn-started", turn=self.memory.turns, rule=rule, text=text)
        return _refused(refusal) if refusal else steps.play(found, self)

    # What steps may do, see `stage.Stage`.

    @abc.abstractmethod
    def say(self, kind: str, text: str) -> None: ...

    @abc.abstractmethod
    def draft(self, text: str) -> None: ...

    @abc.abstractmethod
    def quit(self, code: int) -> None: ...

    @abc.abstractmethod
    def hang(self) -> None: ...

    def write(self, path: str, text: str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
        self.say("note", f"Wrote {path}")

    def compacted(self) -> None:
        self.hook("compaction")

    def exhausted(self) -> None:
        self.memory.is_exhausted = True
        self.memory.save()

    def limited(self, until: float) -> None:
        self.memory.limited_until = until
        self.memory.save()

    def crash(self, code: int | None, number: int | None) -> None:
        self.around.log.write("crash", code=code, signal=number)
        if number is not None:
            if number not in _UNCATCHABLE:
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        os._exit(1 if code is None else code)


def _refused(ending: Ending) -> Playing:
    yield Pause(0.1)
    return ending
