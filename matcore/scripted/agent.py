"""The program as a state machine: keys and the time go in, a view comes out. It knows no terminal.

What it is doing is at most one of: starting, a turn, a command of the user's (`!`). A dialog stands in front of all.
"""

from __future__ import annotations

import collections
import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from matcore.scripted import steps
from matcore.scripted.editor import Editor
from matcore.scripted.hooks import Hooks
from matcore.scripted.keys import Event, Key, Paste, Typed
from matcore.scripted.log import Log, boot_s
from matcore.scripted.memory import Memory
from matcore.scripted.script import Script
from matcore.scripted.shell import RunningShell
from matcore.scripted.stage import Answer, Choice, Choose, Context, Ending, Pause, Playing, Shell, ShellResult
from matcore.scripted.view import Block, View, tool_text

TICK_S = 0.125
AGAIN_S = 2.0


@dataclass(frozen=True, slots=True)
class Around:
    """What the agent lives in."""

    role: str
    log: Log
    hooks: Hooks
    wall: Callable[[], float]


@dataclass(slots=True)
class Turn:
    """What keeps the agent busy. `playing` is None for a command of the user's, which is no turn."""

    text: str
    started: float
    started_boot_s: float
    playing: Playing | None = None
    answer: Answer = None
    until: float | None = None
    shows_busy: bool = True
    shell: RunningShell | None = None


@dataclass(slots=True)
class Opened:
    """A dialog on the screen. At the start it belongs to no turn."""

    choice: Choice
    chosen: int = 0
    at_start: bool = False


