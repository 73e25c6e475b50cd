"""The 36-hour stall and what may interrupt its recovery, told through spools, loop, journal and core."""

from __future__ import annotations

import pytest

from matcore.engine.driver import Outcome, Verdict
from matcore.engine.journal import Journal
from tests.stories.world import World

WINDOW_S = 600.0


def stalled(world: World) -> None:
    """The developer hands over; the reviewer answers in its final text only."""
    world.up()
    world.relay("dev", "review", 1)
    world.driver.end_turn("duo", "review")
    world.settle()
    world.driver.end_turn("duo", "review")
    world.settle()


@pytest.mark.field_case("Nudges")
def test_a_silent_duo_is_nudged_twice_and_the_human_told_once(world: World) -> None:
    """Three windows of quiet after the last word, the human knows; then nothing more for a day."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    stalled(world)
    world.advance(3 * WINDOW_S + 10)
    assert [d["role"] for d in world.decisions("duo", "nudge")] == ["review", "dev"]
    assert len(world.told) == 1
    world.advance(24 * 3600)
    assert len(world.told) == 1
    assert [d["event"] for d in world.decisions("duo", "notify")] == ["notify"]


def test_a_delivery_ends_in_one_final_check(world: World) -> None:
    """The wake that got no reply is checked once, and closed without a reply at the next turn's end."""
    stalled(world)
    assert [d["messages"] for d in world.decisions("duo", "final_check")] == [["r-000001"]]
    assert [d["reason"] for d in world.decisions("duo", "wake.closed")] == ["no_reply"]
    texts = world.driver.seats["duo", "review"].texts
    assert len(texts) == 2
    assert texts[0].startswith("[relay r-000001 from dev]")


@pytest.mark.field_case("Nudges")
def test_the_nudge_redelivers_what_is_owed(world: World) -> None:
    """The nudge to the one who holds the baton names the relay and says how to close the episode."""
    stalled(world)
    world.advance(WINDOW_S + 1)
    text = world.driver.seats["duo", "review"].texts[-1]
    assert text.startswith("[relay r-000001 from dev] [relay-redelivery=idle-recovery] IDLE RECOVERY")
    assert "send-relay dev FILE" in text


def test_a_handoff_closes_the_episode(world: World) -> None:
    """Progress closes what motion did not."""
    stalled(world)
    world.advance(WINDOW_S + 1)
    world.relay("review", "dev", 2)
    closed = world.decisions("duo", "episode.closed")
    assert [(d["by"], d["relay"]) for d in closed] == [("handoff", "r-000002")]


@pytest.mark.field_case("Nudges")
def test_sigkill_in_an_open_episode_keeps_its_rung(world: World) -> None:
    """The restarted supervisor goes on in the same episode; no second nudge comes within a window."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    stalled(world)
    world.advance(WINDOW_S + 1)
    world.restart()
    world.advance(WINDOW_S - 10)
    assert [d["rung"] for d in world.decisions("duo", "nudge")] == [1]
    world.advance(20)
    nudges = world.decisions("duo", "nudge")
    assert [(d["episode"], d["rung"], d["role"]) for d in nudges] == [(1, 1, "review"), (1, 2, "dev")]


@pytest.mark.field_case("Lost or twice")
def test_a_text_in_flight_at_a_crash_is_unconfirmed_and_not_typed_again(world: World) -> None:
    """What can't be known after a crash is shown as what it is."""
    world.up()
    world.effects.drops = True
    world.relay("dev", "review", 1)
    assert world.entries("engine.inject")
    world.restart()
    delivered = world.entries("relay.delivered")
    assert [d["confirmed"] for d in delivered] == [False]
    assert world.driver.seats["duo", "review"].texts == []
    assert world.entries("engine.injected")[0]["verdict"] == "unconfirmed"


def test_a_refused_delivery_follows_once_when_the_gate_is_gone(world: World) -> None:
    """A gate holds the relay, is named, and the relay is typed exactly once after it."""
    world.up()
    seat = world.driver.seats["duo", "review"]
    seat.answers = [Outcome(Verdict.REFUSED, "a draft", gate="human-typing")]
    world.driver.see("duo", "gate.raised", "review", gate="human-typing")
    world.relay("dev", "review", 1)
    world.advance(120)
    assert seat.texts == []
    assert "human-typing/review" in world.session().ledger.gates
    seat.answers = []
    world.driver.see("duo", "gate.cleared", "review", gate="human-typing")
    world.advance(5)
    assert len(seat.texts) == 1


def test_a_relay_to_a_dead_pane_is_redelivered_by_the_ladder_after_a_restart(world: World) -> None:
    """Undeliverable while the agent is gone; after `mat restart` rung 1 brings it, once."""
    world.up()
    world.driver.see("duo", "role.gone", "review")
    world.settle()
    world.relay("dev", "review", 1)
    world.advance(3)
    assert world.entries("relay.undeliverable")
    world.human(request="restart", role="review")
    world.driver.see("duo", "role.idle", "review")
    world.advance(WINDOW_S + 5)
    texts = world.driver.seats["duo", "review"].texts
    assert len(texts) == 1
    assert "[relay-redelivery=idle-recovery]" in texts[0]


