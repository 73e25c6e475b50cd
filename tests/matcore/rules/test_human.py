"""Rules 9 to 13 where people are concerned: questions, pauses, deadlines, boundaries, and time that nobody watched."""

from __future__ import annotations

import pytest

from tests.matcore.rules.play import Play


def test_a_question_is_asked_once() -> None:
    """While it is open the same question is not told again; after its answer it is a new one."""
    play = Play()
    play.at(1, "question.asked", question="q", role="dev").at(2, "question.asked", question="q", role="dev")
    play.at(3, "question.asked", question="p", role="ghost").at(4, "question.answered", question="q")
    play.at(5, "question.asked", question="q", role="dev")
    assert play.brief("notify") == ["1 notify question True q", "5 notify question True q"]


def test_an_answer_to_nothing_is_no_act() -> None:
    """A second answer does not set the ladder back."""
    play = Play().quiet_cycle().until(700).at(710, "question.answered", question="q")
    assert play.new("episode.rearmed") == []


def test_a_human_who_sends_the_same_once_more_has_acted() -> None:
    """Nothing new reaches anybody, so the ladder begins again, and tells again. An unknown relay or role is nothing."""
    play = Play(progress_deadline=0).quiet_cycle().at(1, "relay.sent", id="m", sender="human", to="dev")
    play.at(1, "relay.delivered", id="m").until(9_000)
    play.new()
    play.at(9_000, "relay.already_sent", id="none", sender="human", to="dev")
    play.at(9_000, "relay.already_sent", id="m", sender="human", to="ghost")
    play.at(9_000, "relay.already_sent", id="m", sender="dev", to="review")
    assert play.new() == []
    play.at(9_000, "relay.already_sent", id="m", sender="human", to="dev").until(50_000)
    assert play.brief("episode.rearmed", "notify") == ["9000 episode.rearmed 1", "10800 notify idle-recovery True 1"]


def test_a_resume_is_an_act_and_a_pause_is_none() -> None:
    """Only the resume sets the ladder back; it ends the pause without settling."""
    play = Play().quiet_cycle().until(700).at(710, "human.paused").at(720, "human.resumed").until(1_320)
    assert play.brief("episode.rearmed", "nudge") == [
        "600 nudge 1 1 dev",
        "720 episode.rearmed 1",
        "1320 nudge 1 1 dev",
    ]


def test_a_pause_takes_the_last_word() -> None:
    """A pause without an end withdraws one with an end."""
    play = Play().quiet_cycle().at(1, "human.paused", until=700).at(2, "human.paused").until(2_400)
    assert play.brief("gate.escalated") == ["2400 gate.escalated paused"]


def test_overdue_once_in_a_stretch() -> None:
    """After the last progress or human act, whatever moved; told again only in the next stretch."""
    play = Play(progress_deadline=1_000).at(0, "cycle.opened", cycle="c1").at(0, "role.busy", role="dev").until(9_000)
    play.at(9_000, "human.acted").until(9_999)
    assert play.brief() == ["1000 progress.overdue c1", "1000 notify overdue True"]
    assert play.until(10_000).brief("progress.overdue") == ["10000 progress.overdue c1"]


def test_progress_at_the_deadline_is_in_time() -> None:
    """Facts of the instant come first."""
    play = Play(progress_deadline=1_000).at(0, "cycle.opened", cycle="c1").at(0, "role.busy", role="dev")
    play.at(1_000, "relay.sent", id="r", sender="dev", to="review").at(1_000, "relay.delivered", id="r").until(1_999)
    assert play.new("progress.overdue") == []


def test_rung_3_has_told_for_the_deadline() -> None:
    """At the same instant too: the ladder comes first, and the human is told once."""
    play = Play(progress_deadline=1_800).quiet_cycle().until(90_000)
    assert play.brief("notify") == ["1800 notify idle-recovery True 1"]


