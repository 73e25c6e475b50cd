"""A text of ours that was typed and, as far as anybody knows, not submitted: it may still stand in the composer.

Only where it provably stands there whole and alone is it ours to submit. What a person has added to it or taken from it
is a person's draft. A collapsed paste shows a count and no word of its text, and a person's may count the same: it is
ours only while nobody has pressed a key at the session since ours was typed.
"""

from __future__ import annotations

from dataclasses import dataclass

from tmuxdriver.compare import counts, squeeze
from tmuxdriver.profile import pattern
from tmuxdriver.screen import Screen


@dataclass(frozen=True, slots=True)
class Left:
    """`pasted` is how the program shows a collapsed paste.

    `touched`: when somebody had last pressed a key at the session as this was typed (`session_activity`); None where
    that is not known, after a restart say.
    """

    text: str
    pasted: str | None
    touched: str | None = None

    def stands_in(self, screen: Screen, touched: str) -> bool:
        """Whether the composer holds this text alone; a collapsed one by the lines or characters that it counts, while
        the session is still `touched` as it was.
        """
        if screen.composer != "draft":
            return False
        shown = screen.typed.strip()
        if self.pasted is None or not pattern(self.pasted).fullmatch(shown):
            return squeeze(shown) == squeeze(self.text)
        return touched == self.touched and counts(shown, self.text) is True
