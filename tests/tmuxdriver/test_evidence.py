"""What is held to be true of a seat: busy at once, idle only when proven, and each claim with its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from matcore.engine.driver import Sighting
from tmuxdriver.composer import ComposerState
from tmuxdriver.evidence import Evidence
from tmuxdriver.left import Left
from tmuxdriver.limits import ROUNDED_S, Limit
from tmuxdriver.screen import Screen, State
from tmuxdriver.submission import Submission


def screen(
    state: State, composer: ComposerState = "empty", *, dialog: str | None = None, notes: tuple[str, ...] = ()
) -> Screen:
    return Screen(state, dialog, composer, notes, "screen: test", detail="■ it broke" if notes else None)


IDLE, BUSY, TORN = screen("idle"), screen("busy"), screen("unknown", "absent")
PERMISSION = screen("dialog", "absent", dialog="permission")


def said(sightings: Sequence[Sighting]) -> list[str]:
    return [
        " ".join([s.name, *(str(s.fields[k]) for k in ("gate", "outcome", "started") if k in s.fields)])
        for s in sightings
    ]


@pytest.fixture
def seat() -> Evidence:
    """A seat of which nothing is known yet."""
    return Evidence("duo", "dev")


def made_idle(seat: Evidence, now: float = 0.0) -> None:
    seat.looked(now, IDLE, "i")
    seat.looked(now + 2, IDLE, "i")
    assert seat.status == "idle"


def test_idle_needs_two_looks_and_two_seconds_without_a_change(seat: Evidence) -> None:
    """One look is no proof, nor are many within two seconds, nor a screen that goes on changing."""
    assert said(seat.looked(0, IDLE, "a")) == []
    assert said(seat.looked(1.5, IDLE, "a")) == []
    assert said(seat.looked(2.5, IDLE, "b")) == []
    assert said(seat.looked(4.0, IDLE, "b")) == []
    assert said(seat.looked(4.5, IDLE, "b")) == ["role.idle"]
    assert said(seat.looked(9, IDLE, "c")) == []


@pytest.mark.field_case("Idle and busy")
def test_busy_is_believed_at_once_and_a_flicker_ends_no_turn(seat: Evidence) -> None:
    """200 ms without a mark between two tool calls are no idle."""
    made_idle(seat)
    assert said(seat.looked(3, BUSY, "b")) == ["role.busy"]
    assert said(seat.looked(4, IDLE, "i")) == []
    assert said(seat.looked(5, BUSY, "b")) == []
    assert said(seat.looked(6, IDLE, "i")) == []
    assert said(seat.looked(8, IDLE, "i")) == ["turn.ended ok 3", "role.idle"]


@pytest.mark.field_case("Idle and busy")
def test_a_screen_that_keeps_our_time_is_looked_at_off_the_beat_before_it_is_idle(seat: Evidence) -> None:
    """Idle for 200 ms on each second, and each second somebody looks: what the terminal tells of output is a doubt."""
    seat.looked(0, BUSY, "b", "99")
    for now in (1, 2, 3):
        assert seat.looked(now, IDLE, "i", str(100 + now)) == []
    assert seat.is_doubtful
    assert seat.looked(3.25, BUSY, "b", "103") == []
    for now in (4, 5, 6):
        assert seat.looked(now, IDLE, "i", str(100 + now)) == []
    assert seat.looked(6.25, IDLE, "i", "106") == []
    assert said(seat.looked(6.45, IDLE, "i", "106")) == ["turn.ended ok", "role.idle"]


@pytest.mark.field_case("Restarts")
def test_a_screen_that_nobody_could_look_at_meanwhile_is_looked_at_off_the_beat_first(seat: Evidence) -> None:
    """After a halt of tmux or of the machine the first look may still show what stood there before it."""
    seat.looked(0, BUSY, "b", "99")
    seat.looked(1, IDLE, "i", "100")
    seat.was_out_of_sight()
    assert seat.looked(60, IDLE, "i", "100") == []
    assert seat.is_doubtful
    assert seat.looked(60.25, BUSY, "b", "160") == []
    seat.looked(61, IDLE, "i", "160")
    seat.was_out_of_sight()
    assert seat.looked(90, IDLE, "i", "160") == seat.looked(90.25, IDLE, "i", "160") == []
    assert said(seat.looked(90.45, IDLE, "i", "160")) == ["turn.ended ok", "role.idle"]


@pytest.mark.field_case("Idle and busy")
def test_a_new_prompt_in_the_transcript_is_a_turn_although_nothing_marks_it(seat: Evidence) -> None:
    """An answer that streams may show no mark at all; its turn ends when the screen stands still."""
    before, after = (
        replace(IDLE, turns=turns) for turns in (("head", ">one\nDone."), ("head", ">one\nDone.", ">two\n"))
    )
    seat.looked(0, before, "a")
    assert said(seat.looked(2, before, "a")) == ["role.idle"]
    assert seat.looked(3, before, "a") == []
    assert said(seat.looked(4, after, "b")) == ["role.busy"]
    assert said(seat.looked(5, after, "b")) == []
    assert said(seat.looked(7, after, "c")) == []
    assert said(seat.looked(9, after, "c")) == ["turn.ended ok 4", "role.idle"]


def test_where_hooks_live_a_prompt_in_the_transcript_begins_no_turn(seat: Evidence) -> None:
    """They tell of it, and programs show commands of their own like prompts."""
    before, after = (replace(IDLE, turns=turns) for turns in (("head",), ("head", ">two\n")))
    seat.heard("turn-started", 1, {})
    seat.heard("turn-ended", 2, {})
    seat.looked(3, before, "a")
    assert seat.looked(4, after, "b") == []
    assert seat.status == "idle"


def test_a_turn_that_was_running_when_we_came_has_no_known_start(seat: Evidence) -> None:
    """Nobody saw it begin, so its end speaks for all that was delivered before."""
    seat.looked(0, BUSY, "b")
    seat.looked(1, IDLE, "i")
    assert said(seat.looked(3, IDLE, "i")) == ["turn.ended ok", "role.idle"]


def test_an_error_on_the_screen_is_the_turns_outcome(seat: Evidence) -> None:
    """A turn that ends in an error says which."""
    made_idle(seat)
    seat.looked(3, BUSY, "b")
    failed = screen("idle", notes=("error",))
    seat.looked(4, failed, "e")
    ended = seat.looked(6, failed, "e")
    assert said(ended) == ["turn.ended error 3", "role.idle"]
    assert ended[0].fields["detail"] == "■ it broke"


def test_a_torn_screen_takes_no_state_away_but_a_lasting_one_does(seat: Evidence) -> None:
    """What can't be made out for two seconds is unknown, never idle."""
    made_idle(seat)
    assert said(seat.looked(3, TORN, "?")) == []
    assert said(seat.looked(5, TORN, "?")) == ["role.unknown"]


