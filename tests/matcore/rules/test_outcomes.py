"""Rule 5 and "Outcomes are facts": what becomes of a rung that fails, comes late or never comes back."""

from __future__ import annotations

from matcore.rules import decisions as d
from matcore.rules import flights
from tests.matcore.rules.play import Play, never_ends


def fails(decision: d.Decision) -> bool | None:
    return not isinstance(decision, d.Nudge)


def waiting(decision: d.Decision) -> bool | None:
    """Nudges and rung 3 have no outcome yet, all else succeeds."""
    rung = isinstance(decision, d.Nudge) or (
        isinstance(decision, d.Notify) and decision.kind is d.NotifyKind.IDLE_RECOVERY
    )
    return None if rung else True


def test_while_a_rung_is_on_its_way_the_episode_decides_nothing() -> None:
    """No deferral, no second rung, until the outcome."""
    play = Play(ends=waiting).quiet_cycle().at(610, "gate.raised", gate="copy-mode", role="dev").until(659)
    assert play.brief() == ["600 episode.opened 1", "600 nudge 1 1 dev"]


def test_the_rungs_clock_is_zeroed_at_the_outcome() -> None:
    """The next rung is one window after the confirmation, not after the decision."""
    play = Play(ends=waiting).quiet_cycle().until(600)
    play.at(640, "effect.ended", decision=play.number("nudge"), ok=True).until(1_240)
    assert play.brief("nudge") == ["600 nudge 1 1 dev", "1240 nudge 1 2 review"]


def test_no_outcome_within_a_minute_has_failed() -> None:
    """It raises the gate at that moment, for one window; then the same rung is tried again."""
    play = Play(ends=waiting).quiet_cycle().until(1_260)
    assert play.brief() == [
        "600 episode.opened 1",
        "600 nudge 1 1 dev",
        "660 ladder.deferred nudge-failed/dev",
        "1260 nudge 1 1 dev",
    ]


def test_an_outcome_at_the_minute_is_in_time() -> None:
    """60 s at most: the facts of that instant are taken in first."""
    play = Play(ends=waiting).quiet_cycle().at(660, "role.busy", role="dev")
    play.at(660, "effect.ended", decision=play.number("nudge"), ok=True)
    assert play.state.episode is not None
    assert play.state.episode.rung == 1


def test_the_minute_passes_without_a_clock_too() -> None:
    """A fact after the minute finds the rung failed at its minute."""
    play = Play(ends=waiting).quiet_cycle().until(600)
    play.feed(play.facts[-1].__class__(600))
    play.at(700, "role.busy", role="dev")
    assert [(gate.name, gate.ends_us) for gate in play.state.gates] == [("nudge-failed/dev", 1_260_000_000)]


def test_progress_closes_over_a_rung_and_a_late_ok_delivers_what_it_carried() -> None:
    """The relay counts as delivered, the rung does not."""
    play = Play(ends=waiting).quiet_cycle()
    play.at(1, "relay.sent", id="r1", sender="dev", to="review").at(2, "relay.undeliverable", id="r1").until(601)
    nudge = play.number("nudge")
    play.at(610, "relay.sent", id="r2", sender="review", to="dev").at(610, "relay.undeliverable", id="r2")
    play.at(620, "effect.ended", decision=nudge, ok=True).at(621, "effect.ended", decision=nudge, ok=True)
    assert play.brief() == [
        "601 episode.opened 1 review r1",
        "601 nudge 1 1 review r1",
        "610 episode.closed 1 handoff 0 r2",
        "620 wake.opened r1 review dev visible_reply",
    ]


def test_progress_closes_over_a_rung_that_fails_later() -> None:
    """Nothing is raised for an episode that is over."""
    play = Play(ends=waiting).quiet_cycle()
    play.at(1, "relay.sent", id="r1", sender="dev", to="review").at(2, "relay.undeliverable", id="r1").until(601)
    nudge = play.number("nudge")
    play.handoff(610, "r2", "review", "dev").at(620, "effect.ended", decision=nudge, ok=False)
    assert (play.state.gates, play.state.late) == ((), ())


