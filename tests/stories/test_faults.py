"""What the host, the driver and the channels do wrong, and what of it may be noticed by the others: nothing."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from matcore.engine.driver import Outcome, Verdict
from matcore.engine.events import JobEnded
from matcore.engine.journal import Entry, Journal, JournalUnusable, NewEntry
from tests.stories.world import World

W = 600.0


def asleep(world: World) -> None:
    """The developer has handed over, the reviewer's turns have ended: nothing moves from here."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    world.up()
    world.relay("dev", "review", 1)
    world.settle()


@pytest.mark.field_case("Restarts")
def test_a_suspended_machine_is_no_stall(world: World) -> None:
    """Eight hours of sleep count for nothing, though the first thing that was seen came before the loop knew of it."""
    asleep(world)
    world.advance(W / 2)
    world.clock.sleep(8 * 3600)
    world.driver.see("duo", "human.acted", "dev")
    world.settle()
    resumed = world.entries("watch.resumed")[-1]
    assert resumed["slept"] == pytest.approx(8 * 3600)
    assert resumed["at"] - world.entries("watch.stopped")[-1]["at"] == pytest.approx(8 * 3600, abs=1)
    assert world.decisions("duo", "nudge") == []
    world.advance(W + 5)
    assert len(world.decisions("duo", "nudge")) == 1


def test_a_loop_that_stood_still_says_so(world: World) -> None:
    """More than a window without a turn is a gap, not quiet."""
    asleep(world)
    world.clock.advance(5 * W)
    world.settle()
    assert len(world.entries("watch.stopped")) == 1
    assert world.decisions("duo", "nudge") == []


@pytest.mark.parametrize("hours", [-5, 7])
def test_a_calendar_that_is_set_moves_no_deadline(world: World, hours: int) -> None:
    """The wall clock is for people: set back or forward by hours, the rung comes when it was due."""
    asleep(world)
    world.advance(W / 2)
    world.clock.set_wall(world.clock.wall_s() + hours * 3600)
    world.advance(W / 2 - 5)
    assert world.decisions("duo", "nudge") == []
    world.restart()
    world.advance(W + 5)
    assert len(world.decisions("duo", "nudge")) == 1


@pytest.mark.field_case("Silence")
def test_a_driver_that_fails_is_a_gate_then_nobody_is_made_out_and_the_human_hears(world: World) -> None:
    """A check that fails for ever can't silence the ladder."""
    asleep(world)
    world.driver.fault = RuntimeError("no answer")
    world.settle()
    world.advance(W + 5)
    assert "driver-failed" in world.session().ledger.gates
    assert {seen.status for seen in world.session().ledger.roles.values()} == {"unknown"}
    world.advance(5 * W)
    assert any("driver-failed" in text for text in world.told)
    world.driver.fault = None
    world.settle()
    assert "driver-failed" not in world.session().ledger.gates


def test_a_driver_that_hangs_in_a_delivery_is_named_and_starts_no_burst(world: World) -> None:
    """What piled up behind a text that hung is not typed when it comes back: nobody waits for it any more."""
    asleep(world)
    world.effects.drops = True
    world.relay("review", "dev", 2)
    world.advance(70)
    assert "delivery-hangs/dev" in world.session().ledger.gates
    world.advance(10 * W)
    world.effects.drops = False
    before = len(world.driver.seats["duo", "dev"].texts)
    job = world.session().post.flying["dev"]
    world.supervisor.queue.put(JobEnded("duo", job.id, Outcome(Verdict.UNCONFIRMED, "late")))
    world.settle()
    assert "delivery-hangs/dev" not in world.session().ledger.gates
    assert len(world.driver.seats["duo", "dev"].texts) == before


@pytest.mark.field_case("Notifications")
def test_a_channel_that_failed_is_told_of_after_a_restart_and_once(world: World) -> None:
    """NOT DELIVERED until it is; then never again, restarts or not."""
    asleep(world)
    world.effects.channel_works = False
    world.says("dev", request="notify-user", action=True, text="Look at this.")
    assert [n.ok for n in world.session().ledger.notices.values()] == [False]
    world.restart()
    assert len(world.told) == 1
    world.restart()
    world.restart(clean=True)
    assert len(world.told) == 1


@pytest.mark.field_case("Notifications")
def test_a_question_that_was_answered_is_not_announced_any_more(world: World) -> None:
    """Look again before telling: what nobody has heard of and nobody need hear of is withdrawn."""
    asleep(world)
    world.effects.channel_works = False
    world.says("dev", fact="question.asked", question="q1", text="Which?")
    world.human(fact="question.answered", question="q1", text="This one.")
    assert world.session().ledger.notices == {}
    world.restart()
    assert world.told == []
    assert world.entries("engine.withdrawn")[0]["reason"] == "answered"


def test_an_attempt_that_reached_nobody_is_one_line_not_many(world: World) -> None:
    """Without a channel rung 3 is tried once a window, and status shows the last try only."""
    asleep(world)
    world.effects.channel_works = False
    world.advance(12 * W)
    tries = [d for d in world.decisions("duo", "notify") if d["kind"] == "idle-recovery"]
    assert len(tries) > 4
    shown = [n for n in world.session().ledger.notices.values() if n.kind == "idle-recovery"]
    assert len(shown) == 1
    world.relay("review", "dev", 2)
    world.settle()
    assert not [n for n in world.session().ledger.notices.values() if n.kind == "idle-recovery"]


