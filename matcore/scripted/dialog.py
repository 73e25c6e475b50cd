"""An open dialog. It behaves as those of real agents do: pasted text is dropped, Enter takes the marked option."""

from __future__ import annotations

from dataclasses import dataclass

from matcore.scripted.keys import Event, Key, Paste
from matcore.scripted.stage import Choice


@dataclass(slots=True)
class Opened:
    """At the start it belongs to no turn."""

    choice: Choice
    at_start: bool = False
    marked: int = 0

    @property
    def last(self) -> int:
        return len(self.choice.options) - 1

    @property
    def declines(self) -> int | None:
        """The option by which a start is called off."""
        return self.last if self.choice.kind != "menu" and self.last > 0 else None

    def take(self, event: Event) -> int | None:
        """The option that the event chooses, if any."""
        if isinstance(event, Paste):
            return None
        if isinstance(event, Key):
            return self._key(event.name)
        digits = (ord(char) - ord("1") for char in event.text)
        return next((digit for digit in digits if 0 <= digit <= self.last), None)

    def _key(self, name: str) -> int | None:
        if name in ("up", "down"):
            self.marked = min(max(self.marked + (1 if name == "down" else -1), 0), self.last)
        return {"enter": self.marked, "escape": self.last, "ctrl-c": self.last}.get(name)
