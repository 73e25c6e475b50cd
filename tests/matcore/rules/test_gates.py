"""Rules 7 to 9: what holds the ladder, how long, and when that is told."""

from __future__ import annotations

import msgspec
import pytest

from matcore.rules.state import State
from tests.matcore.rules.play import Play


def ends(play: Play) -> dict[str, float | None]:
    return {
        gate.name: None if gate.end_us is None else gate.end_us / 1_000_000
        for gate in play.state.gates
        if gate.active(play.state.now_us)
    }


def raised(play: Play, at: float, until: float | None = None) -> Play:
    return play.at(at, "gate.raised", gate="copy-mode", role="dev", until=until)


def cleared(play: Play, at: float) -> Play:
    return play.at(at, "gate.cleared", gate="copy-mode", role="dev")


def test_a_cleared_gate_settles() -> None:
    """It ends 30 s after the clear; a second clear does not prolong that."""
    play = cleared(raised(Play(), 10), 20)
    assert ends(play) == {"copy-mode/dev": 50}
    assert ends(cleared(play, 40)) == {"copy-mode/dev": 50}


def test_the_earlier_of_end_and_settling() -> None:
    """A clear shortly before the end does not prolong it."""
    assert ends(cleared(raised(Play(), 10, 100), 20)) == {"copy-mode/dev": 50}
    assert ends(cleared(cleared(raised(Play(), 10, 100), 90), 95)) == {"copy-mode/dev": 100}


def test_the_last_word_on_its_end_counts() -> None:
    """A raise without an end withdraws an earlier end and a settling clear; one with an end puts it in their place."""
    play = raised(raised(Play(), 10, 100), 20)
    assert ends(play) == {"copy-mode/dev": None}
    assert ends(raised(cleared(play, 30), 40)) == {"copy-mode/dev": None}
    assert ends(raised(cleared(play, 50), 60, 500)) == {"copy-mode/dev": 500}
    assert ends(raised(play, 70, 80)) == {"copy-mode/dev": 80}


def test_an_end_that_has_passed_holds_nothing() -> None:
    """`until` in the past ends the gate now."""
    assert ends(raised(Play(), 100, 50)) == {}
    assert ends(raised(raised(Play(), 10), 100, 50)) == {}


def test_an_end_in_the_farthest_future_survives_json() -> None:
    """A state with a gate that is trusted for longer than the world is still encoded and decoded."""
    state = raised(Play(), 10, 1e300).state
    assert msgspec.json.decode(msgspec.json.encode(state), type=State) == state


def test_a_clear_of_nothing_is_nothing() -> None:
    """Neither a gate that never was nor one that has ended."""
    assert ends(cleared(Play(), 10)) == {}
    assert ends(cleared(raised(Play(), 10, 20), 20)) == {}


def test_raised_at_the_instant_of_its_end_is_the_same_hold() -> None:
    """Its sum goes on: told after three windows in all."""
    play = Play().quiet_cycle()
    raised(cleared(raised(play, 0), 1_470), 1_500)
    assert play.until(2_400).brief("gate.escalated") == ["2400 gate.escalated copy-mode/dev"]


def test_raised_after_its_end_is_a_new_hold() -> None:
    """The sum was dropped when it ended."""
    play = Play(ends=lambda _: False).quiet_cycle()
    raised(cleared(raised(play, 0), 1_470), 1_501).until(3_301)
    assert play.brief("gate.escalated", "nudge") == [
        "1500 nudge 1 1 dev",
        "3301 gate.escalated copy-mode/dev",
    ]


def test_gates_of_roles_that_are_none_hold_nothing() -> None:
    """A fact about an unknown role changes nothing."""
    play = Play().at(1, "gate.raised", gate="copy-mode", role="ghost").at(2, "gate.cleared", gate="x", role="ghost")
    assert play.state.gates == ()


@pytest.mark.parametrize("name", ["paused", "awaiting-human", "injected", "unknown/dev", "relay-pending"])
def test_the_cores_own_names_are_its_own(name: str) -> None:
    """No driver raises or clears a gate that only the core ends."""
    play = Play().at(1, "gate.raised", gate=name)
    assert play.state.gates == ()
    play.at(2, "human.paused").at(3, "gate.cleared", gate="paused")
    assert ends(play) == {"paused": None}


def test_a_trusted_gate_is_never_told() -> None:
    """Only the deadline on progress bounds it."""
    play = raised(Play().quiet_cycle(), 0, 30_000).until(30_000)
    assert play.brief() == [
        "600 ladder.deferred copy-mode/dev",
        "21600 progress.overdue c1",
        "21600 notify overdue True",
        "30000 episode.opened 1",
        "30000 nudge 1 1 dev",
    ]


def test_a_sum_outlives_a_stretch_of_trust() -> None:
    """What names no end again goes on from where it was."""
    play = raised(Play().quiet_cycle(), 0)
    raised(raised(play, 1_600, 5_000), 3_000).until(3_800)
    assert play.brief("gate.escalated") == ["3800 gate.escalated copy-mode/dev"]


