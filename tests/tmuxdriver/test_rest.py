"""What tells rest from work beside marks: a screen that stands still, and a transcript that shows a new prompt."""

from __future__ import annotations

import pytest

from tmuxdriver.cells import Capture
from tmuxdriver.profile import load
from tmuxdriver.rest import OFF_BEAT_S, Still, begins_turn
from tmuxdriver.screen import read

RULE = "─" * 30


def turns(*rows: str, draft: str = "") -> tuple[str, ...]:
    """The turns that the scripted agent's profile finds above an idle composer."""
    text = "\n".join([*rows, "", RULE, f"> {draft}", RULE, "  ? for shortcuts"])
    return read(load("scripted"), Capture(text)).turns


HEAD = ("scripted agent (role dev)", "/work")
ONE = ("> do this", "", "• Done.", "", "  Worked for 3s")
TWO = ("> do that", "", "• Let me see.")


def test_a_screen_that_was_written_to_and_shows_the_same_is_looked_at_off_the_beat_first() -> None:
    """Twice; one that nobody wrote to is still as it is."""
    still = Still("a", 10.0, written="100")
    still.seen_again("100", off_beat=False)
    assert still.has_stood(12.0, 2.0)
    doubts = [still.is_doubtful]
    still.seen_again("101", off_beat=False)
    for _ in OFF_BEAT_S:
        doubts.append(still.is_doubtful)
        still.seen_again("101", off_beat=True)
    assert [*doubts, still.is_doubtful] == [False, True, True, False]


@pytest.mark.field_case("Idle and busy")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HEAD, (*HEAD, *TWO)),
        ((), TWO),
        ((*HEAD, *ONE), (*HEAD, *ONE, *TWO)),
        ((*HEAD, *ONE), (*HEAD, *ONE, "> do this")),
        ((*HEAD, *ONE), (*HEAD, *ONE, *ONE)),
        ((*HEAD, *ONE), ("  Worked for 3s", *TWO)),
        (("> do this", *(f"• row {n} of a long answer" for n in range(20))),
         (*(f"• row {n} of a long answer" for n in range(12, 20)), "> do this", "• Again.")),
        (tuple(f"• row {n} of a long answer" for n in range(20)), ("• row 19 of a long answer", "> do this")),
    ],
)  # fmt: skip
def test_a_new_prompt_begins_a_turn(before: tuple[str, ...], after: tuple[str, ...]) -> None:
    """The first one, another one, the same one again, after an answer that has scrolled away in part."""
    assert begins_turn(turns(*before), turns(*after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((*HEAD, *ONE), (*HEAD, *ONE)),
        ((*HEAD, *ONE), (*HEAD, *ONE, "", "  Update available")),
        ((*HEAD, *ONE, "", "  Update available"), (*HEAD, *ONE)),
        ((*HEAD, *ONE, *TWO), (*ONE, *TWO)),
        ((*HEAD, *ONE, *TWO), ("• Done.", "", "  Worked for 3s", *TWO)),
        ((*ONE, *TWO), (*HEAD, *ONE, *TWO)),
        (("• Done.", "", "  Worked for 3s"), ONE),
        ((*HEAD, "> do this and that at once", "• Done."), (*HEAD, "> do this and", "  that at once", "• Done.")),
        ((*HEAD, *ONE, *TWO), (*HEAD, *ONE)),
        ((*HEAD, *ONE), HEAD),
        ((*HEAD, *ONE), (*HEAD, *ONE, "> /status", "  all is well")),
        ((*HEAD, *ONE), (*HEAD, *ONE, "> !ls", "  notes.md")),
    ],
)
def test_what_else_changes_in_a_transcript_begins_none(before: tuple[str, ...], after: tuple[str, ...]) -> None:
    """A notice that comes or goes, rows that scroll, wrap or are cleared, a command for the program or the shell."""
    assert not begins_turn(turns(*before), turns(*after))


def test_a_draft_is_no_prompt() -> None:
    """However far it pushes the transcript up."""
    assert not begins_turn(turns(*HEAD, *ONE), turns(*ONE[2:], draft="do something else"))
