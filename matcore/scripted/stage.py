"""What a step may do, and what it may wait for. A pane and a headless turn are two stages for the same steps."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Protocol

from matcore.scripted import templates


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended: `done`, `error`, `interrupted`, `exhausted` or `rate-limited`; `error` is what is shown."""

    outcome: str = "done"
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """A dialog: `kind` is permission, trust, login or menu. Enter chooses option 0 unless the mark was moved."""

    kind: str
    heading: str
    options: tuple[str, ...]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so long; `busy` is what the screen shows meanwhile."""

    seconds: float
    busy: bool = True


@dataclass(frozen=True, slots=True)
class Shell:
    """Run a command in the agent's folder. Answered by a ShellResult."""

    command: str


@dataclass(frozen=True, slots=True)
class Choose:
    """Show a dialog. Answered by the number of the option, from 0."""

    choice: Choice


@dataclass(frozen=True, slots=True)
class ShellResult:
    """`code` is negative for a signal, as `subprocess` has it. `output` is stdout and stderr as they came."""

    code: int
    output: str


Wait = Pause | Shell | Choose
Answer = ShellResult | int | None
Playing = Generator[Wait, Answer, Ending | None]


@dataclass(slots=True)
class Context:
    """What the templates of a turn know."""

    request: str
    role: str
    session: str
    turn: int
    wall: Callable[[], float]
    last: ShellResult | None = None

    def fill(self, text: str) -> str:
        """Raises templates.TemplateError."""
        names = {"role": self.role, "session": self.session, "turn": str(self.turn)}
        if self.last is not None:
            names |= {"exit": str(self.last.code), "output": self.last.output.strip()}
        return templates.fill(text, names, self.request)


class Stage(Protocol):
    """What surrounds a turn."""

    context: Context

    def say(self, kind: str, text: str) -> None:
        """Show a block. `kind`: answer, tool, note, error."""

    def write(self, path: str, text: str) -> None:
        """Write a file, relative to the agent's folder. Raises OSError."""

    def draft(self, text: str) -> None:
        """Put text into the composer as if a human had typed it."""

    def compacted(self) -> None:
        """Tell the hooks that the context was compacted."""

    def exhausted(self) -> None:
        """Every further turn of this session fails."""

    def limited(self, until: float) -> None:
        """Refuse turns until that time of the wall clock."""

    def quit(self, code: int) -> None:
        """End the program in good order once the step is over."""

    def crash(self, code: int | None, number: int | None) -> None:
        """End the program on the spot, by exit code or signal number. Does not return."""

    def hang(self) -> None:
        """Neither read nor paint any more."""
