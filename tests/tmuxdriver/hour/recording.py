"""What was recorded of panes for an hour, and a tmux that plays it again.

One xz file of JSON lines: a head, then one line for each pane. A pane's events are lists, their second item the
milliseconds since the recording began:

- `["f", ms, [[row, text], …], {variable: value}]`: the screen from now on, as it differs from the one before; `text` is
  the number of a row in `texts`, with its styles
- `["began", ms]`, `["ended", ms, outcome]`: the truth about turns, from the agent's own log
- `["hook", ms, data]`: what a hook was told, when its command had ended
- `["types", ms]`, `["enters", ms, text]`, `["landed", ms]`: a text as a delivery types it; `["acts", ms]`: a person
  begins to type
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tmuxdriver.server import Tmux

Event = list[Any]
_NAME = re.compile(r"#\{(?:s/\[\|\]/_/:)?([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class PaneRecord:
    """`about` says how the agent was started; `hooks` is in it."""

    about: Mapping[str, Any]
    texts: Sequence[str]
    events: Sequence[Event]

    def turns(self) -> list[tuple[float, float, str]]:
        """Begin and end in seconds and the outcome of each turn, in order."""
        begins = [event[1] / 1000 for event in self.events if event[0] == "began"]
        ends = [(event[1] / 1000, event[2]) for event in self.events if event[0] == "ended"]
        return [(begin, end, outcome) for begin, (end, outcome) in zip(begins, ends, strict=True)]


@dataclass(frozen=True)
class Recording:
    """`wall_s` is the Unix time at which it began."""

    head: Mapping[str, Any]
    panes: Sequence[PaneRecord]

    @cached_property
    def wall_s(self) -> float:
        return float(self.head["wall_s"])


def save(path: Path, recording: Recording) -> None:
    panes = ({"about": pane.about, "texts": pane.texts, "events": pane.events} for pane in recording.panes)
    lines = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in (recording.head, *panes)]
    path.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))


def load(path: Path) -> Recording:
    head, *panes = (json.loads(line) for line in lzma.decompress(path.read_bytes()).decode().split("\n"))
    return Recording(head, [PaneRecord(pane["about"], pane["texts"], pane["events"]) for pane in panes])


@dataclass
class Played:
    """A tmux server with one pane that shows what was recorded. It answers the two questions that a tick asks."""

    record: PaneRecord
    rows: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)

    def show(self, event: Event) -> None:
        """Take in an `f` event."""
        for number, text in event[2]:
            self.rows += [""] * (number + 1 - len(self.rows))
            self.rows[number] = self.record.texts[text]
        self.variables |= event[3]

    def run(self, *commands: Sequence[str], **_: object) -> str:
        """As `Tmux.run`."""
        return "".join(f"{line}\n" for command in commands for line in self._answer(list(command)))

    def _answer(self, command: list[str]) -> Iterator[str]:
        match command:
            case ["list-panes", "-a", "-F", form] | ["display-message", "-p", "-t", _, form]:
                yield _NAME.sub(lambda found: self.variables.get(found[1], ""), form)
            case ["display-message", "-p", form]:
                yield form
            case ["capture-pane", "-p", "-e", "-t", _]:
                yield "\n".join(self.rows)
            case ["list-clients", *_]:
                return
            case _:
                raise AssertionError(f"a tick asks for nothing else: {command}")

    @property
    def tmux(self) -> Tmux:
        """To be handed to what wants a tmux."""
        return self  # type: ignore[return-value]  # all that is asked of it is `run`
