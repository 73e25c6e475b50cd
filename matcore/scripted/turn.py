"""What keeps the agent busy: the steps of a turn, or a command of the user's. It is told the time and never blocks."""

from __future__ import annotations

from dataclasses import dataclass

from matcore.scripted.acting import Acting
from matcore.scripted.log import boot_s
from matcore.scripted.shell import RunningShell
from matcore.scripted.stage import Answer, Choice, Ending, Pause, Playing, Shell, ShellResult


@dataclass(slots=True)
class Turn:
    """`playing` is None for a command of the user's, which is no turn. A dialog is answered by setting `answer`."""

    stage: Acting
    started: float
    playing: Playing | None
    answer: Answer = None
    until: float | None = None
    shows_busy: bool = True
    shell: RunningShell | None = None
    started_boot_s: float = 0.0
    _begun: bool = False

    def __post_init__(self) -> None:
        self.started_boot_s = boot_s()

    def go_on(self, now: float) -> Ending | Choice | None:
        """As far as it goes: to its end, to a dialog, or (None) to something that takes its time."""
        while self._free(now):
            if self.playing is None:
                return Ending()
            answer = self.answer if self._begun else None  # an answer may be for steps that were steered away from
            self._begun, self.answer = True, None
            try:
                wait = self.playing.send(answer)
            except StopIteration as over:
                return over.value or Ending()
            if isinstance(wait, Pause):
                self.until = now + wait.seconds
                self.shows_busy = wait.busy
            elif isinstance(wait, Shell):
                self.run(wait.command)
            else:
                return wait.choice
        return None

    def run(self, command: str) -> None:
        """Start a command; its result becomes the answer."""
        try:
            self.shell = RunningShell(command)
        except (OSError, ValueError) as error:
            self._ran(command, ShellResult(127, str(error)))

    def steer(self, playing: Playing) -> None:
        """Other steps from now on; a command that runs is waited for."""
        if self.playing is not None:
            self.playing.close()
        self.playing = playing
        self.until = None
        self.shows_busy = True
        self._begun = False

    def stop(self) -> None:
        """Leaves nothing that runs."""
        if self.shell is not None:
            self.shell.kill()
            self.shell = None
        if self.playing is not None:
            self.playing.close()

    def _free(self, now: float) -> bool:
        if self.until is not None:
            if now < self.until:
                return False
            self.until = None
            self.shows_busy = True
        if self.shell is None:
            return True
        result = self.shell.poll()
        if result is None:
            return False
        command, self.shell = self.shell.command, None
        self._ran(command, result)
        return True

    def _ran(self, command: str, result: ShellResult) -> None:
        self.stage.ran(command, result)
        self.answer = result