def test_a_confirmed_rung_1_delivers_what_had_not_arrived() -> None:
    """An undeliverable debt is redelivered by rung 1 and is a wake from then on; what had arrived opens none."""
    play = Play().quiet_cycle()
    play.at(1, "relay.sent", id="r1", sender="dev", to="review").at(2, "relay.undeliverable", id="r1")
    play.until(601).at(602, "relay.delivered", id="r1")
    assert play.brief("nudge", "wake.opened") == [
        "601 nudge 1 1 review r1",
        "601 wake.opened r1 review dev visible_reply",
    ]


def test_a_rung_that_the_human_overtook_counts_nothing() -> None:
    """Its ok counts no rung and its failure raises no gate."""
    for ok in (True, False):
        play = Play(ends=waiting).quiet_cycle().until(600).at(610, "human.acted").at(611, "human.acted")
        play.at(620, "effect.ended", decision=play.number("nudge"), ok=ok)
        assert play.state.episode is not None
        assert (play.state.episode.rung, play.state.episode.flight, play.state.gates) == (0, None, ())
        assert play.until(1_211).brief("nudge") == ["600 nudge 1 1 dev", "1211 nudge 1 1 dev"]


def test_a_rung_that_the_human_overtook_still_delivers() -> None:
    """Also after its minute, or when progress came on top."""
    for after in (20, 90):
        play = Play(ends=waiting).quiet_cycle()
        play.at(1, "relay.sent", id="r1", sender="dev", to="review").at(2, "relay.undeliverable", id="r1").until(601)
        play.at(605, "human.acted").at(601 + after, "effect.ended", decision=play.number("nudge"), ok=True)
        assert len(play.new("wake.opened")) == 1
    play = Play(ends=waiting).quiet_cycle().until(600).at(605, "human.acted").at(606, "cycle.opened", cycle="c2")
    assert play.state.late == ()


def test_a_late_ok_of_a_nudge_in_an_open_episode_counts_no_rung() -> None:
    """It had counted as failed; it delivers what it carried, the retry comes after its window."""
    play = Play(ends=waiting).quiet_cycle()
    play.at(1, "relay.sent", id="r1", sender="dev", to="review").at(2, "relay.undeliverable", id="r1").until(601)
    play.at(700, "effect.ended", decision=play.number("nudge"), ok=True).until(1_261)
    assert play.brief("nudge", "wake.opened") == [
        "601 nudge 1 1 review r1",
        "700 wake.opened r1 review dev visible_reply",
        "1261 nudge 1 1 review r1",
    ]


def test_outcomes_that_never_come_do_not_pile_up() -> None:
    """Of many rungs without an outcome only the newest are remembered."""
    play = Play(ends=waiting, progress_deadline=0).quiet_cycle()
    play.at(1, "relay.sent", id="r1", sender="dev", to="review").at(2, "relay.undeliverable", id="r1").until(50_000)
    assert len(play.new("nudge")) > flights.LATE_KEPT
    assert len(play.state.late) == flights.LATE_KEPT


def told_late(play: Play) -> Play:
    """Both nudges confirmed; rung 3 has had no outcome for its minute."""
    for at in (600, 1_200):
        play.until(at).at(at, "effect.ended", decision=play.number("nudge"), ok=True)
    return play.until(1_860)


def test_a_late_ok_of_rung_3_has_told_the_human() -> None:
    """A channel did take it: no second one in this episode."""
    play = told_late(Play(ends=waiting, progress_deadline=0).quiet_cycle())
    play.at(1_900, "effect.ended", decision=play.number("notify"), ok=True).until(50_000)
    assert play.brief("notify") == ["1800 notify idle-recovery True 1"]


def test_a_late_ok_of_rung_3_overtakes_its_retry() -> None:
    """The retry on its way counts no more."""
    play = told_late(Play(ends=waiting, progress_deadline=0).quiet_cycle())
    first = play.number("notify")
    play.until(2_460).at(2_470, "effect.ended", decision=first, ok=True)
    play.at(2_480, "effect.ended", decision=play.number("notify"), ok=False).until(50_000)
    assert play.brief("notify") == ["1800 notify idle-recovery True 1", "2460 notify idle-recovery True 1"]


def test_a_late_rung_3_is_forgotten_upon_failure_act_and_progress() -> None:
    """Only the stretch that it belongs to may still count it."""
    for fact, fields in (
        ("effect.ended", {"ok": False}),
        ("human.acted", {}),
        ("cycle.opened", {"cycle": "c2"}),
    ):
        play = told_late(Play(ends=waiting).quiet_cycle())
        number = play.number("notify")
        play.at(1_900, fact, **({"decision": number} if "ok" in fields else {}), **fields)
        play.at(1_901, "effect.ended", decision=number, ok=True)
        assert not play.state.told