def test_our_submission_counts_as_busy_seen(seat: Evidence) -> None:
    """A turn may be shorter than a look: it ends all the same, and began after our Enter."""
    made_idle(seat)
    text = Submission("[relay r-1] hi", 10.0)
    seat.entering(text)
    assert said(seat.submitted(text)) == ["role.busy"]
    assert said(seat.looked(10.5, IDLE, "x")) == []
    assert said(seat.looked(12.5, IDLE, "x")) == ["turn.ended ok 10.0", "role.idle"]


def test_a_hook_ends_a_turn_at_once(seat: Evidence) -> None:
    """No two seconds when the program itself says so; the turn's start is the one that it told."""
    made_idle(seat)
    text = Submission("[relay r-1] hi", 10.0)
    seat.entering(text)
    assert said(seat.heard("prompt-submitted", 10.1, {"prompt": "[relay r-1] hi"})) == ["role.busy"]
    assert seat.has_confirmed(text)
    assert seat.submitted(text) == []
    assert said(seat.heard("turn-ended", 11, {"outcome": "done", "turn_started_boot_s": 10.2})) == [
        "turn.ended ok 10.2",
        "role.idle",
    ]


@pytest.mark.field_case("Submitting")
def test_a_hook_that_names_an_earlier_text_confirms_no_later_one(seat: Evidence) -> None:
    """A program may tell of a prompt long after its Enter, when it takes it from its queue; each text needs its own."""
    made_idle(seat)
    earlier, later = Submission("[relay r-1] hi", 10.0), Submission("[relay r-2] hi", 20.0)
    for text in (earlier, later):
        seat.entering(text)
    seat.heard("prompt-submitted", 20.1, {"prompt": earlier.text})
    assert seat.has_confirmed(earlier)
    assert not seat.has_confirmed(later)
    seat.heard("prompt-submitted", 20.2, {"prompt": later.text})
    assert seat.has_confirmed(later)
    assert not seat.has_confirmed(Submission(later.text, 20.3))


