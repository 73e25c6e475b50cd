"""What the screen alone tells of a turn's end, and of its beginning. Pure; the caller holds the seat's lock.

Programs fire no hook after Esc and after some errors, and some have no hooks at all. What counts as an end must have
appeared since the turn began: the mark of an earlier one may still stand there. And a program may be slow to show
anything of a text that it took: until then a screen that stands still is no rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tmuxdriver.compare import squeeze
from tmuxdriver.screen import Screen


@dataclass(slots=True)
class Ends:
    """Of one seat. `begins_s`: how long the program may show nothing of a turn; 0 for one that shows it at once."""

    begins_s: float = 0.0
    seen: str | None = None
    """`Screen.ended` of the last look."""
    before: str | None = None
    """As it was when the turn began: it is an earlier turn's."""
    begun_s: float | None = None
    """When the turn began, until the screen has shown the work or its end."""
    prompt: str = ""
    """The first line of the prompt that a hook told of last, without its white space."""
    prompt_goes_on: bool = False

    def looked(self, screen: Screen) -> None:
        """A screen was read. One that shows work shows this turn: what ends on it from now on is it."""
        self.seen = screen.ended
        if screen.state in ("busy", "dialog"):
            self.begun_s = self.before = None

    def began(self, at_s: float | None = None) -> None:
        """A turn begins; `at_s` where nobody but the screen will tell of it."""
        self.before, self.begun_s = self.seen, at_s

    def prompted(self, data: Mapping[str, object]) -> None:
        """A hook told of a prompt: its first line, and how long it is."""
        first = str(data.get("prompt") or "")
        self.prompt, self.prompt_goes_on = squeeze(first), len(first) < int(str(data.get("prompt_length") or 0))

    def shows(self, screen: Screen | None) -> bool:
        """Whether the last look, at `screen`, saw the end of the turn, and the program idle."""
        if screen is None or screen.state != "idle":
            return False
        return self._is_taken_back(screen) or self.seen not in (None, self.before)

    def _is_taken_back(self, screen: Screen) -> bool:
        """Esc before a word of the answer: some programs put the prompt back into the composer."""
        typed = squeeze(screen.typed)
        same = typed.startswith(self.prompt) if self.prompt_goes_on else typed == self.prompt
        return bool(self.prompt) and same

    def may_begin_yet(self, now_s: float, screen: Screen | None) -> bool:
        """Whether what stands still may be a program that has taken a text and is slow to show that it works."""
        waited = self.begun_s is not None and now_s - self.begun_s < self.begins_s
        return waited and not self.shows(screen)
