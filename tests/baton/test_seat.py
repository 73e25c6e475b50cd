"""One role in the worker when its mailbox is not as it should be: the role goes on, and the log says so once."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from baton import envelope, record, seat
from baton.record import Job, Served
from baton.seat import Seat
from matcore.engine.driver import new_session
from matcore.words import messages
from tests.baton.rig import Rig
from tests.waiting import wait_for

SWEEP_S = 0.05
BY_HAND = {"schema": "baton.message/v1", "message_id": "m-1", "to": "dev", "body": "Please look."}
Starts = Callable[[], Seat]


@pytest.fixture
def start(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Iterator[Starts]:
    """Starts the seat of `dev`, in this process; one at a time."""
    monkeypatch.setattr(seat, "SWEEP_S", SWEEP_S)
    started: list[Seat] = []
    served = {role: Served("quick", str(rig.work), str(rig.prompt), seat=new_session()) for role in rig.roles}
    job = Job("duo", str(rig.work), os.environ["PATH"], str(rig.state.spool), served)
    record.turns_path(rig.places).mkdir(exist_ok=True)
    rig.box("dev").make()
    about(rig)
    rig.places.sent_index.write_text('{"v":1,"session":"duo"}\n', encoding="utf-8")

    def begin() -> Seat:
        for before in started:
            before.close()
            before.join(10)
        started.append(Seat(rig.places, job, "dev", lambda: None))
        started[-1].start()
        return started[-1]

    yield begin
    for one in started:
        one.close()
        one.join(10)


def about(rig: Rig) -> None:
    """`session.json`, as the supervisor writes it."""
    roles = [{"name": role, "dir": str(rig.work)} for role in rig.roles]
    rig.places.about.write_text(json.dumps({"session": "duo", "roles": roles}), encoding="utf-8")


def by_hand(rig: Rig, **fields: object) -> Path:
    """A message that somebody writes, moved in whole."""
    box = rig.box("dev").inbox
    message = {**BY_HAND, **fields}
    staged = box / "tmp" / str(message["message_id"])
    staged.write_text(json.dumps(message), encoding="utf-8")
    return staged.rename(box / "pending" / f"{message['message_id']}.json")


def names(rig: Rig, part: str) -> list[str]:
    return sorted(path.name for path in (rig.box("dev").inbox / part).iterdir())


def said(rig: Rig) -> list[str]:
    """The texts that were passed on to the supervisor, in order."""
    records = [json.loads(path.read_text()) for path in sorted((rig.state.spool / "new").glob("*"))]
    return [(rig.places.handoffs / Path(r["path"]).name).read_text() for r in records if r.get("fact") == "relay.sent"]


def test_a_word_by_hand_that_can_never_be_passed_on_is_set_aside(rig: Rig, start: Starts) -> None:
    """Too long for a relay: it lies in `aside/` with the reason, and a shorter one of its id is another message."""
    start()
    by_hand(rig, body="x" * (1024 * 1024 + 1))
    (reason,) = wait_for(lambda: list((rig.box("dev").inbox / "aside").glob("*.reason")), what="a reason")
    wait_for(lambda: "1 MiB" in reason.read_text(), what="its text")
    assert (names(rig, "claimed"), names(rig, "done")) == ([], [])
    by_hand(rig, body="Shorter.")
    rig.settle()
    assert said(rig) == ["Shorter."]


@pytest.mark.parametrize("what", ["spool", "session.json"])
def test_a_word_by_hand_that_may_be_passed_on_later_waits(
    rig: Rig, start: Starts, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Once and in order, when the fault is over; mat's own deliveries go on meanwhile, and the log says it once."""
    caplog.set_level(logging.WARNING, "mat.worker")
    start()
    if what == "spool":
        shutil.rmtree(rig.state.spool, ignore_errors=True)
        rig.state.spool.parent.mkdir(parents=True, exist_ok=True)
        rig.state.spool.write_text("in the way")
    else:
        rig.places.about.write_text("{")
    for message in ("m-1", "m-2"):
        by_hand(rig, message_id=message, body=f"Word {message}.")
    wait_for(lambda: len(names(rig, "claimed")) == 2, what="both claimed")
    rig.put("of mat's own")
    wait_for(lambda: names(rig, "done"), what="its turn over")
    end_s = time.monotonic() + 5 * SWEEP_S
    wait_for(lambda: time.monotonic() > end_s, what="some sweeps")
    assert rig.texts() == ["of mat's own"]
    assert len([r for r in caplog.records if "waits" in r.message]) == 1
    start()  # the next worker takes them up, too
    if what == "spool":
        rig.state.spool.unlink()
    else:
        about(rig)
    rig.settle(done=3)
    assert said(rig) == ["Word m-1.", "Word m-2."]


def test_a_message_by_hand_that_waits_is_passed_on_once(rig: Rig, start: Starts) -> None:
    """Put there again while it waits: its id is taken once."""
    start()
    rig.places.about.write_text("{")
    for number in (1, 2):
        by_hand(rig)
        wait_for(lambda n=number: len(names(rig, "claimed")) == n, what="claimed")  # type: ignore[misc]
    about(rig)
    rig.settle(done=2)
    assert said(rig) == ["Please look."]


