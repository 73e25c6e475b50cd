"""An agent on a clock of the test's, without a terminal: what the tests of its behaviour share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matcore.scripted import view
from matcore.scripted.agent import Agent, Pane
from matcore.scripted.around import Around
from matcore.scripted.hooks import Hooks
from matcore.scripted.keys import Event, Key, Paste, Typed
from matcore.scripted.log import Log
from matcore.scripted.memory import Memory
from matcore.scripted.reading import parse
from tests.waiting import json_lines, wait_for

START = 1_000.0


class HeardHooks(Hooks):
    """Keeps what was fired and runs nothing."""

    def __init__(self) -> None:
        self.fired: list[tuple[str, dict[str, Any]]] = []

    def fire(self, event: str, facts: Mapping[str, object]) -> None:
        self.fired.append((event, dict(facts)))


class Acted:
    """Presses keys, lets time pass, and says what is to be seen."""

    def __init__(self, script: str, folder: Path, memory: Memory | None = None) -> None:
        self.log_path = folder / "log.jsonl"
        self.hooks = HeardHooks()
        self.now = START
        around = Around("dev", str(folder), Log(self.log_path, "dev"), self.hooks, wall=lambda: self.now)
        self.pane = Pane(parse(script), memory or Memory("s-1"), around)
        self.agent = Agent(self.pane, START)
        self.agent.advance(START)

    def press(self, *events: Event | str) -> None:
        """A text is typed, a key by its name in angle brackets."""
        for event in events:
            if isinstance(event, str):
                event = Key(event[1:-1]) if event.startswith("<") else Typed(event)
            self.agent.feed([event], self.now)

    def say(self, text: str) -> None:
        self.press(Paste(text))
        self.wait(0.2)
        self.press("<enter>")

    def wait(self, seconds: float) -> None:
        """Lets time pass as the loop does: from one deadline to the next."""
        end = self.now + seconds
        while self.now < end:
            due = self.agent.wait_s()
            self.now = end if due is None else min(end, self.now + max(due, 1e-3))
            self.agent.advance(self.now)

    def until_idle(self) -> None:
        """For turns that run real commands."""

        def idle() -> bool:
            self.wait(0.2)
            return not self.busy

        wait_for(idle, what="the end of the turn")

    @property
    def busy(self) -> bool:
        seen = self.agent.view(self.now)
        return seen is not None and seen.busy_s is not None

    @property
    def screen(self) -> str:
        seen = self.agent.view(self.now)
        return "" if seen is None else "\n".join(view.frame(seen, 80, 24).rows)

    @property
    def transcript(self) -> str:
        return "\n".join(f"{block.kind}: {block.text}" for block in self.pane.blocks)

    def logged(self, what: str) -> list[dict[str, Any]]:
        records = json_lines(self.log_path)
        return [record for record in records if record["what"] == what]

    def submitted(self) -> list[tuple[str, str]]:
        return [(record["text"], record["how"]) for record in self.logged("submitted")]

    def endings(self) -> list[tuple[str, str | None]]:
        return [(record["outcome"], record["error"]) for record in self.logged("turn-ended")]