@pytest.mark.parametrize("windows", [1, 2, 4])
@pytest.mark.parametrize("by", ["restart", "up"])
def test_an_agent_that_is_started_again_after_the_ladder_passed_it_by_still_gets_its_relay(
    world: World, by: str, windows: int
) -> None:
    """Its rung was skipped, perhaps the human was told and then restarted it: that is an act of theirs, and the ladder
    begins anew."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role) if role == "dev" else None
    world.up()
    world.driver.see("duo", "role.gone", "review")
    world.settle()
    world.relay("dev", "review", 1)
    world.advance(windows * WINDOW_S + 5)
    assert world.decisions("duo", "rung.skipped")
    if by == "restart":
        world.human(request="restart", role="review")
    else:
        world.up()
    world.driver.see("duo", "role.idle", "review")
    world.advance(WINDOW_S + 5)
    texts = world.driver.seats["duo", "review"].texts
    assert len(texts) == 1
    assert "[relay-redelivery=idle-recovery]" in texts[0]


def test_a_turn_that_ends_before_its_delivery_is_confirmed_still_counts(world: World) -> None:
    """A very short turn: its end is taken in after the delivery that began it, and is checked once."""
    world.up()

    def instant(session: str, role: str, _text: str) -> None:
        started = world.clock.boot_s()
        world.driver.see(session, "turn.ended", role, started=started)
        world.driver.see(session, "role.idle", role)

    world.driver.on_text = instant
    world.relay("dev", "review", 1)
    world.advance(5)
    assert len(world.decisions("duo", "final_check")) == 1


@pytest.mark.field_case("Notifications")
def test_a_failing_channel_is_shown_and_tried_again(world: World) -> None:
    """A rung-3 notify that reached nobody is not counted; it comes again a window later."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    stalled(world)
    world.effects.channel_works = False
    world.advance(3 * WINDOW_S + 10)
    assert world.told == []
    assert any(n.ok is False for n in world.session().ledger.notices.values())
    world.effects.channel_works = True
    world.advance(WINDOW_S)
    assert len(world.told) == 1


@pytest.mark.field_case("Silence")
def test_an_error_in_one_session_stops_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The barrier: one session's mistake is journalled, the other goes on to its rung."""
    world.up("duo")
    world.up("other")
    monkeypatch.setattr(world.session("duo"), "tick", lambda: 1 / 0)
    world.advance(WINDOW_S + 5)
    assert world.supervisor.watched["duo"].fault
    assert world.decisions("other", "nudge")
    assert "ZeroDivisionError" in world.entries("engine.mistake", session="duo")[0]["text"]


def test_the_journal_fed_back_gives_the_same_decisions(world: World) -> None:
    """Folding the facts again leads to the decisions that stand in the journal, in order."""
    from matcore.engine.book import Book
    from matcore.rules import decisions as d
    from matcore.rules.records import parse
    from matcore.rules.session import initial, step

    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    stalled(world)
    world.advance(WINDOW_S * 2.5)
    world.relay("review", "dev", 2)
    world.advance(WINDOW_S * 4)
    journal = Journal.read(world.places.journal("duo"))
    state, again = initial(), []
    for entry in journal.entries(kinds=["fact"]):
        state, decided = step(state, parse({**entry.data, "fact": entry.name, "at": entry.at}))
        again += [d.record(decision) for decision in decided]
    written = [{**e.data, "event": e.name, "at": e.at} for e in journal.entries(kinds=["decision"])]
    journal.close()
    assert again == written
    assert len(written) > 5
    book = Book.read(world.places.journal("duo"))
    assert book.state == state
    book.close()


def test_a_number_that_was_given_twice_loses_no_relay(world: World) -> None:
    """Somebody cleaned the index away and a number was given again: the second relay gets a new one and arrives."""
    world.up()
    world.relay("dev", "review", 1)
    world.relay("review", "dev", 1)
    sent = world.entries("relay.sent")
    assert [(d["id"], d["from"]) for d in sent] == [("r-000001", "dev"), ("r-000002", "review")]
    assert len(world.driver.seats["duo", "dev"].texts) == 1
    assert '"id":"r-000002"' in world.folder_of().sent_index.read_text()


def test_a_kick_has_its_number_in_the_index(world: World) -> None:
    """The first thing that an agent sends can't get the number of the human's first word."""
    world.up(roles=("dev", "review"), roles_config={"dev": {"kick": "Work on it"}})
    assert world.driver.seats["duo", "dev"].texts[0].startswith("[relay r-000001 from human]")
    assert '"id":"r-000001"' in world.folder_of().sent_index.read_text()


def test_a_restarted_supervisor_knows_what_was_typed_before(world: World) -> None:
    """The driver of a new supervisor is told the last texts, so that no report of them counts as a human's act."""
    world.up()
    world.relay("dev", "review", 1)
    world.restart()
    assert world.driver.typed["review"][-1].startswith("[relay r-000001 from dev]")


def test_a_restarted_supervisor_knows_which_text_may_stand_unsubmitted(world: World) -> None:
    """The driver of a new supervisor is told of a text whose Enter nobody saw, until a later one was submitted."""
    world.up()
    world.driver.seats["duo", "review"].answers = [Outcome(Verdict.UNCONFIRMED, "lost")]
    world.relay("dev", "review", 1)
    world.restart()
    assert str(world.driver.seen_seats["review"]["left"]).startswith("[relay r-000001 from dev]")
    world.driver.end_turn("duo", "review")
    world.relay("dev", "review", 2)
    world.restart()
    assert "left" not in world.driver.seen_seats["review"]