def test_done_removed_in_the_middle_of_a_turn_repeats_nothing(rig: Rig, start: Starts) -> None:
    """`rm -rf done`: the turn's message is done all the same, also for the next worker."""
    start()
    rig.put("SLEEP")
    wait_for(lambda: rig.texts(), what="the turn")
    (rig.box("dev").inbox / "done").rmdir()
    pgid = wait_for(lambda: rig.role_state().pgid, what="its number")
    assert pgid is not None
    os.killpg(pgid, signal.SIGKILL)
    wait_for(lambda: (rig.box("dev").inbox / "done").exists(), what="done, made again")
    rig.settle()
    start()
    rig.put("next")
    rig.settle(done=2)
    assert rig.texts() == ["SLEEP", "next"]


@pytest.mark.parametrize("known", [True, False])
def test_a_claim_that_may_have_been_begun_is_told_as_a_possible_repeat(rig: Rig, start: Starts, known: bool) -> None:
    """One that was left over before the last turn, and all of them where the state is lost."""
    start().close()
    for text in ("one", "two"):
        rig.put(text)
    one = start()
    rig.settle(done=2)
    one.close()
    one.join(10)
    inbox = rig.box("dev").inbox
    first = inbox / "done" / names(rig, "done")[0]
    first.rename(inbox / "claimed" / first.name)
    if not known:
        record.state_path(rig.places, "dev").unlink()
    start()
    rig.settle(done=2)
    assert rig.texts()[2].startswith(messages.repeat())
    assert rig.texts()[2].endswith("one")


def test_a_claim_that_nobody_has_begun_is_no_repeat(rig: Rig, start: Starts) -> None:
    """The worker died right after it had claimed it."""
    one = start()
    rig.put("one")
    rig.settle()
    one.close()
    one.join(10)
    inbox = rig.box("dev").inbox
    name = rig.put("two")
    (inbox / "pending" / name).rename(inbox / "claimed" / name)
    start()
    rig.settle(done=2)
    assert rig.texts() == ["one", "two"]


def test_the_mailbox_is_tidied_without_a_turn(rig: Rig, start: Starts, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the start and every so often, where messages come by hand alone or not at all."""
    monkeypatch.setattr(seat, "TIDY_S", SWEEP_S)
    start()
    for number in range(2):
        old = rig.box("dev").inbox / "done" / f"{number}.json"
        old.touch()
        os.utime(old, (1e9, 1e9))
        wait_for(lambda old=old: not old.exists(), what="tidied")  # type: ignore[misc]
    assert rig.turns() == []


@pytest.mark.parametrize("content", ["", "{", '{"id": 1}', "folder"])
def test_an_order_that_cannot_be_read_is_set_aside(rig: Rig, start: Starts, content: str) -> None:
    """It would have ended each turn of the role at once, for ever."""
    path = record.order_path(rig.places, "dev")
    if content == "folder":
        path.mkdir(parents=True)
    else:
        path.write_text(content)
    start()
    wait_for(lambda: not path.exists(), what="it is out of the way")
    rig.put("one")
    rig.settle()
    last = rig.role_state().last
    assert last is not None
    assert (last.outcome, rig.texts()) == ("ok", ["one"])
    (reason,) = (rig.box("dev").inbox / "aside").glob("*.reason")
    assert "it is no order" in reason.read_text()


@pytest.mark.parametrize("parts", [["done"], ["done", "aside"]])
def test_a_message_that_cannot_be_moved_to_done_stops_nobody(
    rig: Rig, start: Starts, parts: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """`done` is a file, say: the role goes on, the log says it once, and no later worker runs it as a new one."""
    caplog.set_level(logging.WARNING, "mat.worker")
    one = start()
    inbox = rig.box("dev").inbox
    for part in parts:
        (inbox / part).rmdir()
        (inbox / part).write_text("in the way")
    for number in range(3):
        rig.put(str(number))
    wait_for(lambda: len(rig.turns()) == 3 and rig.role_state().status == record.IDLE, what="three turns")
    assert one.is_alive()
    assert rig.texts() == ["0", "1", "2"]
    one.close()
    one.join(10)
    assert len([r for r in caplog.records if "moved to done" in r.message]) == 1
    start().mailbox.put(envelope.deliver(message_id="r-2", sender="review", to="dev", body="last", cycle="c1"))
    wait_for(lambda: rig.texts()[-1].endswith("last"), what="the last turn")
    again = [text for text in rig.texts()[3:] if not text.endswith("last")]
    assert all(text.startswith(messages.repeat()) for text in again)
    assert bool(again) == ("aside" in parts)


@pytest.mark.parametrize("part", ["pending", "claimed"])
def test_a_folder_that_is_none_stops_nobody(rig: Rig, start: Starts, part: str) -> None:
    """A file lies in its place: the role waits until it is gone."""
    folder = rig.box("dev").inbox / part
    one = start()
    if part == "claimed":
        folder.rmdir()
        folder.write_text("in the way")
        rig.put("one")
    else:
        folder.rename(folder.with_name("kept"))
        folder.write_text("in the way")
    end_s = time.monotonic() + 5 * SWEEP_S
    wait_for(lambda: time.monotonic() > end_s, what="some sweeps")
    assert one.is_alive()
    folder.unlink()
    if part == "pending":
        rig.put("one")
    rig.settle()
    assert rig.texts() == ["one"]
