"""The program as a state machine: keys and the time go in, a view comes out. It knows no terminal.

What it is doing is at most one of: starting, a turn, a command of the user's (`!`). A dialog stands in front of all.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from dataclasses import dataclass, field

from matcore.scripted.acting import Acting
from matcore.scripted.dialog import Opened
from matcore.scripted.editor import Editor
from matcore.scripted.keys import Event, Key, Paste
from matcore.scripted.stage import Choice, Ending
from matcore.scripted.turn import Turn
from matcore.scripted.view import Block, View

TICK_S = 0.125
CLOSED_OUTPUT_S = 0.05
AGAIN_S = 2.0


@dataclass(slots=True)
class Pane(Acting):
    """The stage that is seen in a terminal. `leave` is the exit code once the program is to end."""

    blocks: list[Block] = field(default_factory=list)
    editor: Editor = field(default_factory=Editor)
    leave: int | None = None
    hung: bool = False

    def say(self, kind: str, text: str) -> None:
        self.blocks.append(Block(kind, text))

    def draft(self, text: str) -> None:
        self.editor.insert(text)

    def quit(self, code: int) -> None:
        self.leave = code

    def hang(self) -> None:
        self.around.log.write("hang")
        self.hung = True


class Agent:
    """`began` is the time of the start, on the clock that is handed in everywhere."""

    def __init__(self, pane: Pane, began: float) -> None:
        self.pane = pane
        self._options = pane.script.options
        self._log = pane.around.log
        self._began = self._now = began
        self._painted_at = began + self._options.start_delay_s
        self._hears_at = self._painted_at + self._options.start_deaf_s
        self._ready = False
        self._turn: Turn | None = None
        self._opened: Opened | None = None
        self._queue: collections.deque[str] = collections.deque()
        self._pasted_at: float | None = None
        self._armed_until = began  # until then a second Ctrl-C ends the program
        pane.editor.collapse = self._options.collapse_paste
        pane.say("header", f"scripted agent (role {pane.around.role or 'none'})\n{pane.around.cwd}")

    # What the loop calls.

    def feed(self, events: Iterable[Event], now: float) -> None:
        """Takes in what was typed."""
        for event in events:
            self._now = now
            if self.pane.leave is not None or self.pane.hung:
                return
            if not self._ready:
                self._log.write("discarded", why="starting", event=repr(event))
            elif self._opened is not None:
                self._answer(self._opened, event)
            else:
                self._edit(event)
            self.advance(now)

    def advance(self, now: float) -> None:
        """Does all that is due."""
        self._now = now
        if not self._ready and now >= self._hears_at:
            self._start()
        while self._ready and self._opened is None and self.pane.leave is None and not self.pane.hung:
            if self._turn is None:
                if not self._queue:
                    return
                self._begin(self._queue.popleft())
            elif not self._go_on(self._turn):
                return

    def wait_s(self) -> float | None:
        """How long nothing is due, as far as time goes. None: for ever."""
        due = [at for at in (self._painted_at, self._hears_at, self._armed_until) if at > self._now]
        turn = self._turn
        if turn is not None and self._opened is None:
            due.append(self._now + (CLOSED_OUTPUT_S if turn.shell and turn.shell.fd is None else TICK_S))
            if turn.until is not None:
                due.append(turn.until)
        return max(min(due) - self._now, 0.0) if due else None

    def fds(self) -> list[int]:
        """Where a command's output comes from."""
        shell = self._turn.shell if self._turn else None
        return [shell.fd] if shell and shell.fd is not None else []

    def view(self, now: float) -> View | None:
        """What is to be seen; None while nothing has been painted yet."""
        if now < self._painted_at:
            return None
        options = self._options
        shown, cursor = self.pane.editor.shown
        turn = self._turn if self._turn and self._turn.shows_busy else None
        return View(
            draft=shown,
            cursor=cursor,
            placeholder=options.placeholder,
            composer=options.composer,
            footer="Press Ctrl-C again to exit" if now < self._armed_until else options.footer,
            busy_style=options.busy_style,
            busy_s=now - turn.started if turn else None,
            tick=int((now - self._began) / TICK_S) if turn else 0,
            queued=tuple(self._queue),
            choice=self._opened.choice if self._opened else None,
            marked=self._opened.marked if self._opened else 0,
        )

    def close(self) -> None:
        """Ends a command that still runs."""
        if self._turn is not None:
            self._turn.stop()

    # Start and dialogs.

    def _start(self) -> None:
        self._ready = True
        if self._options.start is None:
            self.pane.hook("session-start")
        else:
            self._open(Opened(self._options.start, at_start=True))

    def _open(self, opened: Opened) -> None:
        self._opened = opened
        self.pane.asked(opened.choice)

    def _answer(self, opened: Opened, event: Event) -> None:
        option = opened.take(event)
        if option is None:
            if not isinstance(event, Key):
                self._log.write("discarded", why="dialog", text=event.text)
            return
        self._opened = None
        self._log.write("answered", kind=opened.choice.kind, option=option + 1, text=opened.choice.options[option])
        if self._turn is not None:
            self._turn.answer = option
        elif opened.at_start and option == opened.declines:
            self.pane.quit(1)
        else:
            self.pane.hook("session-start")

    # Typing.

    def _edit(self, event: Event) -> None:
        if isinstance(event, Key):
            self._key(event.name)
        elif isinstance(event, Paste):
            self.pane.editor.paste(event.text)
            self._pasted_at = self._now
        else:
            self.pane.editor.insert(event.text)

    def _key(self, name: str) -> None:
        if name == "enter":
            self._enter()
        elif name == "escape":
            self._interrupt()
        elif name == "ctrl-c":
            self._ctrl_c()
        else:
            self.pane.editor.key(name)

    def _ctrl_c(self) -> None:
        if self._now < self._armed_until:
            self.pane.quit(0)
            return
        self._armed_until = self._now + AGAIN_S
        self.pane.editor.clear()
        self._interrupt()

    def _enter(self) -> None:
        text = self.pane.editor.text
        settle_s = self._options.swallow_enter_ms / 1000
        if self._pasted_at is not None and self._now < self._pasted_at + settle_s:
            self._log.write("swallowed-enter", draft=text)
            return
        if not text.strip():
            return
        word = text.split()[0]
        if word in ("/exit", "/quit"):
            self._submitted(text, "command")
            self.pane.quit(0)
        elif word.startswith("/"):
            self._log.write("refused-command", text=text)
            self.pane.say("error", f"Unrecognized command {word}")
        else:
            self.pane.editor.clear()
            self._submit(text)

    def _submit(self, text: str) -> None:
        turn, queue = self._turn, self._options.queue
        shell = text.startswith("!")
        if turn is None:
            self._submitted(text, "shell" if shell else "turn")
            self._begin(text)
        elif queue == "lose":
            self._submitted(text, "lost")
        elif queue == "steer" and turn.playing is not None and not shell:
            self._submitted(text, "steered")
            self.pane.say("you", text)
            turn.steer(self.pane.steered(text))
        else:
            self._submitted(text, "queued")
            self._queue.append(text)

    def _submitted(self, text: str, how: str) -> None:
        self._log.write("submitted", text=text, how=how)

    # Turns.

    def _begin(self, text: str) -> None:
        self.pane.say("you", text)
        if text.startswith("!"):
            self._turn = Turn(self.pane, self._now, None)
            self._turn.run(text[1:].strip())
        else:
            self._turn = Turn(self.pane, self._now, self.pane.turn(text))

    def _go_on(self, turn: Turn) -> bool:
        """Whether there is more to do now."""
        met = turn.go_on(self._now)
        if isinstance(met, Ending):
            self._ended(turn, met)
        elif isinstance(met, Choice):
            self._open(Opened(met))
        return met is not None

    def _interrupt(self) -> None:
        if self._turn is not None:
            self._turn.stop()
            self._ended(self._turn, Ending("interrupted", "Interrupted by the user"))

    def _ended(self, turn: Turn, ending: Ending) -> None:
        self._turn = None
        if ending.error is not None:
            self.pane.say("error", ending.error)
        if turn.playing is not None:
            seconds = int(self._now - turn.started)
            self.pane.say("note", f"Worked for {seconds}s" if seconds else "Worked for <1s")
            self.pane.ended(ending, turn_started_boot_s=turn.started_boot_s)
