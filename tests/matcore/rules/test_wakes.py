"""wake.md: from a delivery to a visible reply, each ended exactly once."""

from __future__ import annotations

import pytest

from matcore.rules import decisions as d
from matcore.rules import texts
from tests.matcore.rules.play import Play, never_ends

NO_REPLY = "completed_without_visible_reply no_reply"


def given(*relays: str, **options: object) -> Play:
    """A team in which `dev` was given these by `review`, one a second, from 1 on."""
    play = Play("dev", "review", "plan", **options)  # type: ignore[arg-type]
    for place, relay in enumerate(relays, 1):
        play.handoff(place, relay, "review", "dev")
    play.new()
    return play


def injected(play: Play) -> float | None:
    """Until when `dev` counts as about to be busy."""
    now_us = play.state.now_us
    held = [gate for gate in play.state.gates if gate.name == "injected/dev" and gate.active(now_us)]
    return held[0].end_us / 1_000_000 if held and held[0].end_us is not None else None


def test_a_delivery_is_one_wake() -> None:
    """Later deliveries of the same id change nothing, also after it ended."""
    play = given("r1").at(2, "relay.delivered", id="r1").at(3, "turn.ended", role="dev", outcome="error")
    play.at(4, "relay.delivered", id="r1").at(5, "relay.delivered", id="none")
    assert play.brief() == ["3 wake.closed r1 dev failed error"]


def test_a_relay_sent_twice_is_one() -> None:
    """An id that was known before is not sent, delivered or woken for again."""
    play = given("r1").at(2, "relay.acked", id="r1", role="dev").handoff(3, "r1", "plan", "dev")
    assert play.brief() == ["2 wake.closed r1 dev reply_sent acked"]


@pytest.mark.parametrize(("sender", "kind"), [("human", "request"), ("human", "fyi"), ("review", "fyi")])
def test_what_waits_for_no_reply(sender: str, kind: str) -> None:
    """A fyi, and anything from a human, ends at the next turn end and is never checked."""
    play = Play().at(1, "relay.sent", id="x", sender=sender, to="dev", kind=kind).at(2, "relay.delivered", id="x")
    play.at(3, "turn.ended", role="dev")
    assert play.brief() == [
        f"2 wake.opened x dev {sender} signal_only",
        "3 wake.closed x dev completed_without_visible_reply signal_only",
    ]


def test_a_delivery_to_a_gone_role_fails_at_once() -> None:
    """It opens, so that it is seen, and ends."""
    play = Play().at(0, "role.gone", role="dev").handoff(1, "r1", "review", "dev")
    assert play.brief() == ["1 wake.opened r1 dev review visible_reply", "1 wake.closed r1 dev failed gone"]


def test_a_gone_role_fails_all_its_wakes() -> None:
    """In order of opening; and nothing reclassifies them later."""
    play = (
        given("r1", "r2").at(5, "role.gone", role="dev").at(6, "turn.ended", role="dev").at(7, "role.gone", role="dev")
    )
    assert play.brief() == ["5 wake.closed r1 dev failed gone", "5 wake.closed r2 dev failed gone"]


def test_one_final_check_for_all_that_wait() -> None:
    """Rows that end come first, then one check names all others, oldest first."""
    play = given("r1").at(2, "turn.ended", role="dev")
    play.handoff(3, "r2", "plan", "dev").handoff(4, "r3", "review", "dev")
    play.at(5, "relay.sent", id="f", sender="plan", to="dev", kind="fyi").at(5, "relay.delivered", id="f")
    play.at(6, "turn.ended", role="dev").at(7, "turn.ended", role="dev").at(8, "turn.ended", role="dev")
    assert play.brief("final_check", "wake.closed") == [
        "2 final_check dev r1",
        f"6 wake.closed r1 dev {NO_REPLY}",
        "6 wake.closed f dev completed_without_visible_reply signal_only",
        "6 final_check dev r2,r3",
        f"7 wake.closed r2 dev {NO_REPLY}",
        f"7 wake.closed r3 dev {NO_REPLY}",
    ]


def test_a_final_check_that_cant_be_injected_ends_its_rows() -> None:
    """At once and without a retry; nothing is on its way into the role then."""
    play = given("r1", "r2", ends=lambda each: not isinstance(each, d.FinalCheck)).at(3, "turn.ended", role="dev")
    assert play.brief() == [
        "3 final_check dev r1,r2",
        f"3 wake.closed r1 dev {NO_REPLY}",
        f"3 wake.closed r2 dev {NO_REPLY}",
    ]
    assert not any(gate.active(play.state.now_us) for gate in play.state.gates)


def test_a_late_failure_of_a_final_check_ends_nothing_twice() -> None:
    """Its rows may have ended meanwhile."""
    play = given("r1", ends=never_ends).at(3, "turn.ended", role="dev").at(4, "turn.ended", role="dev")
    play.at(5, "effect.ended", decision=play.number("final_check"), ok=False)
    assert play.brief("wake.closed") == [f"4 wake.closed r1 dev {NO_REPLY}"]


