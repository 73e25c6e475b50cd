"""Rules 1 to 4, 6 and 12: when the ladder acts, whom it nudges, and what ends an episode."""

from __future__ import annotations

import pytest

from tests.matcore.rules.play import Play

WINDOW = 600


def test_without_a_cycle_nobody_is_woken() -> None:
    """Roles that are idle without an open cycle are left alone."""
    play = Play().at(0, "role.idle", role="dev").at(0, "role.idle", role="review").until(100_000)
    assert play.new() == []


def test_before_it_is_configured_nobody_is_nudged() -> None:
    """A cycle of a session without roles has nobody to wake; the deadline on progress still tells."""
    play = Play()
    play.state = type(play.state)()
    play.at(0, "cycle.opened", cycle="c1").until(100_000)
    assert play.brief() == ["21600 progress.overdue c1", "21600 notify overdue True"]


def test_busy_and_idle_within_one_instant_breaks_quiet() -> None:
    """Any moment that is not quiet starts the window anew, however short."""
    play = Play().quiet_cycle()
    play.at(300, "role.busy", role="dev").at(300, "role.idle", role="dev").until(1_000)
    assert play.brief("episode.opened") == ["900 episode.opened 1"]


def test_a_role_that_gets_busy_when_the_rung_is_due_stops_it() -> None:
    """All facts of an instant are taken in before the ladder."""
    play = Play().quiet_cycle().at(600, "role.busy", role="dev").until(5_000)
    assert play.new() == []


def test_progress_starts_the_window_anew() -> None:
    """A handoff between quiet roles gives a whole window."""
    play = Play().quiet_cycle().handoff(599, "r1", "dev", "review").until(1_200)
    assert play.brief("episode.opened") == ["1199 episode.opened 1 review r1"]


def test_a_late_clock_decides_late() -> None:
    """Between two facts nothing is decided: the decision has the time of the fact that led to it."""
    play = Play().quiet_cycle()
    play.at(605, "relay.acked", id="none", role="dev")
    assert play.brief() == ["600 episode.opened 1", "600 nudge 1 1 dev"]


def test_unknown_from_the_start_is_settled_after_a_window() -> None:
    """Roles never seen can't keep a session silent: their gates are told after three windows."""
    play = Play("dev").at(0, "cycle.opened", cycle="c1").until(3_100)
    assert play.brief() == [
        "1200 ladder.deferred unknown/dev",
        "3000 gate.escalated unknown/dev",
        "3000 notify gate True unknown/dev",
    ]


def test_seeing_unknown_again_does_not_start_it_anew() -> None:
    """A role that is reported unknown every minute is settled as soon as one reported once."""
    play = Play("dev").at(0, "cycle.opened", cycle="c1")
    for minute in range(1, 25):
        play.at(60 * minute, "role.unknown", role="dev")
    assert play.brief("ladder.deferred") == ["1200 ladder.deferred unknown/dev"]


def test_an_unknown_role_that_turns_idle_does_not_break_quiet() -> None:
    """Settled stays settled: the ladder acts at once when the gate ends."""
    play = Play("dev").at(0, "cycle.opened", cycle="c1").at(1_250, "role.idle", role="dev").until(1_250)
    assert play.brief("nudge") == ["1250 nudge 1 1 dev"]


def test_the_oldest_debt_owes() -> None:
    """Rung 1 goes to the recipient of the oldest debt and redelivers that relay, not the newest."""
    play = Play("plan", "dev", "review").quiet_cycle()
    play.handoff(1, "r1", "plan", "dev").handoff(2, "r2", "plan", "review").handoff(3, "r3", "review", "plan")
    play.until(1_300)
    assert play.brief("episode.opened", "nudge") == [
        "603 episode.opened 1 dev r1",
        "603 nudge 1 1 dev r1",
        "1203 nudge 1 2 review",
    ]