def test_an_earlier_text_that_is_told_of_leaves_ours_in_the_composer(seat: Evidence) -> None:
    """What nobody has submitted is still our own text, not a person's draft."""
    made_idle(seat)
    earlier, later = Submission("[relay r-1] hi", 10.0), Submission("[relay r-2] hi", 20.0)
    for text in (earlier, later):
        seat.entering(text)
    seat.unsent = Left(later.text, None)
    seat.heard("prompt-submitted", 20.1, {"prompt": earlier.text})
    assert seat.unsent is not None
    seat.heard("prompt-submitted", 20.2, {"prompt": later.text})
    assert seat.unsent is None


def test_an_enter_that_is_held_back_for_long_makes_no_person_of_an_earlier_text(seat: Evidence) -> None:
    """However often it is tried meanwhile."""
    made_idle(seat)
    for text in ("[relay r-1] hi", *("[relay r-2] hi" for _ in range(100))):
        seat.entering(Submission(text, 10.0))
    assert "human.acted" not in said(seat.heard("prompt-submitted", 11, {"prompt": "[relay r-1] hi"}))


def test_a_turn_that_ended_before_the_evidence_was_in_is_not_opened_again(seat: Evidence) -> None:
    """Hooks of a quick turn may be heard before we know that our Enter worked."""
    made_idle(seat)
    text = Submission("[relay r-1] hi", 10.0)
    seat.entering(text)
    seat.heard("prompt-submitted", 10.1, {"prompt": "[relay r-1] hi"})
    seat.heard("turn-ended", 10.2, {})
    assert seat.submitted(text) == []
    assert seat.status == "idle"


def test_the_late_end_of_an_earlier_turn_does_not_end_ours(seat: Evidence) -> None:
    """It is told with its own start, and the role stays busy with our text."""
    made_idle(seat)
    text = Submission("[relay r-1] hi", 10.0)
    seat.entering(text)
    seat.submitted(text)
    assert said(seat.heard("turn-ended", 9.0, {"turn_started_boot_s": 5.0})) == ["turn.ended ok 5.0"]
    assert seat.status == "busy"


def test_while_hooks_live_the_screen_ends_no_turn(seat: Evidence) -> None:
    """A program may look idle in the middle of its turn."""
    made_idle(seat)
    seat.heard("turn-started", 3, {})
    assert said(seat.looked(4, IDLE, "i")) == []
    assert said(seat.looked(30, IDLE, "i")) == []
    assert seat.status == "busy"


@pytest.mark.field_case("Idle and busy")
def test_a_hook_channel_that_forgot_is_overruled_after_a_minute(seat: Evidence) -> None:
    """Programs fire no hook after Esc: parked at an empty composer for 60 s, the turn is over, for every user of it."""
    made_idle(seat)
    seat.heard("turn-started", 3, {})
    seat.looked(4, IDLE, "i2")
    assert seat.looked(63.9, IDLE, "i2") == []
    ended = seat.looked(64, IDLE, "i2")
    assert said(ended) == ["turn.ended ok 3", "role.idle"]
    assert "no hook" in ended[0].evidence
    assert seat.hook_says is None


