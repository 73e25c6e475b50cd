"""A full context leaves one marker for each target; fresh runtimes take them up one at a time."""

from __future__ import annotations

from matcore.rules import decisions as d
from tests.matcore.rules.play import Play, never_ends


def team(**options: object) -> Play:
    return Play("dev", "review", "plan", **options)  # type: ignore[arg-type]


def full(play: Play, at: float) -> Play:
    return play.at(at, "context.exhausted", role="dev")


def fresh(play: Play, at: float) -> Play:
    return play.at(at, "context.fresh", role="dev")


def no_recovery(decision: d.Decision) -> bool | None:
    return not isinstance(decision, d.RecoveryDelivered)


def marks(play: Play) -> list[str]:
    return [marker.id for marker in play.state.markers]


def test_a_signal_leaves_no_marker() -> None:
    """Only rows that waited for a visible reply do."""
    play = team().at(1, "relay.sent", id="m", sender="human", to="dev").at(2, "relay.delivered", id="m")
    assert full(play, 3).brief("wake.closed", "recovery.marked") == [
        "3 wake.closed m dev completed_without_visible_reply context_exhausted"
    ]


def test_a_higher_frontier_takes_the_place_of_one_that_waits() -> None:
    """In its place in the order; a lower one does not."""
    play = team().handoff(1, "r1", "review", "dev").handoff(2, "r2", "plan", "dev")
    full(play, 3).handoff(4, "r3", "review", "dev")
    full(play, 5)
    assert marks(play) == ["recovery-dev-review-3", "recovery-dev-plan-2"]
    play.at(6, "relay.sent", id="low", sender="review", to="dev", seq=1).at(7, "relay.delivered", id="low")
    full(play, 8)
    assert marks(play) == ["recovery-dev-review-3", "recovery-dev-plan-2"]
    assert play.brief("recovery.marked") == [
        "3 recovery.marked recovery-dev-review-1 dev review",
        "3 recovery.marked recovery-dev-plan-2 dev plan",
        "5 recovery.marked recovery-dev-review-3 dev review",
    ]


def test_a_lower_frontier_that_was_never_marked_waits_behind_nothing() -> None:
    """What a higher marker of the same target already says is not marked."""
    play = team().at(1, "relay.sent", id="r9", sender="review", to="dev", seq=9).at(1, "relay.delivered", id="r9")
    full(play, 2)
    play.at(3, "relay.sent", id="r5", sender="review", to="dev", seq=5).at(3, "relay.delivered", id="r5")
    full(play, 4)
    assert marks(play) == ["recovery-dev-review-9"]


def test_one_id_is_marked_once_ever() -> None:
    """A second exhaustion ends its wake for good; the debt stays."""
    play = fresh(full(team().handoff(1, "r1", "review", "dev"), 2), 3)
    full(play, 4)
    fresh(play, 5)
    assert play.brief() == [
        "1 wake.opened r1 dev review visible_reply",
        "2 wake.closed r1 dev completed_without_visible_reply context_exhausted",
        "2 recovery.marked recovery-dev-review-1 dev review",
        "3 recovery.delivered recovery-dev-review-1 dev review",
        "3 wake.opened recovery-dev-review-1 dev review visible_reply",
        "4 wake.closed recovery-dev-review-1 dev completed_without_visible_reply context_exhausted",
    ]
    assert [relay.id for relay in play.state.relays if relay.owed] == ["r1"]


def test_one_that_could_not_be_injected_waits_for_the_next() -> None:
    """In its place; nothing is on its way into the role meanwhile."""
    play = team(ends=no_recovery).handoff(1, "r1", "review", "dev").handoff(2, "r2", "plan", "dev")
    fresh(full(play, 3), 4)
    assert not any(gate.active(play.state.now_us) for gate in play.state.gates)
    fresh(play, 5)
    assert play.brief("recovery.delivered", "wake.opened")[2:] == [
        "4 recovery.delivered recovery-dev-review-1 dev review",
        "5 recovery.delivered recovery-dev-review-1 dev review",
    ]