def test_a_folder_that_was_cleaned_away_is_made_again_and_nothing_is_lost(world: World) -> None:
    """The index is written anew with every number; the human hears of it once; work goes on."""
    asleep(world)
    root = world.folder_of().root
    shutil.rmtree(root)
    world.advance(5)
    assert (root / "spool" / "dev" / "new").is_dir()
    assert '"id":"r-000001"' in world.folder_of().sent_index.read_text()
    assert sum("have been made again" in text for text in world.told) == 1
    world.relay("review", "dev", 2)
    world.settle()
    assert world.driver.seats["duo", "dev"].texts
    assert sum("have been made again" in text for text in world.told) == 1


def test_a_folder_that_cannot_be_written_is_trouble_and_no_mistake(world: World) -> None:
    """It is told once, the watch goes on, and it is over when the folder can be written again."""
    asleep(world)
    root = world.folder_of().root
    shutil.rmtree(root.parent)
    root.parent.write_text("in the way")
    world.advance(10)
    assert world.supervisor.watched["duo"].fault is None
    assert sum("can't be written" in text for text in world.told) == 1
    root.parent.unlink()
    world.advance(5)
    assert world.session().ledger.troubles == {}


def flip_a_byte(path: Path) -> None:
    """Change the newest entry behind the journal's back."""
    db = sqlite3.connect(path)
    db.executescript("DROP TRIGGER entries_are_not_changed; UPDATE entries SET data = '{}x' WHERE seq = 3")
    db.commit()
    db.close()


def test_a_damaged_journal_fails_its_session_and_no_other(world: World, tmp_path: Path) -> None:
    """It is shown as failed, with the reason, the human is told once whatever restarts, and the others go on."""
    said = tmp_path / "said"
    world.up("duo", notify=[{"command": ["tee", "-a", str(said)]}])
    world.up("other")
    world.supervisor.end()
    flip_a_byte(world.places.journal("duo"))
    for _ in range(2):
        world.supervisor = world._supervisor()
        world.settle()
        assert "duo" in world.supervisor.failed
        assert "other" in world.supervisor.watched
        wait_told(world)
        world.supervisor.end()
    assert said.read_text().count("is watched no longer") == 1
    world.supervisor = world._supervisor()
    world.settle()
    world.advance(W + 5)
    assert world.decisions("other", "nudge")


def wait_told(world: World) -> None:
    from tests.waiting import wait_for

    wait_for(lambda: not world.supervisor.host_notices.waits, 20, "the channel's answer")


def test_a_mistake_of_ours_is_told_once_and_a_restart_watches_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session is shown as failed until a supervisor has taken it up again."""
    world.up()
    monkeypatch.setattr(world.session(), "tick", lambda: 1 / 0)
    world.settle()
    assert "ZeroDivisionError" in str(world.supervisor.watched["duo"].fault)
    assert sum("ZeroDivisionError" in text for text in world.told) == 1
    world.restart()
    assert world.supervisor.watched["duo"].fault is None
    assert world.session().ledger.mistake is None
    assert sum("ZeroDivisionError" in text for text in world.told) == 1


def test_what_happens_while_the_journal_cannot_be_written_waits_in_order(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only state folder: no relay is lost, nothing is typed unwritten, and all is made up for afterwards."""
    asleep(world)
    append = Journal.append
    faults = ["read-only file system"]

    def may_fail(journal: Journal, new: Sequence[NewEntry]) -> list[Entry]:
        if faults:
            raise JournalUnusable(faults[0])
        return append(journal, new)

    monkeypatch.setattr(Journal, "append", may_fail)
    before = len(world.driver.seats["duo", "dev"].texts)
    world.relay("review", "dev", 2)
    world.driver.see("duo", "role.gone", "review")
    world.advance(30)
    assert not world.supervisor.watched["duo"].goes
    assert len(world.driver.seats["duo", "dev"].texts) == before
    faults.clear()
    world.advance(3)
    assert world.supervisor.watched["duo"].fault is None
    assert [t.startswith("[relay r-000002 from review]") for t in world.driver.seats["duo", "dev"].texts] == [
        True,
        False,
    ]
    assert world.session().ledger.status("review") == "gone"


def test_a_number_far_beyond_the_index_gets_the_next_one(world: World) -> None:
    """A hostile record can't make us count to nine quadrillion."""
    world.up()
    world.relay("dev", "review", 2**52)
    assert [(e["id"], e["seq"]) for e in world.entries("relay.sent")] == [("r-000001", 1)]


@pytest.mark.field_case("Notifications")
def test_agents_of_many_sessions_that_go_at_once_are_one_notice(world: World) -> None:
    """Once a channel took it no session's ladder tells the same; a session that comes back is watched as ever."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    names = ["one", "two", "three"]
    for name in names:
        world.up(name)
    for name in names:
        for role in ("dev", "review"):
            world.driver.see(name, "role.gone", role)
    world.settle()
    world.advance(5)
    assert len(world.told) == 1
    assert "6 agents of 3 sessions" in world.told[0]
    world.advance(5 * W)
    assert len(world.told) == 1
    for role in ("dev", "review"):
        world.driver.see("one", "role.idle", role)
    world.relay("dev", "review", 1, session="one")
    world.advance(4 * W)
    assert any("one stands still" in text for text in world.told)


def test_after_a_reboot_without_panes_the_host_has_one_notice(world: World) -> None:
    """None of the sessions' agents are there; the journals go on at the calendar's difference."""
    for name in ("one", "two"):
        world.up(name)
    before = world.session("one").book.at
    for seat in world.driver.seats.values():
        seat.status = "gone"
    for watched in world.supervisor.watched.values():
        watched.session.close()
    world.clock.reboot("boot-2", down_s=3600)
    world.supervisor = world._supervisor()
    world.settle()
    world.advance(5)
    assert len(world.told) == 1
    assert "mat up" in world.told[0]
    assert world.session("one").book.at - before >= 3600
    world.advance(4 * W)
    assert len(world.told) == 1