def test_a_person_at_the_composer_does_not_let_the_minute_pass(seat: Evidence) -> None:
    """A draft is no empty composer; a screen that changes is not parked."""
    made_idle(seat)
    seat.heard("turn-started", 3, {})
    for now in range(4, 200):
        picture = "draft" if now > 100 else f"i{now // 30}"
        seat.looked(now, screen("idle", "draft" if now > 100 else "empty"), picture)
    assert seat.status == "busy"


def test_a_screen_that_lags_behind_the_hook_starts_no_turn(seat: Evidence) -> None:
    """The busy mark of the turn that has just ended is gone a moment later; one that stays is a new turn."""
    made_idle(seat)
    seat.heard("turn-started", 3, {})
    seat.heard("turn-ended", 5, {})
    assert seat.looked(5.1, BUSY, "b") == []
    assert seat.looked(6, BUSY, "b") == []
    assert said(seat.looked(7.2, BUSY, "b")) == ["role.busy"]


def test_a_prompt_that_is_not_ours_is_a_person(seat: Evidence) -> None:
    """Ours are known by their text or digest, whoever else types is human."""
    seat.entering(Submission("[relay r-1] hi\nthere", 1.0))
    assert said(seat.heard("prompt-submitted", 2, {"prompt": "do it"})) == ["human.acted", "role.busy"]
    assert said(seat.heard("prompt-submitted", 3, {"prompt": "[relay r-1] hi"})) == []


def test_a_permission_dialog_that_stands_becomes_a_question(seat: Evidence) -> None:
    """Gate at once, question after 30 s in its place, answered when it is gone; the role is unknown meanwhile."""
    made_idle(seat)
    seat.looked(3, BUSY, "b")
    assert said(seat.looked(4, PERMISSION, "d")) == ["gate.raised dialog", "role.unknown"]
    assert said(seat.looked(33.9, PERMISSION, "d")) == []
    asked = seat.looked(34, PERMISSION, "d")
    assert said(asked) == ["question.asked", "gate.cleared dialog"]
    assert said(seat.looked(100, PERMISSION, "d")) == []
    answered = seat.looked(101, BUSY, "b")
    assert said(answered) == ["question.answered", "role.busy"]
    assert answered[0].fields["question"] == asked[0].fields["question"]


def test_two_dialogs_are_two_questions(seat: Evidence) -> None:
    """The second one's question has a name of its own."""
    seat.looked(0, PERMISSION, "d")
    first = seat.looked(30, PERMISSION, "d")[0].fields["question"]
    seat.looked(31, BUSY, "b")
    seat.looked(32, PERMISSION, "d")
    second = seat.looked(62, PERMISSION, "d")[0].fields["question"]
    assert first != second


@pytest.mark.field_case("Idle and busy")
def test_other_dialogs_stay_a_gate(seat: Evidence) -> None:
    """A trust or login dialog is never put as a question that an answer could settle."""
    trust = screen("dialog", "absent", dialog="trust")
    assert said(seat.looked(0, trust, "d")) == ["gate.raised dialog"]
    assert seat.looked(100, trust, "d") == []
    assert said(seat.looked(101, IDLE, "i")) == ["gate.cleared dialog"]


def test_a_hook_may_tell_of_the_question_before_the_screen_shows_it(seat: Evidence) -> None:
    """The gate stands from the hook on, and a screen that lags does not clear it."""
    made_idle(seat)
    seat.heard("turn-started", 3, {})
    assert said(seat.heard("permission-asked", 4, {})) == ["gate.raised dialog", "role.unknown"]
    assert said(seat.looked(4.5, BUSY, "b")) == ["role.busy"]
    assert "dialog" in seat.gates
    assert said(seat.looked(5, PERMISSION, "d")) == ["role.unknown"]
    assert said(seat.heard("turn-ended", 9, {})) == ["turn.ended ok 3", "role.idle"]
    assert said(seat.looked(9.5, IDLE, "i")) == ["gate.cleared dialog"]