def test_each_fresh_runtime_takes_another() -> None:
    """While the outcome of one is not known the next runtime takes the next, and then there is none."""
    play = team(ends=never_ends).handoff(1, "r1", "review", "dev").handoff(2, "r2", "plan", "dev")
    fresh(fresh(fresh(full(play, 3), 4), 5), 6)
    assert play.brief("recovery.delivered") == [
        "4 recovery.delivered recovery-dev-review-1 dev review",
        "5 recovery.delivered recovery-dev-plan-2 dev plan",
    ]


def test_it_holds_the_role_from_its_decision() -> None:
    """No nudge goes into a role with a recovery on its way; one that arrives late holds from then."""
    play = fresh(full(team(ends=never_ends).handoff(1, "r1", "review", "dev"), 3), 4)
    assert [(gate.name, gate.end_us) for gate in play.state.gates if gate.active(play.state.now_us)] == [
        ("injected/dev", 64_000_000)
    ]
    play.at(90, "effect.ended", decision=play.number("recovery.delivered"), ok=True)
    assert [gate.end_us for gate in play.state.gates if gate.active(play.state.now_us)] == [150_000_000]


def test_its_outcome_counts_also_when_the_marker_was_answered() -> None:
    """The text arrives, or does not, whether or not an answer is still owing; it opens no wake then."""
    for ok, held in ((True, [110_000_000]), (False, [])):
        play = fresh(full(team(ends=never_ends).handoff(1, "r1", "review", "dev"), 3), 4)
        play.at(5, "relay.sent", id="a", sender="dev", to="plan", kind="fyi").at(5, "relay.delivered", id="a")
        play.at(6, "relay.sent", id="b", sender="dev", to="review", kind="fyi").at(6, "relay.delivered", id="b")
        assert marks(play) == []
        play.new()
        play.at(50, "effect.ended", decision=play.number("recovery.delivered"), ok=ok)
        assert play.new("wake.opened") == []
        assert [gate.end_us for gate in play.state.gates if gate.active(play.state.now_us)] == held


def test_an_answer_drops_what_it_had_seen() -> None:
    """Waiting markers for that target up to there; others stay."""
    play = team().handoff(1, "r1", "review", "dev").handoff(2, "r2", "plan", "dev")
    full(play, 3).at(4, "relay.sent", id="a", sender="dev", to="review", seen=0)
    assert marks(play) == ["recovery-dev-review-1", "recovery-dev-plan-2"]
    play.at(5, "relay.sent", id="b", sender="dev", to="review")
    assert marks(play) == ["recovery-dev-plan-2"]


def test_a_boundary_drops_them() -> None:
    """No recovery spoils a finished cycle, not even one that was on its way."""
    play = fresh(full(team(ends=never_ends).handoff(1, "r1", "review", "dev"), 2), 3)
    number = play.number("recovery.delivered")
    play.at(4, "cycle.opened", cycle="c2").at(5, "effect.ended", decision=number, ok=True)
    assert play.brief("wake.opened") == ["1 wake.opened r1 dev review visible_reply"]


def test_a_higher_frontier_waits_behind_one_on_its_way() -> None:
    """If that one then fails the higher one alone goes on."""
    play = fresh(full(team(ends=never_ends).handoff(1, "r1", "review", "dev"), 2), 3)
    number = play.number("recovery.delivered")
    full(play.handoff(4, "r2", "review", "dev"), 5)
    assert marks(play) == ["recovery-dev-review-1", "recovery-dev-review-2"]
    play.at(6, "effect.ended", decision=number, ok=False)
    assert marks(play) == ["recovery-dev-review-2"]


def test_another_role_s_marker_is_not_taken() -> None:
    """Markers are the role's."""
    play = full(team().handoff(1, "r1", "review", "dev"), 2).at(3, "context.fresh", role="review")
    assert play.new("recovery.delivered") == []


def test_a_recovery_of_a_gone_role_fails_at_once() -> None:
    """Like any delivery to one."""
    play = full(team().handoff(1, "r1", "review", "dev"), 2).at(3, "role.gone", role="dev")
    assert fresh(play, 4).brief("wake.closed")[1:] == ["4 wake.closed recovery-dev-review-1 dev failed gone"]