def test_a_check_confirmed_late_holds_from_then() -> None:
    """The role is about to be busy for a minute after the text arrived, unless it was busy meanwhile."""
    for confirmed, busy, until in ((10, None, 70), (10, 5, None), (80, None, 140), (80, 5, None)):
        play = given("r1", ends=never_ends).at(3, "turn.ended", role="dev")
        if busy is not None:
            play.at(busy, "role.busy", role="dev")
        play.at(confirmed, "effect.ended", decision=play.number("final_check"), ok=True)
        held = [gate.end_us for gate in play.state.gates if gate.active(play.state.now_us)]
        assert held == ([] if until is None else [until * 1_000_000])


def test_one_failed_check_of_two_leaves_the_other_on_its_way() -> None:
    """`injected` holds while any text is on its way into the role."""
    play = given("r1", "r2", ends=never_ends).at(3, "turn.ended", role="dev", started=1)
    first = play.number("final_check")
    play.at(4, "turn.ended", role="dev", started=2.5).at(5, "effect.ended", decision=first, ok=False)
    assert play.brief() == ["3 final_check dev r1", "4 final_check dev r2", f"5 wake.closed r1 dev {NO_REPLY}"]
    assert [gate.name for gate in play.state.gates if gate.active(play.state.now_us)] == ["injected/dev"]


def test_a_text_that_fails_takes_nothing_from_another() -> None:
    """The minute of a check that was confirmed before goes on; what the failed one had added to it is gone."""
    play = given("r1", "r2", ends=never_ends).at(3, "turn.ended", role="dev", started=1)
    play.at(10, "effect.ended", decision=play.number("final_check"), ok=True)
    play.at(20, "turn.ended", role="dev", started=2)
    second = play.number("final_check")
    assert injected(play) == 80
    assert injected(play.at(21, "effect.ended", decision=second, ok=False)) == 70


def test_a_check_confirmed_at_the_end_of_its_minute_holds_from_then() -> None:
    """At the instant at which its hold ends, as just before and after it."""
    for confirmed in (62, 63, 64):
        play = given("r1", ends=never_ends).at(2, "role.busy", role="dev").at(3, "turn.ended", role="dev")
        play.until(confirmed).at(confirmed, "effect.ended", decision=play.number("final_check"), ok=True)
        assert injected(play) == confirmed + 60


def test_a_turn_that_began_before_the_check_does_not_take_it_up() -> None:
    """Busy at the instant of the check, but before it, is not the turn that the check starts."""
    for confirmed in (50, 63, 80):
        play = given("r1", ends=never_ends).at(3, "role.busy", role="dev").at(3, "turn.ended", role="dev")
        play.at(3, "role.idle", role="dev").at(confirmed, "effect.ended", decision=play.number("final_check"), ok=True)
        assert injected(play) == confirmed + 60
    play = given("r1", ends=never_ends).at(3, "turn.ended", role="dev").at(3, "role.busy", role="dev")
    assert injected(play.at(80, "effect.ended", decision=play.number("final_check"), ok=True)) is None


def test_the_outcome_of_a_check_counts_also_when_its_rows_have_ended() -> None:
    """The text arrives, or does not, whatever became of what it asks about."""
    for ok, until in ((True, 150), (False, None)):
        play = given("r1", ends=never_ends).at(40, "turn.ended", role="dev").at(41, "relay.acked", id="r1", role="dev")
        assert play.state.rows == ()
        assert injected(play) == 100
        assert injected(play.at(90, "effect.ended", decision=play.number("final_check"), ok=ok)) == until


def test_checks_whose_outcome_never_comes_do_not_pile_up() -> None:
    """Of many into a role that is never busy only the newest are remembered; another role's stay."""
    play = given("p", ends=never_ends).at(2, "relay.sent", id="q", sender="dev", to="review")
    play.at(2, "relay.delivered", id="q").at(2, "turn.ended", role="review")
    for at in range(100, 100 + 3 * texts.KEPT, 3):
        play.handoff(at, f"r{at}", "review", "dev").at(at + 1, "turn.ended", role="dev")
    assert [text.role for text in play.state.texts] == ["review", *["dev"] * texts.KEPT]
    play.at(300, "effect.ended", decision=play.number("final_check"), ok=True)
    assert injected(play) == 360
    play.handoff(400, "last", "review", "dev").at(400, "turn.ended", role="dev")
    assert all(text.decision for text in play.state.texts)


def test_an_error_fails_all_rows_with_its_words() -> None:
    """The reason is the detail, 200 characters at most, or `error`."""
    play = given("r1", "r2").at(3, "turn.ended", role="dev", outcome="error", detail="x" * 300)
    assert [row["reason"] for row in play.new("wake.closed")] == ["x" * 200] * 2
    play = given("r1").at(3, "turn.ended", role="dev", outcome="error", detail="")
    assert play.brief() == ["3 wake.closed r1 dev failed error"]