def test_a_draft_is_the_gate_human_typing(seat: Evidence) -> None:
    """Raised with the draft, cleared with it, once each."""
    assert said(seat.looked(0, screen("idle", "draft"), "d")) == ["gate.raised human-typing"]
    assert said(seat.looked(1, screen("idle", "draft"), "dr")) == []
    assert said(seat.looked(2, screen("idle", "ghost"), "g")) == ["gate.cleared human-typing"]


def test_an_exhausted_context_is_told_before_its_turn_ends(seat: Evidence) -> None:
    """The rows of that role end for that reason, not as failures."""
    made_idle(seat)
    seat.heard("turn-started", 3, {})
    assert said(seat.heard("turn-ended", 4, {"outcome": "exhausted", "error": "full"})) == [
        "context.exhausted",
        "turn.ended error 3",
        "role.idle",
    ]


def test_hooks_of_an_agent_that_was_replaced_say_nothing() -> None:
    """A record that waited in the spool is not the new agent's."""
    seat = Evidence("duo", "dev", alive_since_s=50.0)
    assert seat.heard("turn-ended", 49, {}) == []
    assert said(seat.heard("turn-started", 51, {})) == ["role.busy"]


def test_gone_clears_what_held_the_role(seat: Evidence) -> None:
    """A dead agent has no dialog and no draft."""
    made_idle(seat)
    seat.looked(3, PERMISSION, "d")
    assert said(seat.gone("pane is dead")) == ["gate.cleared dialog", "role.gone"]
    assert seat.gone("pane is dead") == []


def test_an_agent_that_left_its_pane_leaves_no_draft_and_no_hook_behind(seat: Evidence) -> None:
    """Its draft or dialog is no gate any more; and who starts it by hand, without hooks, is read from the screen."""
    seat.heard("turn-ended", 1.0, {})
    seat.looked(2, screen("idle", "draft"), "d")
    assert said(seat.left("process")) == ["gate.cleared human-typing", "role.unknown"]
    seat.looked(10, BUSY, "b")
    seat.looked(11, IDLE, "i")
    assert [s.partition(" ")[0] for s in said(seat.looked(13, IDLE, "i"))] == ["turn.ended", "role.idle"]


def test_an_agent_that_is_replaced_takes_its_gates_and_its_question_with_it(seat: Evidence) -> None:
    """Nobody else could ever clear them."""
    seat.gate("input-off", True, "tmux")
    seat.looked(1, PERMISSION, "d")
    seat.looked(40, PERMISSION, "d")
    assert said(seat.replaced("anew")) == ["gate.cleared input-off", "question.answered", "role.unknown"]


NOON_S = 1_767_268_800.0
"""A Unix time at which it is noon in UTC."""


def limited(detail: str) -> Screen:
    return Screen("idle", None, "empty", ("rate-limited",), "screen: test", detail=detail)


def hits_limit(seat: Evidence, detail: str) -> list[Sighting]:
    """A turn of ours that ends at a limit, seen on the screen at 13 s."""
    seat.looked(0, IDLE, "a")
    seat.looked(3, IDLE, "a")
    seat.submitted(Submission("x", 5))
    seat.looked(10, limited(detail), "b")
    return seat.looked(13, limited(detail), "b")


@pytest.mark.parametrize(
    ("detail", "for_s"),
    [("■ Usage limit, resets in 5m", 300), ("■ resets in 2 hours", 7200), (f"■ resets in {NOON_S + 60:.0f}", 60)],
)
def test_a_rate_limit_is_a_gate_until_the_time_that_the_screen_names(detail: str, for_s: float) -> None:
    """Raised after the turn's error; over when the time is, and the notice that still stands there raises nothing."""
    seat = Evidence("duo", "dev", limit=Limit(r"resets in (.+)$"), wall_s=lambda: NOON_S)
    found = hits_limit(seat, detail)
    assert said(found) == ["turn.ended error 5", "gate.raised rate-limited", "role.idle"]
    for_s += ROUNDED_S
    assert found[1].fields["until"] == 13 + for_s
    assert seat.passed(12 + for_s) == []
    assert said(seat.passed(13 + for_s)) == ["gate.cleared rate-limited"]
    assert said(seat.looked(20 + for_s, limited(detail), "c")) == []


