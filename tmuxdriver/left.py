"""A text of ours that was typed and, as far as anybody knows, not submitted: it may still stand in the composer.

Only where it provably stands there whole and alone is it ours to submit. What a person has added to it or taken from it
is a person's draft.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tmuxdriver.compare import squeeze
from tmuxdriver.profile import pattern
from tmuxdriver.screen import Screen

_COUNTED = re.compile(r"(?<![#\d])\d+")


@dataclass(frozen=True, slots=True)
class Left:
    """`pasted` is how the program shows a collapsed paste."""

    text: str
    pasted: str | None

    def stands_in(self, screen: Screen) -> bool:
        """Whether the composer holds this text alone; a collapsed one by the lines or characters that it counts."""
        if screen.composer != "draft":
            return False
        shown = screen.typed.strip()
        if self.pasted is None or not pattern(self.pasted).fullmatch(shown):
            return squeeze(shown) == squeeze(self.text)
        lines = self.text.count("\n")
        return bool({int(number) for number in _COUNTED.findall(shown)} & {lines, lines + 1, len(self.text)})