@dataclass(slots=True)
class Agent:
    """`began` is the time of the start on the clock that is handed in everywhere."""

    script: Script
    memory: Memory
    around: Around
    began: float
    blocks: list[Block] = field(default_factory=list)
    leave: int | None = None
    hung: bool = False
    context: Context = field(init=False)
    editor: Editor = field(init=False)

    _now: float = field(init=False)
    _ready: bool = False
    _turn: Turn | None = None
    _opened: Opened | None = None
    _queue: collections.deque[str] = field(default_factory=collections.deque)
    _pasted_at: float | None = None
    _interrupted_at: float | None = None

    def __post_init__(self) -> None:
        self._now = self.began
        self.editor = Editor(self.script.options.collapse_paste)
        self.context = self._context("")
        self.blocks.append(Block("header", f"scripted agent (role {self.around.role or 'none'})\n{Path.cwd()}"))

    # What the loop calls.

    def feed(self, events: Iterable[Event], now: float) -> None:
        """Takes in what was typed."""
        self._now = now
        for event in events:
            if self.leave is not None or self.hung:
                return
            if not self._ready:
                self.around.log.write("discarded", why="starting", event=repr(event))
            elif self._opened is not None:
                self._answer_dialog(self._opened, event)
            else:
                self._edit(event)
                self.advance(now)

    def advance(self, now: float) -> None:
        """Does all that is due."""
        self._now = now
        if not self._ready and not self._start():
            return
        while self.leave is None and not self.hung and self._opened is None:
            if self._turn is None:
                if not self._queue:
                    return
                self._begin(self._queue.popleft())
            elif not self._go_on(self._turn):
                return

    def wait_s(self) -> float | None:
        """How long nothing is due, as far as time goes. None: for ever."""
        options = self.script.options
        due: list[float] = []
        if not self._ready:
            due += [at for at in (self.began + options.start_delay_s, self._hears_at()) if at >= self._now]
        if self._turn is not None and self._opened is None:
            due.append(self._now + (0.05 if self._turn.shell and self._turn.shell.fd is None else TICK_S))
            if self._turn.until is not None:
                due.append(self._turn.until)
        if self._interrupted_at is not None:
            due.append(self._interrupted_at + AGAIN_S)
        return max(min(due) - self._now, 0.0) if due else None

    def fds(self) -> list[int]:
        """Where a command's output comes from."""
        shell = self._turn.shell if self._turn else None
        return [shell.fd] if shell and shell.fd is not None else []

    def view(self, now: float) -> View | None:
        """What is to be seen; None while nothing has been painted yet."""
        options = self.script.options
        if now < self.began + options.start_delay_s:
            return None
        shown, cursor = self.editor.shown
        turn = self._turn if self._turn and self._turn.shows_busy else None
        armed = self._interrupted_at is not None and now < self._interrupted_at + AGAIN_S
        return View(
            draft=shown,
            cursor=cursor,
            placeholder=options.placeholder,
            composer=options.composer,
            footer="Press Ctrl-C again to exit" if armed else options.footer,
            busy_style=options.busy_style,
            busy_s=now - turn.started if turn else None,
            tick=int((now - self.began) / TICK_S) if turn else 0,
            queued=tuple(self._queue),
            choice=self._opened.choice if self._opened else None,
            chosen=self._opened.chosen if self._opened else 0,
        )

    def close(self) -> None:
        """Ends a command that still runs."""
        if self._turn and self._turn.shell:
            self._turn.shell.kill()

    # Start and dialogs.

    def _hears_at(self) -> float:
        return self.began + self.script.options.start_delay_s + self.script.options.start_deaf_s

    def _start(self) -> bool:
        if self._now < self._hears_at():
            return False
        self._ready = True
        if self.script.options.start is not None:
            self._open(Opened(self.script.options.start, at_start=True))
        else:
            self._hook("session-start")
        return True

    def _open(self, opened: Opened) -> None:
        self._opened = opened
        choice = opened.choice
        self.around.log.write("dialog", kind=choice.kind, heading=choice.heading, detail=choice.detail)
        if choice.kind == "permission":
            self._hook("permission-asked", command=choice.detail.removeprefix("$ "))

    def _answer_dialog(self, opened: Opened, event: Event) -> None:
        last = len(opened.choice.options) - 1
        if isinstance(event, Paste):
            self.around.log.write("discarded", why="dialog", text=event.text)
        elif isinstance(event, Typed):
            digit = next((int(char) for char in event.text if char.isdecimal() and 1 <= int(char) <= last + 1), None)
            if digit is None:
                self.around.log.write("discarded", why="dialog", text=event.text)
            else:
                self._chosen(opened, digit - 1)
        elif event.name in ("up", "down"):
            opened.chosen = min(max(opened.chosen + (1 if event.name == "down" else -1), 0), last)
        elif event.name == "enter":
            self._chosen(opened, opened.chosen)
        elif event.name in ("escape", "ctrl-c"):
            self._chosen(opened, last)

    def _chosen(self, opened: Opened, option: int) -> None:
        self._opened = None
        text = opened.choice.options[option]
        self.around.log.write("answered", kind=opened.choice.kind, option=option + 1, text=text)
        if not opened.at_start:
            if self._turn is not None:
                self._turn.answer = option
        elif opened.choice.kind != "menu" and option == len(opened.choice.options) - 1 > 0:
            self.quit(1)
        else:
            self._hook("session-start")
        self.advance(self._now)

    # Typing.

    def _edit(self, event: Event) -> None:
        if isinstance(event, Key):
            self._key(event.name)
            return
        self._interrupted_at = None
        if isinstance(event, Paste):
            self.editor.paste(event.text)
            self._pasted_at = self._now
        else:
            self.editor.insert(event.text)

    def _key(self, name: str) -> None:
        if name == "enter":
            self._enter()
        elif name == "escape":
            if self._turn is not None:
                self._interrupt()
        elif name == "ctrl-c":
            self._ctrl_c()
        else:
            self.editor.key(name)

    def _ctrl_c(self) -> None:
        if self._interrupted_at is not None and self._now < self._interrupted_at + AGAIN_S:
            self.quit(0)
            return
        self._interrupted_at = self._now
        self.editor.clear()
        if self._turn is not None:
            self._interrupt()

    def _enter(self) -> None:
        settle_s = self.script.options.swallow_enter_ms / 1000
        if self._pasted_at is not None and self._now < self._pasted_at + settle_s:
            self.around.log.write("swallowed-enter", draft=self.editor.text)
            return
        text = self.editor.text
        if not text.strip():
            return
        self._interrupted_at = None
        word = text.strip().split()[0]
        if word in ("/exit", "/quit"):
            self._submitted(text, "command")
            self.quit(0)
        elif word.startswith("/"):
            self.around.log.write("refused-command", text=text)
            self.blocks.append(Block("error", f"Unrecognized command {word}"))
        else:
            self.editor.clear()
            self._submit(text)

    def _submit(self, text: str) -> None:
        busy = self._turn is not None
        queue = self.script.options.queue
        if not busy:
            self._submitted(text, "shell" if text.startswith("!") else "turn")
            self._begin(text)
        elif queue == "lose":
            self._submitted(text, "lost")
        elif queue == "steer" and self._turn and self._turn.playing and not text.startswith("!"):
            self._submitted(text, "steered")
            self._steer(self._turn, text)
        else:
            self._submitted(text, "queued")
            self._queue.append(text)

    def _submitted(self, text: str, how: str) -> None:
        self.around.log.write("submitted", text=text, how=how)

    # Turns.

    def _begin(self, text: str) -> None:
        self.blocks.append(Block("you", text))
        self._turn = Turn(text, self._now, boot_s())
        if text.startswith("!"):
            self._shell(self._turn, text[1:].strip())
            return
        self.memory.turns += 1
        self.context = self._context(text)
        self._hook("prompt-submitted")
        self._hook("turn-started")
        self._play(self._turn, text)

    def _play(self, turn: Turn, text: str) -> None:
        refusal = self.memory.refusal(self.around.wall())
        rule, found = (None, ()) if refusal else self.memory.pick(self.script, text)
        self.memory.save()
        self.around.log.write("turn-started", turn=self.memory.turns, rule=rule, text=text)
        turn.playing = _refused(refusal) if refusal else steps.play(found, self)

    def _steer(self, turn: Turn, text: str) -> None:
        """The message takes over the turn: at once, or after the command that runs."""
        self.blocks.append(Block("you", text))
        turn.text = text
        self.context = self._context(text)
        self._hook("prompt-submitted")
        if turn.playing is not None:
            turn.playing.close()
        self._play(turn, text)
        turn.until = None
        turn.answer = None

    def _go_on(self, turn: Turn) -> bool:
        """One wait further. Whether there is more to do now."""
        if turn.until is not None:
            if self._now < turn.until:
                return False
            turn.until = None
            turn.shows_busy = True
        if turn.shell is not None and not self._shell_over(turn, turn.shell):
            return False
        if turn.playing is None:
            self._turn = None
            return True
        try:
            answer, turn.answer = turn.answer, None
            wait = turn.playing.send(answer)
        except StopIteration as over:
            self._ended(turn, over.value or Ending())
            return True
        if isinstance(wait, Pause):
            turn.until = self._now + wait.seconds
            turn.shows_busy = wait.busy
        elif isinstance(wait, Shell):
            self._shell(turn, wait.command)
        elif isinstance(wait, Choose):
            self._open(Opened(wait.choice))
        return True

    def _shell(self, turn: Turn, command: str) -> None:
        try:
            turn.shell = RunningShell(command)
        except (OSError, ValueError) as error:
            self._shown(turn, command, ShellResult(127, str(error)))

    def _shell_over(self, turn: Turn, shell: RunningShell) -> bool:
        result = shell.poll()
        if result is None:
            return False
        turn.shell = None
        self._shown(turn, shell.command, result)
        return True

    def _shown(self, turn: Turn, command: str, result: ShellResult) -> None:
        self.around.log.write("ran", command=command, exit=result.code, output=result.output)
        self.blocks.append(Block("tool", tool_text(command, result.output, result.code)))
        turn.answer = result

    def _interrupt(self) -> None:
        turn = self._turn
        if turn is None:
            return
        if turn.shell is not None:
            turn.shell.kill()
        if turn.playing is not None:
            turn.playing.close()
        self._ended(turn, Ending("interrupted", "Interrupted by the user"))

    def _ended(self, turn: Turn, ending: Ending) -> None:
        self._turn = None
        if ending.error is not None:
            self.blocks.append(Block("error", ending.error))
        if turn.playing is None:
            return
        seconds = self._now - turn.started
        self.blocks.append(Block("note", f"Worked for {int(seconds)}s" if seconds >= 1 else "Worked for <1s"))
        self.around.log.write("turn-ended", turn=self.memory.turns, outcome=ending.outcome, error=ending.error)
        if ending.outcome not in self.script.options.silent_endings:
            self._hook(
                "turn-ended", outcome=ending.outcome, error=ending.error, turn_started_boot_s=turn.started_boot_s
            )

    def _context(self, request: str) -> Context:
        return Context(request, self.around.role, self.memory.session, self.memory.turns, self.around.wall)

    def _hook(self, event: str, **facts: object) -> None:
        self.around.hooks.fire(
            event,
            {
                "session_id": self.memory.session,
                "role": self.around.role,
                "cwd": str(Path.cwd()),
                "turn": self.memory.turns,
                "boot_s": boot_s(),
                "prompt": self.context.request or None,
                "outcome": None,
                "error": None,
                **facts,
            },
        )

    # The stage of the steps.

    def say(self, kind: str, text: str) -> None:
        self.blocks.append(Block(kind, text))

    def write(self, path: str, text: str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
        self.blocks.append(Block("answer", f"Wrote {path}"))

    def draft(self, text: str) -> None:
        self.editor.insert(text)

    def compacted(self) -> None:
        self._hook("compaction")

    def exhausted(self) -> None:
        self.memory.is_exhausted = True
        self.memory.save()

    def limited(self, until: float) -> None:
        self.memory.limited_until = until
        self.memory.save()

    def quit(self, code: int) -> None:
        self.leave = code

    def crash(self, code: int | None, signal: int | None) -> None:
        end_now(self.around.log, code, signal)

    def hang(self) -> None:
        self.around.log.write("hang")
        self.hung = True


def end_now(log: Log, code: int | None, number: int | None) -> None:
    """Ends the process as a crash does. Does not return."""
    log.write("crash", code=code, signal=number)
    if number is not None:
        signal.signal(number, signal.SIG_DFL) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), number)
    os._exit(1 if code is None else code)


def _refused(ending: Ending) -> Playing:
    yield Pause(0.1)
    return ending