def test_a_rate_limit_without_a_time_names_no_end_and_a_later_turn_clears_it() -> None:
    """Nobody may wait for it for ever, so nobody trusts it; a person's turn that succeeds shows that it is over."""
    seat = Evidence("duo", "dev", limit=Limit(r"resets in (.+)$"), wall_s=lambda: NOON_S)
    raised = next(s for s in hits_limit(seat, "■ Usage limit reached") if s.name == "gate.raised")
    assert "until" not in raised.fields
    assert seat.passed(1e9) == []
    seat.looked(100, BUSY, "d")
    seat.looked(110, IDLE, "e")
    assert said(seat.looked(113, IDLE, "e")) == ["turn.ended ok 100", "gate.cleared rate-limited", "role.idle"]


def test_a_notice_that_was_there_before_us_holds_only_for_what_is_left_of_it() -> None:
    """A new supervisor reads the old screen: a clock's time that has passed is not tomorrow's."""
    for minutes, holds in ((30, True), (-30, False)):
        seat = Evidence("duo", "dev", limit=Limit(r"resets at (\S+)$"), wall_s=lambda: NOON_S)
        clock = datetime.fromtimestamp(NOON_S + 60 * minutes).astimezone().strftime("%H:%M:%S")
        found = seat.looked(0, limited(f"■ Usage limit, resets at {clock}"), "a")
        assert [s.fields["until"] for s in found if s.name == "gate.raised"] == [60.0 * minutes + ROUNDED_S] * holds


def test_a_hook_tells_of_a_limit_and_the_screen_says_it_no_second_time() -> None:
    """With its time, and held by nothing but it."""
    seat = Evidence("duo", "dev", limit=Limit(r"resets in (.+)$"), wall_s=lambda: NOON_S)
    seat.heard("turn-started", 1, {})
    found = seat.heard("turn-ended", 2, {"outcome": "rate-limited", "error": "Limit, resets in 60"})
    assert said(found) == ["turn.ended error 1", "role.idle", "gate.raised rate-limited"]
    assert found[2].fields["until"] == 62 + ROUNDED_S
    assert "gate.raised rate-limited" not in said(seat.looked(5, limited("■ Limit, resets in 60"), "a"))
    seat.passed(62 + ROUNDED_S)
    assert said(seat.looked(65, limited("■ Limit, resets in 60"), "a")) == []


def test_a_hook_that_tells_of_a_failed_turn_makes_the_screens_hour_the_next_one() -> None:
    """However far ahead it is; once, so that the notice which stands there afterwards holds nothing anew."""
    seat = Evidence("duo", "dev", limit=Limit(r"resets at (\S+)$"), wall_s=lambda: NOON_S)
    clock = datetime.fromtimestamp(NOON_S - 1800).astimezone().strftime("%H:%M:%S")
    notice = limited(f"■ Usage limit, resets at {clock}")
    seat.heard("turn-started", 1, {})
    seat.heard("turn-ended", 2, {"outcome": "error", "error": "rate_limit"})
    found = seat.looked(5, notice, "a")
    assert [s.fields["until"] for s in found if s.name == "gate.raised"] == [5 + 86_400 - 1800 + ROUNDED_S]
    assert "gate.raised rate-limited" not in said(seat.looked(8, notice, "a"))


def test_a_login_is_a_gate_of_its_own(seat: Evidence) -> None:
    """It is for a person alone, so it is called what it is; it ends with its dialog."""
    assert said(seat.looked(0, screen("dialog", "absent", dialog="login"), "a")) == ["gate.raised login"]
    assert said(seat.looked(1, PERMISSION, "b")) == ["gate.cleared login", "gate.raised dialog"]
    assert "gate.cleared dialog" in said(seat.looked(2, IDLE, "c"))


