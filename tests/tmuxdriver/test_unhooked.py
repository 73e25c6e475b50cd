"""Turns whose end no hook tells: real screens of programs that failed or were interrupted, over a channel that says
busy. Only what appeared since the turn began ends it, and only on a screen that stands still."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache

import pytest

from matcore.engine.driver import Sighting
from tests.tmuxdriver.test_screens import FOLDER, PROGRAMS, variables
from tmuxdriver import profile
from tmuxdriver.cells import Capture
from tmuxdriver.compare import normalise
from tmuxdriver.evidence import Evidence
from tmuxdriver.screen import Screen, read
from tmuxdriver.submission import Submission

load = cache(profile.load)
ENDS = {
    "claude": ["launched-after-denial", "launched-after-interrupt"],
    "codex": [
        "after-dropnow", "after-err400", "after-err429", "after-err500", "full-refused", "launched-after-denial",
        "launched-after-error", "launched-after-interrupt",
    ],
    "opencode": [
        "after-text", "draft-scrolled", "launched-after-compact", "launched-after-interrupt", "launched-after-quote",
        "launched-after-tool", "launched-resumed", "launched-shell-empty", "narrow-draft", "paste-4KB", "resized",
        "scrolled-long", "tool-default", "wide", "wide-draft",
    ],
}  # fmt: skip
"""The states of the corpus that are such an end."""


class Seat:
    """A seat that sees recordings, one second apart."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.evidence = Evidence("duo", "dev")
        self.now = 0.0

    def screen(self, state: str) -> tuple[Screen, str]:
        text = (FOLDER / self.program / f"{state}.txt").read_text(encoding="utf-8")
        return read(load(self.program), Capture(text, variables(self.program, state))), normalise(text)

    def sees(self, state: str, for_s: int = 1) -> list[str]:
        found: list[Sighting] = []
        for _ in range(for_s):
            self.now += 1
            found += self.evidence.looked(self.now, *self.screen(state))
        return said(found)

    def hears(self, event: str, prompt: str = "go on") -> list[str]:
        self.now += 0.1
        return said(self.evidence.heard(event, self.now, {"prompt": prompt, "prompt_length": len(prompt)}))


def said(found: Sequence[Sighting]) -> list[str]:
    return [" ".join([s.name, *(str(s.fields[k]) for k in ("gate", "outcome") if k in s.fields)]) for s in found]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_recordings_that_end_a_turn_are_these(program: str) -> None:
    """No other one does, however many old marks stand on it."""
    with (FOLDER / program / "expected.tsv").open(encoding="utf-8", newline="") as file:
        states = sorted({row["file"].split(".")[0] for row in csv.DictReader(file, delimiter="\t")})
    seat = Seat(program)
    shown = {state: seat.screen(state)[0] for state in states}
    ends = [state for state in states if shown[state].ended is not None and shown[state].state == "idle"]
    assert ends == ENDS.get(program, [])


@pytest.mark.field_case("Idle and busy")
@pytest.mark.parametrize(
    ("program", "busy", "failed"),
    [
        ("codex", "launched-busy-thinking", "launched-after-error"),
        ("codex", "launched-busy-streaming", "launched-after-interrupt"),
        ("claude", "launched-busy-streaming", "launched-after-interrupt"),
        ("claude", "launched-permission", "launched-after-denial"),
    ],
)
def test_a_mark_that_appears_ends_the_turn_within_seconds(program: str, busy: str, failed: str) -> None:
    """Though the channel says busy for ever; what it rests on is told."""
    seat = Seat(program)
    seat.sees("launched-idle", 3)
    seat.hears("prompt-submitted")
    seat.sees(busy, 5)
    assert [name for name in seat.sees(failed, 2) if name.startswith("turn")] == []
    seat.now += 1
    ended = seat.evidence.looked(seat.now, *seat.screen(failed))
    assert said(ended) == ["turn.ended error", "role.idle"]
    assert "no hook" in ended[0].evidence


@pytest.mark.parametrize(
    ("program", "failed"), [("codex", "launched-after-error"), ("claude", "launched-after-denial")]
)
def test_an_old_mark_ends_no_turn_that_runs(program: str, failed: str) -> None:
    """A program that paints nothing of the new turn for a while shows the old turn's end: not even that is taken."""
    seat = Seat(program)
    seat.sees(failed, 4)
    seat.hears("prompt-submitted")
    assert "role.idle" not in seat.sees(failed, 30)
    assert seat.evidence.status == "busy"


