"""What a delivery makes of the composer before it types, without a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from matcore.engine.clock import boot_s
from matcore.engine.driver import Outcome, RoleSpec, SessionSpec, Verdict
from tmuxdriver import inject
from tmuxdriver.attention import Attention
from tmuxdriver.evidence import STILL_S
from tmuxdriver.inject import Delivery
from tmuxdriver.left import Left
from tmuxdriver.panes import Identity, Pane
from tmuxdriver.profile import Submit, load
from tmuxdriver.screen import Screen
from tmuxdriver.seat import Seat
from tmuxdriver.server import Tmux, TmuxError, Unreachable

IDLE = Screen("idle", None, "empty", (), "title, screen: composer")
BUSY = Screen("busy", None, "empty", (), "title")
DRAFT = Screen("idle", None, "draft", (), "screen: composer", typed="a thought")
BLANK = Screen("unknown", None, "absent", (), "screen: no composer")
PANE = Pane(Identity("1", "2", "%0", "3"), {})


@dataclass(slots=True)
class Looks(Delivery):
    """A delivery that sees these screens, the last one again and again."""

    screens: Iterator[Screen] = field(default_factory=lambda: iter(()))
    shown: Screen = IDLE

    def _look(self, *, twice: bool = False, tell: bool = False) -> tuple[Pane, Screen] | None:
        self.shown = next(self.screens, self.shown)
        if tell:
            self._tell(self.shown, self.shown.evidence)
        return PANE, self.shown


def checked(tmp_path: Path, ended_s: float, first: Screen, *then: Screen) -> Outcome | None:
    """What `Delivery` says of an agent whose turn a hook ended at `ended_s`."""
    role = RoleSpec("review", "claude", tmp_path, tmp_path / "prompt.md")
    seat = Seat.of(SessionSpec("s", tmp_path, (role,), "/bin"), role, load("claude"), {"pane_id": ""})
    seat.evidence.heard("turn-ended", ended_s, {})
    delivery = Looks(Tmux("none"), seat, PANE.identity, "text", Attention(), screens=iter(then), shown=first)
    return delivery._composer_is_free(first)


def test_a_screen_that_is_about_to_follow_the_end_of_a_turn_is_waited_for(tmp_path: Path) -> None:
    """Claude Code runs its Stop hook while it still shows work: a final check that was due then is not lost."""
    assert checked(tmp_path, boot_s(), BUSY, BUSY, IDLE) is None


@pytest.mark.parametrize(("after", "gate", "left_s"), [(BUSY, "busy", 0.2), (DRAFT, "human-typing", STILL_S)])
def test_the_wait_is_short_and_ends_in_what_is_seen(tmp_path: Path, after: Screen, gate: str, left_s: float) -> None:
    """A program that goes on working is busy, and what a person began meanwhile is a draft."""
    outcome = checked(tmp_path, boot_s() - STILL_S + left_s, BUSY, BUSY, after)
    assert outcome is not None
    assert outcome.gate == gate


def entered(tmp_path: Path, *screens: Screen) -> bool:
    """Whether a delivery that has pressed Enter and then sees these screens holds its text for taken."""
    role = RoleSpec("review", "claude", tmp_path, tmp_path / "prompt.md")
    seat = Seat.of(SessionSpec("s", tmp_path, (role,), "/bin"), role, load("claude"), {"pane_id": ""})
    return Looks(Tmux("none"), seat, PANE.identity, "a thought", Attention(), screens=iter(screens))._is_in()


@pytest.mark.field_case("Submitting")
@pytest.mark.parametrize("torn", [IDLE, BUSY])
def test_a_composer_that_is_painted_anew_has_taken_nothing(tmp_path: Path, torn: Screen) -> None:
    """Half of a frame may lack the text, after a resize say: it is gone when the next look does not show it either."""
    assert not entered(tmp_path, torn, DRAFT)
    assert entered(tmp_path, torn, IDLE)
    assert entered(tmp_path, torn, BUSY)


@dataclass(slots=True)
class Typed(Looks):
    """A delivery whose text stands in the composer, and whose keys the server always passes on, or fails at."""

    acts: list[str] = field(default_factory=list)
    fault: TmuxError | None = None

    def _guarded(self, act: str, otherwise: str = "", *, before: list[str] | None = None, stdin: str = "") -> bool:
        self.acts.append(act)
        if self.fault is not None:
            raise self.fault
        return True


def typed(tmp_path: Path, first: Screen, *then: Screen) -> Typed:
    """A delivery that sees these screens, and looks for a moment before the next Enter."""
    role = RoleSpec("review", "claude", tmp_path, tmp_path / "prompt.md")
    profile = msgspec.structs.replace(load("claude"), submit=Submit(settle_s=0.0, verify_s=0.05))
    seat = Seat.of(SessionSpec("s", tmp_path, (role,), "/bin"), role, profile, {"pane_id": ""})
    seen = iter((first, *then))
    return Typed(Tmux("none"), seat, PANE.identity, "a thought", Attention(), screens=seen, shown=first)


def submitted(tmp_path: Path, *screens: Screen, first: Screen = DRAFT) -> Outcome:
    """What a delivery says that sees these screens from Enter on."""
    return typed(tmp_path, first, *screens).submit()


@pytest.mark.field_case("People")
def test_a_collapsed_paste_that_counts_otherwise_is_no_text_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours was lost, and a person has just pasted one of theirs: no Enter."""
    monkeypatch.setattr(inject, "APPEARS_S", 0.05)
    theirs = Screen("idle", None, "draft", (), "screen: composer", typed="[Pasted text #2 +9 lines]")
    outcome = submitted(tmp_path, first=theirs)
    assert (outcome.verdict, outcome.evidence) == (Verdict.UNCONFIRMED, "the composer does not show our text")