def test_a_compaction_is_a_gate_while_it_lasts(seat: Evidence) -> None:
    """Seen on the screen, or told by hooks; the next word of the agent or a settled screen ends it."""
    compacting = screen("busy", notes=("compacting",))
    assert "gate.raised compacting" in said(seat.looked(0, compacting, "a"))
    assert "gate.cleared compacting" in said(seat.looked(1, IDLE, "b"))
    for end in ("compacted", "turn-ended", "prompt-submitted"):
        assert "gate.raised compacting" in said(seat.heard("compaction", 10, {}))
        assert "gate.cleared compacting" in said(seat.heard(end, 11, {}))
    seat.heard("compaction", 20, {})
    assert "gate.cleared compacting" not in said(seat.looked(24, BUSY, "b"))
    assert "gate.cleared compacting" in said(seat.looked(25, IDLE, "c"))


def test_a_full_context_on_the_screen_is_told_before_its_turn_ends(seat: Evidence) -> None:
    """Once for each notice."""
    full = Screen("idle", None, "empty", ("context-full", "error"), "screen: test", detail="■ Context window full")
    seat.submitted(Submission("x", 5))
    seat.looked(6, full, "a")
    found = seat.looked(9, full, "a")
    assert said(found) == ["context.exhausted", "turn.ended error 5", "role.idle"]
    assert found[1].fields["detail"] == "■ Context window full"
    assert said(seat.looked(20, full, "a")) == []


def test_a_full_context_is_told_though_a_hook_has_ended_the_turn_without_a_word_of_it(seat: Evidence) -> None:
    """Once for a turn, whichever of the two tells it, and again for the next turn that fails so."""
    full = screen("idle", notes=("context-full",))
    seat.heard("turn-started", 1, {})
    assert said(seat.heard("turn-ended", 2, {"outcome": "error"})) == ["turn.ended error 1", "role.idle"]
    assert said(seat.looked(3, full, "a")) == ["context.exhausted"]
    assert said(seat.looked(4, full, "b")) == []
    seat.heard("turn-started", 10, {})
    assert "context.exhausted" in said(seat.heard("turn-ended", 11, {"outcome": "exhausted"}))
    assert said(seat.looked(12, IDLE, "c")) == []
    assert said(seat.looked(13, full, "d")) == []


def test_a_compaction_that_nothing_ends_is_looked_at_until_the_screen_is_at_rest(seat: Evidence) -> None:
    """Some are refused at once, and no hook tells of that: a still screen alone would get no further look."""
    made_idle(seat)
    seat.heard("compaction", 10, {})
    seat.looked(10.5, IDLE, "i")
    assert seat.waits()
    assert "gate.cleared compacting" in said(seat.looked(12.5, IDLE, "i"))
    assert not seat.waits()


def test_an_end_that_is_told_twice_ends_one_turn(seat: Evidence) -> None:
    """A second word at once is of the same end; later it may be of a turn whose beginning was not heard."""
    seat.heard("turn-started", 1, {})
    assert said(seat.heard("turn-ended", 2, {"outcome": "error"})) == ["turn.ended error 1", "role.idle"]
    assert seat.heard("turn-ended", 2.1, {"outcome": "error"}) == []
    assert said(seat.heard("turn-ended", 9, {})) == ["turn.ended ok"]


def test_a_turn_that_failed_for_want_of_a_login_is_the_gate_login(seat: Evidence) -> None:
    """Every further text would fail, too; it ends with the next turn, which a person begins."""
    refused = screen("idle", notes=("login", "error"))
    seat.heard("turn-started", 1, {})
    seat.heard("turn-ended", 2, {"outcome": "error"})
    assert said(seat.looked(3, refused, "a")) == ["gate.raised login"]
    assert said(seat.looked(4, TORN, "b")) == []
    assert "gate.cleared login" in said(seat.looked(5, BUSY, "c"))