def test_a_rung_3_on_its_way_is_forgotten_with_its_episode() -> None:
    """An episode that closed has nobody to tell of."""
    play = Play(ends=waiting).quiet_cycle()
    for at in (600, 1_200):
        play.until(at).at(at, "effect.ended", decision=play.number("nudge"), ok=True)
    number = play.until(1_800).number("notify")
    play.at(1_810, "cycle.opened", cycle="c2").at(1_820, "effect.ended", decision=number, ok=True)
    assert (play.state.told, play.state.late) == (False, ())


def test_rung_3_that_reaches_no_channel_is_tried_again_and_escalated() -> None:
    """`notify-failed` like any gate: told after three windows, after the retry."""

    def no_rung_3(decision: d.Decision) -> bool | None:
        return not (isinstance(decision, d.Notify) and decision.kind is d.NotifyKind.IDLE_RECOVERY)

    play = Play(ends=no_rung_3).quiet_cycle().until(3_600)
    assert play.brief("notify", "ladder.deferred", "gate.escalated") == [
        "1800 notify idle-recovery True 1",
        "1800 ladder.deferred notify-failed",
        "2400 notify idle-recovery True 1",
        "3000 notify idle-recovery True 1",
        "3600 notify idle-recovery True 1",
        "3600 gate.escalated notify-failed",
        "3600 notify gate True notify-failed",
    ]


def test_a_retry_that_takes_its_time_to_fail_is_the_same_hold() -> None:
    """Three windows under a nudge that always fails after some seconds are told all the same."""
    play = Play(ends=waiting).quiet_cycle()
    at = 600.0
    for _ in range(4):
        play.until(at).at(at + 10, "effect.ended", decision=play.number("nudge"), ok=False)
        at += 610
    play.until(at - 600)
    assert play.brief("gate.escalated", "notify") == [
        "2440 gate.escalated nudge-failed/dev",
        "2440 notify gate True nudge-failed/dev",
    ]


def test_a_failed_nudges_gate_lives_out_its_window() -> None:
    """Neither a clear nor progress nor the human ends it earlier."""
    play = Play(ends=fails).quiet_cycle().until(600)
    play.at(610, "gate.cleared", gate="nudge-failed", role="dev").handoff(620, "r1", "dev", "review")
    play.at(630, "human.acted").at(640, "gate.raised", gate="nudge-failed", role="dev")
    assert [(gate.name, gate.end_us) for gate in play.state.gates] == [("nudge-failed/dev", 1_200_000_000)]


def test_an_outcome_of_nothing_changes_nothing() -> None:
    """A number that nobody waits for is ignored."""
    play = Play().quiet_cycle()
    before = play.state
    play.at(0, "effect.ended", decision=99, ok=False)
    assert play.state == before


def test_decisions_are_counted_from_one() -> None:
    """0 is no decision: neither a check that was confirmed, nor a marker that waits, takes its outcome for its own."""
    for ok in (True, False):
        play = Play().quiet_cycle().handoff(1, "r1", "review", "dev").at(2, "context.exhausted", role="dev")
        play.handoff(3, "r2", "review", "dev").at(4, "turn.ended", role="dev")
        play.new()
        before = play.state
        play.at(4, "effect.ended", decision=0, ok=ok)
        assert play.new() == []
        assert play.state == before


def test_other_notifications_are_handed_over_once() -> None:
    """A notify that is not rung 3 is the notifier's business: its failure leads to nothing."""
    play = Play(ends=lambda _: False).quiet_cycle().at(5, "question.asked", question="q", role="dev").until(90)
    assert play.brief() == ["5 notify question True q"]
    assert [gate.name for gate in play.state.gates] == ["awaiting-human"]


def test_the_minute_passes_only_while_somebody_watches() -> None:
    """After a restart the engine has the rest of it to say what became of what was in flight."""
    play = Play(ends=never_ends).quiet_cycle().until(600)
    play.at(610, "watch.stopped").at(5_000, "watch.resumed").until(5_049)
    assert play.state.episode is not None
    assert play.state.episode.flight is not None
    play.until(5_050)
    assert play.state.episode is not None
    assert play.state.episode.flight is None