def test_time_adds_up_only_while_the_ladder_is_due() -> None:
    """Motion stops the sum and takes nothing back."""
    play = raised(Play().quiet_cycle(), 0)
    play.at(1_000, "role.busy", role="dev").at(2_000, "role.idle", role="dev").until(10_000)
    assert play.brief() == [
        "600 ladder.deferred copy-mode/dev",
        "4000 gate.escalated copy-mode/dev",
        "4000 notify gate True copy-mode/dev",
    ]


def test_a_third_window_in_an_instant_of_motion_is_told_when_due_again() -> None:
    """Not due at that instant: the sum is kept and told as soon as the ladder is due."""
    play = raised(Play().quiet_cycle(), 0).at(2_400, "role.busy", role="dev").at(2_400, "role.idle", role="dev")
    assert play.until(3_000).brief("gate.escalated") == ["3000 gate.escalated copy-mode/dev"]


def test_several_are_told_in_one() -> None:
    """In order of name, after the deferral of that instant, with one notify."""
    play = Play().quiet_cycle().at(0, "gate.raised", gate="tmux-unreachable")
    raised(play, 0).at(2_400, "gate.raised", gate="another").until(9_000)
    assert play.brief() == [
        "600 ladder.deferred copy-mode/dev,tmux-unreachable",
        "2400 ladder.deferred another,copy-mode/dev,tmux-unreachable",
        "2400 gate.escalated copy-mode/dev",
        "2400 gate.escalated tmux-unreachable",
        "2400 notify gate True copy-mode/dev,tmux-unreachable",
        "4200 gate.escalated another",
        "4200 notify gate True another",
    ]


def test_a_gate_that_ends_at_its_third_window_is_not_told() -> None:
    """The ladder acts."""
    play = cleared(raised(Play().quiet_cycle(), 0), 2_370).until(2_400)
    assert play.brief("gate.escalated", "nudge") == ["2400 nudge 1 1 dev"]


def test_motion_does_not_empty_the_record_of_deferrals() -> None:
    """The same set is not written again after a turn; after progress it is."""
    play = raised(Play(progress_deadline=0).quiet_cycle(), 0)
    play.at(700, "role.busy", role="dev").at(710, "role.idle", role="dev").until(1_500)
    assert play.brief() == ["600 ladder.deferred copy-mode/dev"]
    play.handoff(1_500, "r1", "dev", "review").until(2_100)
    assert play.brief("ladder.deferred") == ["2100 ladder.deferred copy-mode/dev"]


def test_a_confirmed_rung_empties_the_record_of_deferrals() -> None:
    """The same gate defers the next rung in words of its own."""
    play = cleared(raised(Play().quiet_cycle(), 0), 670).until(700)
    raised(play, 800).until(1_300)
    assert play.brief("ladder.deferred") == ["600 ladder.deferred copy-mode/dev", "1300 ladder.deferred copy-mode/dev"]


def test_a_relay_on_its_way_holds_the_ladder() -> None:
    """`relay-pending/<to>` from sending to delivery or until it is undeliverable; with several until the last."""
    play = Play().quiet_cycle()
    play.at(1, "relay.sent", id="r1", sender="dev", to="review").at(
        2, "relay.sent", id="m1", sender="human", to="review"
    )
    assert ends(play) == {"relay-pending/review": None}
    assert ends(play.at(3, "relay.delivered", id="m1")) == {"relay-pending/review": None}
    assert ends(play.at(4, "relay.undeliverable", id="r1")) == {}
    assert ends(play.at(5, "relay.undeliverable", id="m1")) == {}


def test_a_relay_that_never_arrives_is_told() -> None:
    """Three windows under it, like any gate."""
    play = Play().quiet_cycle().at(1, "relay.sent", id="r1", sender="dev", to="review").until(3_000)
    assert play.brief("gate.escalated") == ["2401 gate.escalated relay-pending/review"]


def test_one_relay_after_the_other_is_one_hold() -> None:
    """Sent at the instant at which the one before arrived: the sum goes on."""
    play = Play().quiet_cycle().at(0, "relay.sent", id="f1", sender="dev", to="review", kind="fyi")
    play.at(1_000, "relay.delivered", id="f1").at(1_000, "relay.sent", id="f2", sender="dev", to="review", kind="fyi")
    assert play.until(2_400).brief("gate.escalated") == ["2400 gate.escalated relay-pending/review"]


def test_a_final_check_holds_until_the_role_is_busy_or_for_a_minute() -> None:
    """`injected/<role>`, trusted; the turn that it starts ends it."""
    play = Play().quiet_cycle().handoff(1, "r1", "dev", "review").at(2, "turn.ended", role="review")
    assert ends(play) == {"injected/review": 62}
    assert ends(play.at(3, "role.busy", role="review")) == {}


def test_a_nudge_holds_nothing() -> None:
    """`injected` is for final checks and recoveries."""
    assert ends(Play().quiet_cycle().until(601)) == {}


def test_no_settling_time() -> None:
    """With `gate_settle` 0 a gate ends at the clear."""
    assert ends(cleared(raised(Play(gate_settle=0), 10), 20)) == {}
