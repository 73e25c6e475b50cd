"""The read model of `mat status` and `mat why`."""

from __future__ import annotations

from matcore.rules import view
from matcore.rules.ladder import Stage
from matcore.rules.session import initial
from matcore.rules.state import Status
from tests.matcore.rules.play import Play, never_ends


def test_an_empty_session() -> None:
    """Nothing is open, nothing is owed, nothing will happen."""
    state = initial()
    assert (view.seats(state), view.debt(state), view.cycle(state), view.episode(state)) == ((), None, None, None)
    assert (view.active_gates(state, 0), view.questions(state)) == ((), ())
    assert view.awaited(state) == ()
    assert view.quiet(state, 5) == view.Quiet(0, running=False, due_at=None)
    assert view.watched(state)


def test_a_stall_at_a_glance() -> None:
    """Who holds the baton and since when, the rung, the quiet so far and the time of the next step."""
    play = Play().at(0, "cycle.opened", cycle="c1").at(0, "role.idle", role="dev").at(3, "role.idle", role="review")
    play.handoff(5, "r1", "dev", "review").until(605)
    state = play.state
    assert view.seats(state) == (view.Seat("dev", Status.IDLE, 0), view.Seat("review", Status.IDLE, 3))
    assert view.debt(state) == view.Debt("review", "r1", "dev", 5, delivered=True)
    assert view.cycle(state) == view.OpenCycle("c1", 0)
    assert view.episode(state) == view.OpenEpisode(1, 605, 1, Stage.FIRST, None)
    assert view.quiet(state, 700) == view.Quiet(95, running=True, due_at=1_205)


def test_gates_with_their_time_to_escalation() -> None:
    """What each has added up, its end, and when it is told; in order of name."""
    play = Play().quiet_cycle().at(10, "gate.raised", gate="x", role="dev")
    play.at(20, "gate.raised", gate="a", until=5_000).at(30, "question.asked", question="q", role="dev").until(600)
    trusted, awaiting, open_one = view.active_gates(play.state, 700)
    assert trusted == view.ActiveGate("a", 20, 5_000, True, 0, False, None)
    assert awaiting.name == "awaiting-human"
    assert open_one == view.ActiveGate("x/dev", 10, None, False, 100, False, 2_400)
    assert view.questions(play.state) == (view.OpenQuestion("q", "dev", 30),)
    told = view.active_gates(play.until(2_400).state, 2_400)[2]
    assert (told.escalated, told.escalates_at) == (True, None)


def test_a_gate_that_only_settles_says_since_when() -> None:
    """While its reason holds, and for the core's own failed attempts, there is no such time."""
    play = Play(ends=lambda _decision: False).quiet_cycle().at(10, "gate.raised", gate="x", role="dev")
    assert [gate.cleared for gate in view.active_gates(play.state, 20)] == [None]
    play.at(40, "gate.cleared", gate="x", role="dev")
    [settling] = view.active_gates(play.state, 50)
    assert (settling.cleared, settling.ends, settling.trusted) == (40, 70, False)
    [failed] = view.active_gates(play.until(600).state, 700)
    assert (failed.name, failed.ends, failed.cleared) == ("nudge-failed/dev", 1200, None)
    play.at(800, "gate.raised", gate="x", until=820).at(810, "gate.cleared", gate="x")
    assert [(gate.ends, gate.cleared) for gate in view.active_gates(play.state, 815)][1] == (820, 810)


def test_after_rung_3_there_is_no_next_step() -> None:
    """The ladder is silent from then on."""
    play = Play().quiet_cycle().until(1_800)
    assert view.quiet(play.state, 1_900).due_at is None


def test_what_is_on_its_way_is_awaited() -> None:
    """A rung counts when its outcome is known."""
    play = Play(ends=never_ends).quiet_cycle().handoff(1, "r1", "dev", "review").until(601)
    assert view.awaited(play.state) == (play.number("nudge"),)
    assert view.episode(play.state) == view.OpenEpisode(1, 601, 0, Stage.OPENED, play.number("nudge"))


def test_what_a_final_check_asks_about() -> None:
    """Its messages by target, while they wait; its outcome and a recovery's are awaited until the role is busy."""
    play = (
        Play("dev", "review", "plan", ends=never_ends).handoff(1, "r1", "review", "dev").handoff(2, "r2", "plan", "dev")
    )
    play.handoff(3, "r3", "review", "dev").at(4, "turn.ended", role="dev").handoff(4, "r4", "plan", "dev")
    number = play.number("final_check")
    assert view.checked(play.state, number) == {"review": ("r1", "r3"), "plan": ("r2",)}
    play.at(5, "context.exhausted", role="dev").at(6, "context.fresh", role="dev")
    assert view.checked(play.state, number) == {}
    assert view.awaited(play.state) == (number, play.number("recovery.delivered"))
    play.at(7, "role.busy", role="dev")
    assert view.awaited(play.state) == (play.number("recovery.delivered"),)


def test_nobody_watches() -> None:
    """A gap is seen as one."""
    assert not view.watched(Play().at(5, "watch.stopped").state)