@pytest.mark.field_case("Submitting")
def test_a_program_that_is_long_about_painting_its_first_turn_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """opencode shows neither the text nor a composer for seconds, under load: no second Enter, and no doubt."""
    monkeypatch.setattr(inject, "APPEARS_S", 0.05)
    outcome = submitted(tmp_path, *[BLANK] * 15, IDLE)
    assert (outcome.verdict, outcome.evidence) == (
        Verdict.SUBMITTED, "text in the composer; Enter 1; text gone from the composer"
    )  # fmt: skip


def test_the_wait_for_a_paint_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen that never shows anything of use proves nothing."""
    monkeypatch.setattr(inject, "MOST_S", 0.2)
    outcome = submitted(tmp_path, BLANK)
    assert outcome.verdict is Verdict.UNCONFIRMED
    assert outcome.evidence.endswith("Enter 1; no evidence, and the composer does not show our text any more")


def test_long_after_the_end_of_a_turn_work_is_work(tmp_path: Path) -> None:
    """A program that works on its own account is left alone at once."""
    outcome = checked(tmp_path, boot_s() - 2 * STILL_S, BUSY, IDLE)
    assert outcome is not None
    assert outcome.gate == "busy"


@pytest.mark.field_case("Submitting")
@pytest.mark.parametrize("unanswered", [False, True])
def test_a_program_that_ignores_enter_is_not_pressed_on_and_on(tmp_path: Path, unanswered: bool) -> None:
    """Our text that is left in its composer gets its Enters once; then it is a draft, for a person to see to."""
    delivery = typed(tmp_path, DRAFT)
    evidence = delivery.seat.evidence
    evidence.unsent = Left(delivery.text, None)
    if unanswered:
        delivery.fault = Unreachable("no answer")
        with pytest.raises(Unreachable):
            delivery._held_back(DRAFT)
    else:
        assert refusal(delivery._held_back(DRAFT)) == "human-typing"
    pressed = list(delivery.acts)
    assert len(pressed) == (1 if unanswered else inject.MOST_ENTERS)
    assert refusal(delivery._held_back(DRAFT)) == "human-typing"
    assert delivery.acts == pressed
    assert [each.fields["gate"] for each in evidence.looked(boot_s(), DRAFT, "")] == ["human-typing"]


@pytest.mark.parametrize("pasted", [False, True])
def test_a_mistake_of_ours_before_the_paste_is_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pasted: bool
) -> None:
    """Nothing was typed for certain, so that the text is tried again; after the paste nobody knows."""
    delivery = typed(tmp_path, IDLE)

    def broken(*_: object, **__: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(Typed, "_preflight", (lambda _: None) if pasted else broken)
    monkeypatch.setattr(Typed, "_guarded", broken)
    if pasted:
        with pytest.raises(RecursionError):
            delivery.run()
    else:
        outcome = delivery.run()
        assert (outcome.verdict, outcome.gate) == (Verdict.REFUSED, "not-ready")
        assert outcome.evidence == "nothing was typed: RecursionError: too deep"


class Pressed(Typed):
    """A delivery during which a person presses a key."""

    def _look(self, *, twice: bool = False, tell: bool = False) -> tuple[Pane, Screen] | None:
        self.touched = "101"
        return super()._look(twice=twice, tell=tell)


@pytest.mark.field_case("People")
def test_a_key_that_is_pressed_while_a_left_paste_is_submitted_makes_it_a_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts the same a moment later may be a person's."""
    monkeypatch.setattr(inject, "APPEARS_S", 0.05)
    marker = Screen("idle", None, "draft", (), "screen: composer", typed="[Pasted text #2 +1 lines]")
    seat = typed(tmp_path, marker).seat
    delivery = Pressed(Tmux("none"), seat, PANE.identity, "another", Attention(), touched="100", shown=marker)
    seat.evidence.unsent = Left("a\nthought", seat.profile.composer.pasted, "100")
    assert refusal(delivery._held_back(marker)) == "not-ready"
    delivery._look()
    assert refusal(delivery._held_back(marker)) == "human-typing"
    assert delivery.acts == []


def refusal(outcome: Outcome | None) -> str | None:
    assert outcome is not None
    return outcome.gate
