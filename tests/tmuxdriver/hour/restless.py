"""A scripted agent whose turns are made up at random, for `record.py`: busy in every way, and between, not to be seen.

    python -m tests.tmuxdriver.hour.restless SEED LOG [--hooks FILE] [--untitled] [--composer C] [--screen S]

A turn is a few stretches: a mark of work in a row, in the footer or in the title alone; text that grows without any
mark; gaps of 200 ms between two tool calls, at random or on a beat; a permission dialog; a turn of a tenth of a second.
Answers quote the marks, and the footer tells of shells in the background. With hooks it may also be still and without
a mark for a long while. A prompt that says `background` makes the footer tell of a shell until another one does.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from matcore.scripted.agent import Agent, Pane
from matcore.scripted.around import Around
from matcore.scripted.hooks import Hooks
from matcore.scripted.log import Log
from matcore.scripted.loop import run
from matcore.scripted.memory import Memory
from matcore.scripted.script import EVENTS, Options, Rule, Script
from matcore.scripted.signals import Signals
from matcore.scripted.stage import Choice, Choose, Pause, Playing, Stage
from matcore.scripted.terminal import Terminal
from matcore.scripted.view import View

GAP_S = 0.2
MOST_STILL_S = 1.5
"""Nothing but a hook tells work from rest where a screen without a mark stands still for longer."""
QUOTES = (
    "It shows `* Working (12s - esc to interrupt)` while it works.",
    "* Working (3s - esc to interrupt)",
    "The footer then says\nesc to interrupt\nand nothing else.",
    "Look for /^[*+x] .*\\(\\d+s - esc to interrupt\\)$/ above the composer.",
    "⠂ scripted was the title.",
)
FOOTERS = ("? for shortcuts", "1 shell running · ? for shortcuts", "2 background shells · ctrl-b to see them")
DOING = ("Working", "Reading 3 files", "Running make test", "Pondering…")
STYLES = ("status", "status", "footer", "title")


@dataclass(slots=True)
class RestlessPane(Pane):
    """Beside a pane's things how this moment is to look."""

    style: str = "status"
    doing: str = "Working"
    footer: str = FOOTERS[0]
    quiet: bool = False
    """Whether it may stand still without a mark for long: only where hooks tell of it."""


class RestlessAgent(Agent):
    """Shows what its pane says."""

    def view(self, now: float) -> View | None:
        seen, pane = super().view(now), self.pane
        if seen is None or not isinstance(pane, RestlessPane):
            return seen
        return replace(seen, busy_style=pane.style, doing=pane.doing, footer=pane.footer)


@dataclass(frozen=True, slots=True)
class RandomTurn:
    """A step that is a whole turn."""

    choice: random.Random = field(compare=False)

    def play(self, stage: Stage) -> Playing:
        assert isinstance(stage, RestlessPane)
        choice = self.choice
        if "background" in stage.context.request:
            stage.footer = choice.choice(FOOTERS)
        if choice.random() < 0.2:
            yield from self._short(stage)
            return None
        for _ in range(choice.randint(1, 3)):
            stretch = choice.choice((self._marked, self._marked, self._gaps, self._beat, self._streams, self._asks))
            yield from stretch(stage)
            if stage.quiet and choice.random() < 0.2:
                yield Pause(choice.uniform(2, 12), busy=False)
        if choice.random() < 0.5:
            yield Pause(0)
            stage.say("answer", choice.choice(QUOTES))
        return None

    def _short(self, stage: RestlessPane) -> Playing:
        self._look(stage)
        yield Pause(self.choice.uniform(0.02, 0.9))
        stage.say("answer", self.choice.choice(("Done.", *QUOTES)))
        return None

    def _marked(self, stage: RestlessPane) -> Playing:
        """Work with its mark, and now and then what it found."""
        self._look(stage)
        for _ in range(self.choice.randint(1, 3)):
            yield Pause(self.choice.uniform(0.3, 3))
            self._say(stage, 0.6)
        return None

    def _gaps(self, stage: RestlessPane) -> Playing:
        """Tool calls one after the other, the mark gone for 200 ms between them."""
        self._look(stage)
        for _ in range(self.choice.randint(2, 6)):
            yield Pause(self.choice.uniform(0.1, 2))
            self._say(stage, 0.4)
            yield Pause(GAP_S, busy=False)
        return None

    def _beat(self, stage: RestlessPane) -> Playing:
        """As much of the mark as not, on a beat that may be that of whoever looks; nothing is printed."""
        self._look(stage)
        period = self.choice.choice((0.5, 1.0, 1.0, 2.0))
        began = time.monotonic()
        for number in range(self.choice.randint(4, 10)):
            yield Pause(max(0.01, began + (number + 1) * period - GAP_S - time.monotonic()))
            yield Pause(GAP_S, busy=False)
        return None

    def _streams(self, stage: RestlessPane) -> Playing:
        """Text that grows without any mark."""
        for number in range(self.choice.randint(4, 14)):
            stage.say("answer", self.choice.choice((f"Line {number} of an answer", f"{number}", *QUOTES)))
            yield Pause(self.choice.uniform(0.05, MOST_STILL_S), busy=False)
        return None

    def _asks(self, stage: RestlessPane) -> Playing:
        if self.choice.random() < 0.7:
            return None
        self._look(stage)
        yield Pause(self.choice.uniform(0.2, 1.5))
        yield Choose(Choice("permission", "Would you like to run this command?", ("Yes", "No"), "$ make test"))
        stage.say("tool", "Ran make test")
        return None

    def _look(self, stage: RestlessPane) -> None:
        stage.style, stage.doing = self.choice.choice(STYLES), self.choice.choice(DOING)
        if stage.style == "title" and not stage.script.options.title_state:
            stage.style = "status"

    def _say(self, stage: RestlessPane, likely: float) -> None:
        if self.choice.random() < likely:
            kind = self.choice.choice(("answer", "tool", "note"))
            stage.say(kind, self.choice.choice((*QUOTES, "12 passed, 1 failed", "Read notes.md (80 lines)")))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("log", type=Path)
    parser.add_argument("--hooks", type=Path)
    parser.add_argument("--untitled", action="store_true")
    parser.add_argument("--composer", default="ruled")
    parser.add_argument("--screen", default="inline")
    asked = parser.parse_args()
    log = Log(asked.log, "dev")
    told: tuple[str, ...] = ("sh", "-c", f"cat >> {asked.hooks}; echo >> {asked.hooks}")
    commands = {event: [told] for event in EVENTS} if asked.hooks else {}
    options = Options(title_state=not asked.untitled, composer=asked.composer, screen=asked.screen)
    script = Script(options, (Rule(re.compile(""), (RandomTurn(random.Random(asked.seed)),)),))
    around = Around("dev", str(Path.cwd()), log, Hooks(commands, log))
    terminal = Terminal(Signals())
    terminal.open()
    pane = RestlessPane(script, Memory("restless"), around, quiet=asked.hooks is not None)
    agent = RestlessAgent(pane, time.monotonic())
    log.write("start", argv=sys.argv[1:], session=str(os.getpid()))
    try:
        return run(agent, terminal)
    finally:
        agent.close()
        terminal.close()
        around.hooks.close(0.5)


if __name__ == "__main__":
    sys.exit(main())
