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