def test_the_newest_row_wins() -> None:
    """Old marks above a later prompt, a later answer or a later command of the program's end nothing."""
    for state in ("after-compact", "launched-after-quote", "launched-resumed", "launched-menu-files"):
        seat = Seat("codex")
        seat.sees("launched-idle", 3)
        seat.hears("prompt-submitted")
        seat.sees("launched-busy-thinking", 3)
        assert "role.idle" not in seat.sees(state, 30), state


def test_a_screen_that_moves_ends_nothing() -> None:
    """The mark counts once it stands still."""
    seat = Seat("codex")
    seat.sees("launched-idle", 3)
    seat.hears("prompt-submitted")
    for _ in range(10):
        seat.sees("launched-busy-thinking")
        assert seat.sees("launched-after-error") == []


def test_the_same_failure_twice_is_two_ends() -> None:
    """Between them the screen showed that the second turn ran."""
    seat = Seat("codex")
    seat.sees("launched-after-error", 4)
    for _ in range(2):
        seat.hears("prompt-submitted")
        seat.sees("launched-busy-thinking", 3)
        assert seat.sees("launched-after-error", 4) == ["turn.ended error", "role.idle"]


def test_a_prompt_that_is_back_in_the_composer_is_over() -> None:
    """Claude Code puts it back after Esc before the first word; what a person types instead says nothing."""
    for prompt, ends in (("SCRIPT:text a draft", True), ("SCRIPT:text", False), ("SCRIPT:text\nmore", True)):
        seat = Seat("claude")
        seat.sees("launched-idle", 3)
        first = prompt.partition("\n")[0]
        seat.evidence.heard("prompt-submitted", 3.5, {"prompt": first, "prompt_length": len(prompt)})
        seat.sees("launched-busy-thinking", 2)
        assert seat.sees("draft", 5) == ["gate.raised human-typing", *["turn.ended error", "role.idle"] * ends], prompt


def submits(seat: Seat, text: str = "[relay r-000001 from dev]") -> None:
    """A text of ours, and a program without hooks that may be slow."""
    seat.evidence.ends.begins_s = load(seat.program).submit.begins_s
    submission = Submission(text, seat.now)
    seat.evidence.entering(submission)
    assert said(seat.evidence.submitted(submission)) == ["role.busy"]


def test_a_program_that_is_slow_to_show_its_work_is_not_at_rest() -> None:
    """opencode took our text and stands still for seconds: that ends no turn, and work that shows then goes on."""
    for before in ("launched-idle", "launched-after-tool"):
        seat = Seat("opencode")
        seat.sees(before, 3)
        submits(seat)
        assert seat.sees(before, 15) == [], before
        seat.sees("launched-busy-thinking", 3)
        assert seat.sees("launched-after-quote", 4) == ["turn.ended ok", "role.idle"]


def test_a_turn_too_short_to_be_seen_ends_by_the_mark_that_it_leaves() -> None:
    """Its end is in the transcript and was not there before; without such a mark it ends when the time is over."""
    seat = Seat("opencode")
    seat.sees("launched-after-tool", 3)
    submits(seat)
    assert seat.sees("launched-after-quote", 4) == ["turn.ended ok", "role.idle"]
    submits(seat)
    assert seat.sees("launched-after-denial", 19) == []
    assert seat.sees("launched-after-denial", 3) == ["turn.ended ok", "role.idle"]


def test_a_draft_that_is_gone_may_have_been_sent() -> None:
    """A person pressed Enter, and opencode shows nothing of it yet: what mat has to say would be lost between two
    pages. When it was only deleted, that ends by itself."""
    seat = Seat("opencode")
    seat.evidence.ends.begins_s = load("opencode").submit.begins_s
    seat.sees("launched-idle", 3)
    assert seat.sees("launched-draft-variable", 2) == ["gate.raised human-typing"]
    assert seat.sees("launched-idle", 15) == ["role.busy", "gate.cleared human-typing"]
    seat.sees("launched-busy-thinking", 3)
    assert seat.sees("launched-after-quote", 4) == ["turn.ended ok", "role.idle"]
    seat.sees("launched-draft-pasted", 2)
    seat.sees("launched-after-denial", 15)
    assert seat.evidence.status == "busy"
    seat.sees("launched-after-denial", 8)
    assert seat.evidence.status == "idle"