def test_the_deadline_waits_for_a_rung_3_on_its_way() -> None:
    """If that fails the deadline tells at once."""
    play = Play(progress_deadline=1_800, ends=lambda each: None if hasattr(each, "kind") else True).quiet_cycle()
    play.until(1_859)
    assert play.new("progress.overdue") == []
    assert play.until(1_860).brief("progress.overdue") == ["1860 progress.overdue c1"]


def test_a_deadline_that_waited_is_told_in_a_pause_too() -> None:
    """It had passed before the pause stopped its clock: as soon as the rung 3 that it waited for has failed."""
    play = Play(progress_deadline=1_800, ends=lambda each: None if hasattr(each, "kind") else True).quiet_cycle()
    play.at(1_810, "human.paused", until=9_000).until(1_860)
    assert play.brief("progress.overdue") == ["1860 progress.overdue c1"]


def test_the_ladder_comes_before_the_deadline() -> None:
    """In one instant: deferral and escalation, then overdue."""
    play = Play(progress_deadline=2_400).quiet_cycle().at(0, "gate.raised", gate="x").until(2_400)
    assert play.brief("gate.escalated", "progress.overdue", "notify") == [
        "2400 gate.escalated x",
        "2400 notify gate True x",
        "2400 progress.overdue c1",
        "2400 notify overdue True",
    ]


def test_the_deadline_stops_during_a_pause_with_an_end() -> None:
    """Not during one without."""
    play = Play(progress_deadline=1_000).at(0, "cycle.opened", cycle="c1").at(0, "role.busy", role="dev")
    play.at(500, "human.paused", until=2_500).until(9_000)
    assert play.brief("progress.overdue") == ["3000 progress.overdue c1"]
    play = Play(progress_deadline=1_000).at(0, "cycle.opened", cycle="c1").at(0, "role.busy", role="dev")
    play.at(500, "human.paused").until(9_000)
    assert play.brief("progress.overdue") == ["1000 progress.overdue c1"]


@pytest.mark.parametrize(
    ("slept", "paused_until", "told"),
    [(None, None, 8_000), (0, None, 8_000), (7_000, None, 8_500), (99_000, None, 9_000), (7_000, 8_000, 9_000)],
)
def test_the_deadline_counts_through_a_gap_less_sleep(
    slept: float | None, paused_until: float | None, told: float
) -> None:
    """Only what the machine slept is taken off, never more than the gap, and not twice when a pause had stopped it."""
    play = Play(progress_deadline=1_500).at(0, "cycle.opened", cycle="c1").at(0, "role.busy", role="dev")
    if paused_until is not None:
        play.at(500, "human.paused", until=paused_until)
    play.at(500, "watch.stopped").at(8_000, "watch.resumed", slept=slept).until(20_000)
    assert play.brief("progress.overdue") == [f"{told:g} progress.overdue c1"]


def test_sleep_before_the_last_progress_is_not_taken_off_after_it() -> None:
    """A handoff taken up in the gap starts the clock; a machine that could hand over was awake since."""
    play = Play(progress_deadline=1_000).at(0, "cycle.opened", cycle="c1")
    play.at(500, "watch.stopped").handoff(7_500, "r", "dev", "review").at(8_000, "watch.resumed", slept=6_000)
    assert play.until(9_000).brief("progress.overdue") == ["8500 progress.overdue c1"]


def test_the_deadline_may_be_off() -> None:
    """`progress_deadline` 0: a session that moves for ever is never told."""
    play = Play(progress_deadline=0).at(0, "cycle.opened", cycle="c1").at(0, "role.busy", role="dev").until(1e7)
    assert play.new() == []


