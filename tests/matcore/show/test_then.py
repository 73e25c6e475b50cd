"""`mat why --at`: everything as of then, nothing of what came later."""

from __future__ import annotations

import json
import time

import msgspec

from matcore.engine.clock import SystemClock
from matcore.engine.heartbeat import Beat
from matcore.places import StatePlaces
from matcore.show.text import clock
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S, supervised


def test_nothing_of_what_came_later_is_told(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """The last decision, questions, gates, relays, notifications, the goal and the end are those of then."""
    told = tell(ago=4 * WINDOW_S).working()
    then = clock(told.now + 30)
    told.fact("question.asked", 60, question="q-1", role="dev", text="LATER?")
    told.fact("gate.raised", gate="copy-mode", role="dev", evidence="tmux")
    told.fact("relay.sent", id="r-000002", from_="dev", to="review", kind="fyi", seq=2)
    told.note("engine.telling", notice="n1", kind="notify-user", action=True, text="LATER")
    told.note("engine.told", notice="n1", ok=False, said="timeout")
    told.fact("role.gone", role="review", evidence="pane is gone")
    told.fact("cycle.blocked", cycle="c1", by="human", reason="LATER")
    told.note("engine.mistake", text="LATER")
    told.ended()
    with supervised(state, "duo"):
        code, out, _ = mat("why", "duo", "--at", then)
        shot = json.loads(mat("why", "duo", "--at", then, "--json")[1])["snapshot"]
    assert code == 0
    assert "LATER" not in out + json.dumps(shot)
    assert "r-000001 was delivered to review" in out
    assert "review has been working for " in out
    assert (shot["state"], shot["cycle"]) == ("watched", "c1")
    assert shot["questions"] == shot["gates"] == shot["relays"] == shot["not_delivered"] == []
    assert shot["last_decision"]["event"] == "wake.opened"


def test_it_says_of_when_it_speaks(mat: Mat, tell: Tell) -> None:
    """First of all, for it is written in the present tense."""
    told = tell(ago=4 * WINDOW_S).working()
    out = mat("why", "duo", "--at", clock(told.now + 30))[1]
    assert out.startswith(f"As of {clock(told.now + 30)}, 39m 2")
    assert "ago; what came later is not told here." in out


def test_what_would_come_then_is_foretold_from_then(mat: Mat, tell: Tell) -> None:
    """An hour later it is known that it came; then it was to come."""
    told = tell(ago=4 * WINDOW_S).stalled(0.5)
    then, coming = clock(told.now), clock(told.now + WINDOW_S / 2 - 1).split()[1]
    told.pass_time(2 * WINDOW_S)
    out = mat("why", "duo", "--at", then)[1]
    assert "If nothing moves, review is nudged (rung 1) in " in out
    assert f"at {coming}" in out


def test_a_stretch_in_which_nobody_watched_is_seen_from_its_end(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """A supervisor that was killed writes nothing; the next one says until when there was one."""
    told = tell(ago=4 * WINDOW_S).working()
    killed = told.now
    told.now += 1000
    told.book.take(killed + 5, told.now, "watch.stopped", {})
    told.fact("watch.resumed")
    assert "Nobody watches this session" in mat("why", "duo", "--at", clock(killed + 500))[1]
    assert "Nobody watches this session" not in mat("why", "duo", "--at", clock(killed + 3))[1]
    with supervised(state, "duo"):
        assert "Nobody watches this session" not in mat("why", "duo", "--at", clock(told.now + 5))[1]


def test_a_stretch_that_has_no_end_yet_is_seen_from_the_last_heartbeat(
    mat: Mat, tell: Tell, state: StatePlaces
) -> None:
    """After it nobody watched, if nobody does now."""
    told = tell(ago=1000).working()
    host = SystemClock()
    beat = Beat(4242, host.boot_id(), host.boot_s() - 500, time.time() - 500, time.time() - 1000, ["duo"])
    state.heartbeat.write_bytes(msgspec.json.encode(beat))
    assert "Nobody watches this session" in mat("why", "duo", "--at", "2m")[1]
    assert "Nobody watches this session" not in mat("why", "duo", "--at", "15m")[1]
    with supervised(state, "duo"):
        assert "Nobody watches this session" not in mat("why", "duo", "--at", "2m")[1]
    assert told.now > 0


def test_a_time_that_is_still_to_come_is_refused(mat: Mat, tell: Tell) -> None:
    """What will be is not known; what comes if nothing moves is said without --at."""
    tell().working()
    code, out, err = mat("why", "duo", "--at", clock(time.time() + 3600))
    assert (code, out) == (1, "")
    assert "is still to come" in err
    assert "mat why duo" in err