def test_the_end_of_an_earlier_turn_touches_nothing() -> None:
    """A turn that began before the delivery, or before the final check, never saw it."""
    play = given("r1").at(3, "turn.ended", role="dev", started=0.5).at(4, "turn.ended", role="dev", started=1)
    play.at(5, "turn.ended", role="dev", started=3.9, outcome="error").at(6, "turn.ended", role="dev", started=4)
    assert play.brief() == ["4 final_check dev r1", f"6 wake.closed r1 dev {NO_REPLY}"]


def test_a_reply_settles_what_it_had_seen() -> None:
    """By default all that was delivered from its target, whatever the kind; other targets stay."""
    play = (
        given("r1").at(2, "relay.sent", id="f", sender="review", to="dev", kind="fyi").at(2, "relay.delivered", id="f")
    )
    play.handoff(3, "r3", "plan", "dev").at(4, "relay.sent", id="r4", sender="review", to="dev")
    play.new()
    play.at(5, "relay.sent", id="a", sender="dev", to="review", kind="fyi").at(6, "relay.delivered", id="r4")
    assert play.brief("wake.closed") == ["5 wake.closed r1 dev reply_sent", "5 wake.closed f dev reply_sent"]
    assert [row.message for row in play.state.rows] == ["r3", "r4"]


def test_a_reply_that_had_seen_nothing_settles_nothing() -> None:
    """`seen` 0, or nothing delivered from there yet."""
    play = given("r1").at(2, "relay.sent", id="a", sender="dev", to="review", seen=0)
    play.at(3, "relay.sent", id="b", sender="dev", to="plan")
    assert play.new("wake.closed") == []


def test_content_sent_before_settles_like_a_relay() -> None:
    """`relay.already_sent` of a known id; of an unknown one, or from an unknown role, nothing."""
    play = given("r1").at(2, "relay.already_sent", id="x", sender="dev", to="review")
    play.at(3, "relay.already_sent", id="r1", sender="ghost", to="review")
    play.at(4, "relay.already_sent", id="r1", sender="human", to="review")
    assert play.brief() == []
    assert play.at(5, "relay.already_sent", id="r1", sender="dev", to="review").brief() == [
        "5 wake.closed r1 dev reply_sent"
    ]


def test_sequences_are_the_sessions() -> None:
    """Given at sending, or the next one after the highest."""
    play = Play().at(1, "relay.sent", id="a", sender="dev", to="review", seq=40)
    play.at(2, "relay.sent", id="b", sender="dev", to="review", seq=12).at(
        3, "relay.sent", id="c", sender="dev", to="review"
    )
    assert [relay.seq for relay in play.state.relays] == [40, 12, 41]
    play.at(4, "relay.delivered", id="a").at(5, "relay.delivered", id="b")
    assert play.state.roles[1].heard == (("dev", 40),)


def test_an_ack_ends_that_row_of_that_role() -> None:
    """Not another's, and not twice."""
    play = given("r1", "r2").at(3, "relay.acked", id="r1", role="plan").at(4, "relay.acked", id="r1", role="dev")
    play.at(5, "relay.acked", id="r1", role="dev")
    assert play.brief() == ["4 wake.closed r1 dev reply_sent acked"]


def test_a_wake_that_ends_without_a_reply_leaves_the_debt() -> None:
    """The evidence of a stall is not removed by what noticed it."""
    play = given("r1").at(2, "turn.ended", role="dev").at(3, "turn.ended", role="dev")
    assert [relay.owed for relay in play.state.relays] == [True]


def test_a_new_agent_session_ends_its_rows() -> None:
    """`new_session`, without markers; debts stay."""
    play = given("r1").at(2, "agent.renewed", role="dev").at(3, "context.fresh", role="dev")
    assert play.brief() == ["2 wake.closed r1 dev completed_without_visible_reply new_session"]
    assert len(play.state.relays) == 1


def test_undelivered_debts_stay_after_the_holders_handoff() -> None:
    """Only what had been delivered is answered by it."""
    play = given("r1").at(2, "relay.sent", id="r2", sender="plan", to="dev").handoff(3, "r3", "dev", "plan")
    assert [relay.id for relay in play.state.relays if relay.owed] == ["r2", "r3"]


def test_undeliverable_of_what_arrived_is_nothing() -> None:
    """Nor of an unknown relay."""
    play = given("r1").at(2, "relay.undeliverable", id="r1").at(3, "relay.undeliverable", id="none")
    assert [relay.way for relay in play.state.relays] == ["delivered"]


def test_turns_of_roles_that_are_none() -> None:
    """A fact about an unknown role changes nothing."""
    play = given("r1")
    for fact in ("turn.ended", "role.idle", "context.exhausted", "context.fresh", "agent.renewed"):
        play.at(2, fact, role="ghost")
    assert play.brief() == []