def test_while_nobody_watches_nothing_is_decided() -> None:
    """Ladder, escalation and deadline stand still; what facts close is closed."""
    play = Play(progress_deadline=1_000).quiet_cycle().handoff(1, "r1", "dev", "review").until(700)
    play.new()
    play.at(700, "watch.stopped").at(701, "watch.stopped").at(702, "gate.raised", gate="x").until(9_000)
    assert play.brief() == []
    play.at(9_000, "relay.sent", id="r2", sender="review", to="dev").at(9_000, "relay.delivered", id="r2")
    assert play.brief("episode.closed", "wake.closed") == [
        "9000 episode.closed 1 handoff 1 r2",
        "9000 wake.closed r1 review reply_sent",
    ]


def test_after_a_gap_every_role_is_unknown() -> None:
    """Gone ones too, and one that had long been unknown begins anew."""
    play = Play().at(0, "cycle.opened", cycle="c1").at(0, "role.gone", role="dev").until(700)
    play.at(700, "watch.stopped").at(1_500, "watch.resumed")
    assert [(role.status, role.since_us) for role in play.state.roles] == [("unknown", 1_500_000_000)] * 2
    assert play.until(2_700).brief("ladder.deferred") == ["2700 ladder.deferred unknown/dev,unknown/review"]


def test_a_resumed_watch_that_had_not_stopped_is_nothing() -> None:
    """Without a gap there is nothing to make up for."""
    play = Play().quiet_cycle().at(300, "watch.resumed", slept=100).until(600)
    assert play.brief("nudge") == ["600 nudge 1 1 dev"]


def test_every_opening_is_a_boundary() -> None:
    """Also of the same cycle: wakes end, debts are cleared, and nobody is told."""
    play = Play().quiet_cycle().handoff(1, "r1", "dev", "review").at(5, "cycle.opened", cycle="c1").until(605)
    assert play.brief() == [
        "1 wake.opened r1 review dev visible_reply",
        "5 wake.closed r1 review completed_without_visible_reply boundary",
        "605 episode.opened 1",
        "605 nudge 1 1 dev",
    ]


def test_what_is_on_its_way_arrives_after_a_boundary() -> None:
    """A boundary clears the debt, not the delivery."""
    play = (
        Play().quiet_cycle().at(1, "relay.sent", id="r1", sender="dev", to="review").at(2, "cycle.opened", cycle="c2")
    )
    play.at(3, "relay.delivered", id="r1")
    assert play.brief("wake.opened") == ["3 wake.opened r1 review dev visible_reply"]
    assert play.state.relays == ()


@pytest.mark.parametrize(
    ("fact", "by", "told"),
    [
        ("cycle.completed", "dev", ["9 goal.wrapup c1 dev completed", "9 notify cycle-completed False c1"]),
        ("cycle.completed", "human", ["9 notify cycle-completed False c1"]),
        ("cycle.blocked", "dev", ["9 goal.wrapup c1 dev blocked", "9 notify cycle-blocked True c1"]),
        ("cycle.blocked", "ghost", []),
    ],
)
def test_the_end_of_a_cycle(fact: str, by: str, told: list[str]) -> None:
    """A wrap-up for a role that ended it, none for a human, nothing for somebody unknown."""
    play = Play().quiet_cycle().at(9, fact, cycle="c1", by=by)
    assert play.brief() == told


def test_the_end_of_no_open_cycle_is_stale() -> None:
    """Another one's, or any while none is open."""
    play = Play().at(1, "cycle.blocked", cycle="c1", by="dev").at(2, "cycle.opened", cycle="c1")
    play.at(3, "cycle.completed", cycle="c0", by="dev")
    assert play.brief() == ["1 cycle.stale c1", "3 cycle.stale c0"]


def test_configured_again() -> None:
    """New numbers count at once, new roles are unknown, and a seat that is no longer named keeps what it owes."""
    play = Play().quiet_cycle().handoff(1, "r1", "dev", "review")
    play.at(2, "session.configured", roles=["plan", "dev"], policy={"window": 100}).at(3, "role.idle", role="plan")
    assert [role.name for role in play.state.roles] == ["plan", "dev", "review"]
    assert play.until(103).brief("nudge") == ["103 nudge 1 1 review r1"]
