"""One message is one turn to all others, whatever the worker has to do for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from baton import record, seat
from baton.record import Job, Served
from baton.seat import Seat
from matcore.engine.driver import new_session
from tests.baton.rig import Rig
from tests.waiting import wait_for

Make = Callable[[], Seat]


@pytest.fixture
def make(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Makes a seat of `dev` in this process, not yet started."""
    monkeypatch.setattr(seat, "SWEEP_S", 0.05)
    made: list[Seat] = []
    served = {role: Served("quick", str(rig.work), str(rig.prompt), seat=new_session()) for role in rig.roles}
    job = Job("duo", str(rig.work), os.environ["PATH"], str(rig.state.spool), served)
    record.turns_path(rig.places).mkdir(exist_ok=True)
    rig.box("dev").make()

    def build() -> Seat:
        made.append(Seat(rig.places, job, "dev", lambda: None))
        return made[-1]

    yield build
    for one in made:
        one.close()
        one.join(10)


@pytest.fixture
def forgetful(rig: Rig) -> Rig:
    """Its program never knows the session that it opened before."""
    rig.profile(
        {
            "fresh": ["{program}", "fresh", "{session_id}"],
            "resume": ["sh", "-c", "echo no such session >&2; exit 1"],
            "classes": {"session-lost": "no such session"},
            "takes_prompt": True,
        }
    )
    return rig


def noted(seat: Seat, then: Callable[[dict[str, Any]], None] = lambda _: None) -> list[dict[str, Any]]:
    """What the seat writes down from now on; `then` is called after each."""
    notes, write = [], seat.notes.note

    def note(*, durable: bool = True, **changes: Any) -> bool:
        done = write(durable=durable, **changes)
        notes.append(changes)
        then(changes)
        return done

    seat.notes.note = note  # type: ignore[method-assign]
    return notes


def test_a_lost_session_is_one_turn_to_all_others(forgetful: Rig, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Busy from the first try to the end of the second: nobody sees an idle role, or a turn that failed, between."""
    forgetful.put("one")
    forgetful.put("two")
    role = make()
    notes, told = noted(role), list[str]()
    monkeypatch.setattr(role.notes, "tell", told.append)
    role.start()
    forgetful.settle(done=2)
    assert forgetful.texts() == ["one", "two"]
    begun = [note["started_s"] for note in notes if note.get("status") == "busy"]
    assert [note["status"] for note in notes if "status" in note] == ["busy", "idle", "busy", "busy", "idle"]
    assert told == ["turn-ended"] * 2
    last = forgetful.role_state().last
    assert last is not None
    assert (last.outcome, last.started_s) == ("ok", begun[1])
    assert begun[1] == begun[2]


def test_a_worker_that_ends_after_a_lost_session_leaves_the_message_to_the_next(forgetful: Rig, make: Make) -> None:
    """Between the two tries: it is not over."""
    first = make()

    def end(changes: dict[str, Any]) -> None:
        if "opened" in changes and changes["agent_session"] is None:
            first.close()

    noted(first, end)
    first.start()
    forgetful.put("one")
    forgetful.put("two")
    first.join(20)
    assert forgetful.texts() == ["one"]
    make().start()
    forgetful.settle(done=2)
    assert forgetful.texts()[1].endswith("two")


@pytest.mark.parametrize("status", ["busy", "idle"])
def test_a_state_that_can_not_be_written_delays_the_turn(rig: Rig, make: Make, status: str) -> None:
    """A full disk: nothing is started that is written nowhere, and nothing is lost. When there is room again, it is
    run; and no role stays busy for ever whose end could not be written."""
    role = make()
    write, refused = role.notes.note, 0

    def note(*, durable: bool = True, **changes: Any) -> bool:
        nonlocal refused
        if changes.get("status") == status and refused < 3:
            refused += 1
            return False
        return write(durable=durable, **changes)

    role.notes.note = note  # type: ignore[method-assign]
    rig.put("hello")
    role.start()
    rig.settle()
    state = rig.role_state()
    assert refused == 3
    assert rig.texts() == ["hello"]
    assert state.status == "idle"
    assert state.last is not None
    assert (state.last.turn, state.last.outcome) == (1, "ok")


def test_a_worker_that_ends_while_the_disk_is_full_leaves_the_message_to_the_next(rig: Rig, make: Make) -> None:
    """It was never begun, so it is no repeat."""
    role, tries = make(), []

    def note(**changes: Any) -> bool:
        tries.append(changes)
        return False

    role.notes.note = note  # type: ignore[method-assign]
    rig.put("hello")
    role.start()
    wait_for(lambda: len(tries) > 3, what="several tries")
    role.close()
    role.join(10)
    assert not role.is_alive()
    make().start()
    rig.settle()
    assert rig.texts() == ["hello"]
