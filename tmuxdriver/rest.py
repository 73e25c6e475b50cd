"""What of a screen tells rest from work beside its marks: whether it stands still, and whether a turn has begun. Pure.

Looks come once a second, and so may whatever a program shows: idle for 200 ms on each beat, it would be seen idle for
ever. A screen that shows the same and yet was written to meanwhile is therefore looked at off the beat, too, before it
counts as still. And a turn may show no mark at all while its answer grows: what always shows is the prompt that began
it, in the transcript above the composer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

OFF_BEAT_S = (0.25, 0.2)
"""The pauses before the two looks off the beat."""
_AN_END = 40
"""So many characters are enough to know the end of a turn by, whose beginning has scrolled away."""


@dataclass(slots=True)
class Still:
    """A screen that has shown `picture` since `since_s`, seen so `looks` times.

    `written` is when tmux saw output of the pane last, at the first of these looks; empty where nobody asked.
    """

    picture: str
    since_s: float
    written: str = ""
    looks: int = 1
    is_restless: bool = False
    """Whether something was written, although it shows the same."""
    off_beat: int = 0

    def seen_again(self, written: str, *, off_beat: bool) -> None:
        self.looks += 1
        self.off_beat += off_beat
        self.is_restless = self.is_restless or (bool(written) and written != self.written)

    def has_stood(self, now_s: float, for_s: float) -> bool:
        """Whether it has shown the same for so long, over two looks at least."""
        return self.looks > 1 and now_s - self.since_s >= for_s

    @property
    def is_doubtful(self) -> bool:
        """Whether it must be looked at off the beat first."""
        return self.is_restless and self.off_beat < len(OFF_BEAT_S)


def begins_turn(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a transcript shows a prompt that it did not show before.

    Both are `Screen.turns`. The one before may have lost rows at its top, have been wrapped anew, or have gained rows
    that belong to no new turn.
    """
    if len(after) < 2 or tuple(before) == tuple(after):
        return False
    last, earlier = after[-1], _text("".join(after[:-1]))
    if len(before) < 2:
        shown = _text("".join(before))
        return not shown or not _text(last).endswith(shown)
    was_last = _text(before[-1])
    if earlier.endswith(was_last) or (len(earlier) >= _AN_END and was_last.endswith(earlier)):
        return True
    return not any(_is_same(_prompt(last), _prompt(turn)) for turn in before[1:])


def _text(turn: str) -> str:
    return turn.replace("\n", "")


def _prompt(turn: str) -> str:
    return turn.partition("\n")[0]


def _is_same(one: str, other: str) -> bool:
    """The first row of a prompt, however wide the window is."""
    return one.startswith(other) or other.startswith(one)