@pytest.mark.parametrize(
    ("happens", "nudged"),
    [
        ([(5, "turn.ended", "dev"), (6, "turn.ended", "plan")], "plan"),
        ([(5, "turn.ended", "review"), (5, "turn.ended", "dev")], "dev"),
        ([(5, "turn.ended", "review"), (6, "role.busy", "dev"), (7, "role.idle", "dev")], "dev"),
        ([], "plan"),
    ],
)
def test_active_last(happens: list[tuple[float, str, str]], nudged: str) -> None:
    """A turn's end or a role that got busy counts; of two at one instant the role configured first."""
    play = Play("plan", "dev", "review").quiet_cycle()
    for at, fact, role in happens:
        play.at(at, fact, role=role)
    play.until(700)
    assert play.new("nudge")[0]["role"] == nudged


def test_an_own_relay_is_activity_and_content_sent_before_is_none() -> None:
    """`relay.sent` counts for active last; `relay.already_sent` and an acknowledgement do not."""
    play = Play().quiet_cycle()
    play.at(1, "relay.sent", id="r1", sender="review", to="dev", kind="fyi").at(2, "relay.delivered", id="r1")
    play.at(3, "turn.ended", role="dev").at(4, "relay.sent", id="r2", sender="review", to="dev", kind="fyi")
    play.at(4, "relay.delivered", id="r2")
    play.at(5, "relay.already_sent", id="r1", sender="dev", to="review").at(6, "relay.acked", id="r1", role="dev")
    play.until(700)
    assert play.brief("nudge") == ["600 nudge 1 1 review"]


def test_the_others_are_those_other_than_the_first_rungs() -> None:
    """Rung 2 goes to the one of the others who was active last, even if rung 1's role was active since."""
    play = Play("plan", "dev", "review").quiet_cycle().at(5, "turn.ended", role="review")
    play.at(700, "role.busy", role="review").at(700, "role.idle", role="review").at(710, "turn.ended", role="dev")
    play.until(1_300)
    assert play.brief("nudge") == ["600 nudge 1 1 review", "1200 nudge 1 2 dev"]


def test_when_all_are_gone_the_human_is_told_at_once() -> None:
    """Each rung whose role is gone is skipped and the next is due at once."""
    play = Play().quiet_cycle().handoff(1, "r1", "dev", "review")
    play.at(2, "role.gone", role="dev").at(2, "role.gone", role="review").until(9_000)
    assert play.brief("rung.skipped", "notify", "nudge") == [
        "601 rung.skipped 1 1 review gone",
        "601 rung.skipped 1 2 dev gone",
        "601 notify idle-recovery True 1",
    ]


def test_one_role_alone_that_is_gone() -> None:
    """Adhoc: both nudges are skipped for the same role."""
    play = Play("solo").quiet_cycle().at(5, "role.gone", role="solo").until(9_000)
    assert play.brief("rung.skipped", "notify") == [
        "600 rung.skipped 1 1 solo gone",
        "600 rung.skipped 1 2 solo gone",
        "600 notify idle-recovery True 1",
    ]


def test_a_living_role_is_preferred() -> None:
    """Without a debt a gone role that was active last is passed over, not skipped."""
    play = Play().quiet_cycle().at(5, "turn.ended", role="review").at(6, "role.gone", role="review").until(1_300)
    assert play.brief("nudge", "rung.skipped") == ["600 nudge 1 1 dev", "1200 rung.skipped 1 2 review gone"]


def test_skipped_rungs_count_as_used_up() -> None:
    """`rungs` of `episode.closed` counts what was used up, skipped ones included."""
    play = Play().quiet_cycle().handoff(1, "r1", "dev", "review").at(2, "role.gone", role="review").until(700)
    play.handoff(800, "r2", "dev", "review")
    assert play.brief("episode.closed") == ["800 episode.closed 1 handoff 2 r2"]


@pytest.mark.parametrize(
    "fact",
    [
        {"fact": "relay.sent", "id": "m1", "from": "dev", "to": "review", "kind": "fyi"},
        {"fact": "relay.sent", "id": "m1", "from": "dev", "to": "dev"},
        {"fact": "relay.sent", "id": "r1", "from": "review", "to": "dev"},
        {"fact": "relay.sent", "id": "m1", "from": "ghost", "to": "dev"},
        {"fact": "relay.sent", "id": "m1", "from": "dev", "to": "ghost"},
        {"fact": "relay.already_sent", "id": "r1", "from": "review", "to": "dev"},
        {"fact": "relay.acked", "id": "r1", "role": "review"},
        {"fact": "role.busy", "role": "dev"},
        {"fact": "turn.ended", "role": "dev"},
        {"fact": "context.fresh", "role": "dev"},
        {"fact": "cycle.completed", "cycle": "c9", "by": "dev"},
        {"fact": "cycle.completed", "cycle": "c1", "by": "ghost"},
        {"fact": "agent.renewed", "role": "dev"},
        {"fact": "human.acted"},
    ],
    ids=lambda fact: "-".join(map(str, fact.values())),
)
def test_what_is_no_progress_closes_nothing(fact: dict[str, object]) -> None:
    """Only a handoff or a boundary closes an episode; also not a handoff of an id that was sent before."""
    play = Play().quiet_cycle().handoff(1, "r1", "dev", "review").until(700)
    name = str(fact.pop("fact"))
    play.at(700, name, **fact).until(700)
    assert play.new("episode.closed") == []
    assert play.state.episode is not None


def test_after_rung_3_silence() -> None:
    """The human is told once in an episode, however long it lasts."""
    play = Play(progress_deadline=0).quiet_cycle().until(1_000_000)
    assert len(play.new("notify")) == 1


def test_motion_takes_nothing_back() -> None:
    """A role that gets busy every few minutes delays the rungs by the time that it was busy, and no more."""
    play = Play().quiet_cycle().until(600)
    for step in range(1, 30):
        play.at(600 + 200 * step, "role.busy", role="dev").at(650 + 200 * step, "role.idle", role="dev")
    assert play.brief("nudge", "notify") == [
        "600 nudge 1 1 dev",
        "1350 nudge 1 2 review",
        "2150 notify idle-recovery True 1",
    ]


def test_the_human_sets_the_ladder_back() -> None:
    """Rule 12: one window of accumulated quiet from the act, from rung 1, in the same episode."""
    play = Play().quiet_cycle().until(1_300).at(1_500, "human.acted").until(3_400)
    assert play.brief("episode.rearmed", "nudge", "notify", "episode.closed") == [
        "600 nudge 1 1 dev",
        "1200 nudge 1 2 review",
        "1500 episode.rearmed 1",
        "2100 nudge 1 1 dev",
        "2700 nudge 1 2 review",
        "3300 notify idle-recovery True 1",
    ]


def test_an_act_before_any_rung_rearms_nothing() -> None:
    """With no rung used the act only gives one window."""
    play = Play(ends=lambda _: False).quiet_cycle().until(600).at(700, "human.acted").until(1_300)
    assert play.brief("episode.rearmed", "nudge") == ["600 nudge 1 1 dev", "1300 nudge 1 1 dev"]


def test_an_act_without_an_episode_does_not_touch_the_window() -> None:
    """Rule 2's window goes on."""
    play = Play().quiet_cycle().at(500, "human.acted").until(700)
    assert play.brief("nudge") == ["600 nudge 1 1 dev"]


def test_an_act_in_a_pane_that_is_none_of_ours_is_none() -> None:
    """A fact about an unknown role changes nothing."""
    play = Play().quiet_cycle().until(700).at(800, "human.acted", role="ghost")
    assert play.new("episode.rearmed") == []


def test_one_episode_after_the_other() -> None:
    """A boundary closes it with the cycle that ended, and the next stall opens the next."""
    play = Play().quiet_cycle().until(700).at(700, "cycle.opened", cycle="c2").until(1_300)
    assert play.brief("episode.opened", "episode.closed") == [
        "600 episode.opened 1",
        "700 episode.closed 1 boundary 1 c1",
        "1300 episode.opened 2",
    ]
