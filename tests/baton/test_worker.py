"""The worker: one turn at a time in the order of sending; it may die anywhere, and no message is lost or repeated
silently."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable

import psutil
import pytest

from baton import lock, record
from baton.record import Job, Served
from baton.steps import Step
from baton.worker import serve
from matcore.engine.driver import new_session
from matcore.errors import Unavailable
from tests.baton.rig import Rig
from tests.waiting import wait_for

REPEAT = "[mat] This may be a repeat"
DIES_AT = """
import os, signal, sys
from pathlib import Path
from baton import steps, worker
def reached(step):
    if step == {step!r}:
        os.kill(os.getpid(), signal.SIGKILL)
steps.reached = reached
sys.exit(worker.serve(Path({root!r})))
"""


def prepare(rig: Rig, **job: object) -> None:
    """What `launch` writes, without starting a worker."""
    roles = {role: Served("quick", str(rig.work), str(rig.prompt), seat=new_session()) for role in rig.roles}
    path = os.environ["PATH"]
    for role in rig.roles:
        rig.box(role).make()
    record.write(
        record.job_path(rig.places),
        Job("duo", str(rig.work), path, str(rig.state.spool), roles, **job),  # type: ignore[arg-type]
    )


@pytest.fixture
def rig(rig: Rig) -> Rig:
    prepare(rig)
    return rig


def test_messages_are_turns_in_the_order_of_sending(rig: Rig) -> None:
    """The first turn opens the agent session, the later ones resume it; each role has its own."""
    for number in range(5):
        rig.put(f"dev {number}")
    rig.put("review 0", "review")
    rig.worker()
    rig.settle(done=5)
    rig.settle("review")
    assert rig.texts() == [f"dev {number}" for number in range(5)]
    lines = [line.split() for line, _ in rig.turns()]
    assert [line[0] for line in lines] == ["fresh", *["resume"] * 4]
    assert len({line[1] for line in lines}) == 1
    assert rig.turns("review")[0][0].split()[0] == "fresh"
    assert rig.turns("review")[0][0].split()[1] != lines[0][1]


def test_new_post_is_taken_up_at_once(rig: Rig) -> None:
    """By an event, not by the sweep: well within a second, ten times."""
    rig.worker()
    took = []
    for number in range(10):
        began = time.monotonic()
        rig.put(str(number))
        wait_for(lambda n=number: len(rig.turns()) > n, what="a turn")  # type: ignore[misc]
        took.append(time.monotonic() - began)
        rig.settle(done=number + 1)
    assert sorted(took)[5] < 1.0, took


def test_a_lost_event_is_made_up_for_by_the_sweep(rig: Rig) -> None:
    """A folder that is another one than was watched: its messages are found all the same."""
    rig.worker()
    pending = rig.box("dev").inbox / "pending"
    pending.rename(pending.with_name("old"))
    rig.put("after the folder was made anew")
    rig.settle()
    assert len(rig.turns()) == 1


def test_each_turn_leaves_a_record_and_a_log(rig: Rig) -> None:
    """Exit code, duration, what was asked and what was said; `turns/<role>.log` is always the newest."""
    rig.put("hello")
    rig.put("FAIL now")
    rig.worker()
    rig.settle(done=2)
    turns = record.turns_path(rig.places)
    first, second = (json.loads((turns / f"dev-00000{n}.json").read_text()) for n in (1, 2))
    assert (first["outcome"], first["exit_code"], first["message"]) == ("ok", 0, "r-000001")
    assert first["duration_s"] > 0
    assert (second["outcome"], second["exit_code"], second["error"]) == ("error", 1, "it broke")
    assert second["error_class"] == "error"
    log = (turns / "dev-000001.log").read_text()
    assert "> hello\n" in log
    assert log.endswith("noted\n")
    assert "it broke" in (turns / "dev.log").read_text()


@pytest.mark.parametrize("step", list(Step)[1:])
def test_a_worker_killed_at_any_step_loses_nothing(rig: Rig, step: Step) -> None:
    """Before the turn: it is run once, without a word. During it: once more, and it says so. After it: never again."""
    rig.put("first")
    rig.put("second")
    assert rig.worker(DIES_AT.format(step=str(step), root=str(rig.places.root))).wait(20) == -signal.SIGKILL
    begun = len(rig.turns())
    rig.worker()
    rig.settle(done=2)
    texts = rig.texts()
    repeats = [text for text in texts if text.startswith(REPEAT)]
    if step in (Step.CLAIMED, Step.NOTED, Step.DONE):
        assert repeats == []
        assert texts == ["first", "second"]
    else:
        assert len(repeats) == 1
        assert repeats[0].endswith("first")
        assert texts[-1] == "second"
        # The program may or may not have come to read its text before its worker died.
        assert len(texts) in (2, 3)
    assert begun <= 1


def test_a_pending_message_waits_for_a_worker(rig: Rig) -> None:
    """Killed before it saw it (`pending`): nothing is begun, nothing is lost."""
    rig.worker()
    rig.kill()
    rig.put("later")
    assert rig.turns() == []
    rig.worker()
    rig.settle()
    assert rig.texts() == ["later"]


def test_a_first_turn_that_was_cut_off_is_repeated_in_a_session_of_its_own(rig: Rig) -> None:
    """No program opens one id twice; the program of the cut turn has ended before, even if its number was not known."""
    rig.put("SLEEP")
    rig.worker(DIES_AT.format(step="started", root=str(rig.places.root))).wait(20)
    rig.program.write_text(rig.program.read_text().replace("sleep 60", "true"))
    rig.worker()
    rig.settle()
    sessions = [line.split()[:2] for line, _ in rig.turns()]
    assert [how for how, _ in sessions] == ["fresh"] * len(sessions)
    assert len({session for _, session in sessions}) == len(sessions)
    assert not [p for p in rig.running() if p.name() == "sleep"]


def test_the_whole_tree_killed_at_once_is_taken_up_again(rig: Rig) -> None:
    """Worker and agent at the same moment, in the middle of a turn: the repeat says so, the rest follows in order."""
    rig.put("SLEEP one")
    rig.put("two")
    rig.worker()
    wait_for(lambda: rig.texts(), what="a turn")
    for process in rig.running():
        process.kill()
    rig.program.write_text(rig.program.read_text().replace("sleep 60", "true"))
    rig.worker()
    rig.settle(done=2)
    assert [text.partition("\n")[0] for text in rig.texts()] == ["SLEEP one", rig.texts()[1].partition("\n")[0], "two"]
    assert rig.texts()[1].startswith(REPEAT)


def test_a_killed_agent_is_a_turn_that_crashed(rig: Rig) -> None:
    """Its class says so; the next message resumes, or begins anew where nothing was opened."""
    rig.worker()
    rig.put("hello")
    rig.put("SLEEP")
    wait_for(lambda: len(rig.turns()) == 2, what="the turn")
    pgid = wait_for(lambda: rig.role_state().pgid, what="its number")
    assert pgid is not None
    os.killpg(pgid, signal.SIGKILL)
    rig.settle(done=2)
    last = rig.role_state().last
    assert last is not None
    assert (last.outcome, last.error_class, last.exit_code) == ("error", "crash", -9)
    rig.put("after")
    rig.settle(done=3)
    assert rig.turns()[-1][0].startswith("resume")


def test_sigterm_leaves_the_open_message_for_the_next_worker(rig: Rig) -> None:
    """The machine goes down in the middle of a turn: nothing counts as done that was not."""
    rig.put("SLEEP")
    worker = rig.worker()
    wait_for(lambda: rig.texts(), what="the turn")
    worker.terminate()
    assert worker.wait(20) == 0
    assert [p for p in rig.running() if p.pid != worker.pid] == []
    rig.program.write_text(rig.program.read_text().replace("sleep 60", "true"))
    rig.worker()
    rig.settle()
    assert rig.texts()[-1].startswith(REPEAT)


def test_a_turn_has_a_time_limit(make_rig: Callable[..., Rig]) -> None:
    """It is ended, its class is `timeout`, and the next message follows."""
    rig = make_rig()
    prepare(rig, turn_timeout_s=0.5)
    rig.put("SLEEP")
    rig.put("next")
    rig.worker()
    rig.settle(done=2)
    first = json.loads((record.turns_path(rig.places) / "dev-000001.json").read_text())
    assert (first["error_class"], first["exit_code"]) == ("timeout", None)
    assert "longer than 0.5 s" in first["error"]
    assert rig.texts() == ["SLEEP", "next"]


def test_a_full_context_is_followed_by_a_fresh_session(rig: Rig) -> None:
    """The next turn opens another one, and the state counts it."""
    for text in ("one", "FULL", "two"):
        rig.put(text)
    rig.worker()
    rig.settle(done=3)
    (a, b, c) = [line.split()[:2] for line, _ in rig.turns()]
    assert [a[0], b[0], c[0]] == ["fresh", "resume", "fresh"]
    assert a[1] == b[1] != c[1]
    assert rig.role_state().exhausted == 1


def test_a_lost_session_is_opened_anew_and_the_message_not_lost(rig: Rig) -> None:
    """The program no longer knows its session: the same message goes to a new one at once."""
    rig.profile(
        {
            "fresh": ["{program}", "fresh", "{session_id}"],
            "resume": ["sh", "-c", "echo no such session >&2; exit 1"],
            "classes": {"session-lost": "no such session"},
            "takes_prompt": True,
        }
    )
    rig.put("one")
    rig.put("two")
    rig.worker()
    rig.settle(done=2)
    assert rig.texts() == ["one", "two"]
    assert rig.role_state().turn == 3


def test_a_program_that_is_gone_is_a_failed_turn(rig: Rig) -> None:
    """Uninstalled under our feet: the turn says so, the role is idle again."""
    rig.worker()
    rig.program.unlink()
    rig.put("hello")
    rig.settle()
    last = rig.role_state().last
    assert last is not None
    assert (last.outcome, last.error_class) == ("error", "error")
    assert "not on PATH" in str(last.error)


def test_a_mistake_of_ours_in_one_role_ends_the_worker(rig: Rig) -> None:
    """A worker that serves half of its roles would look alive."""
    code = DIES_AT.format(step="never", root=str(rig.places.root)).replace(
        "os.kill(os.getpid(), signal.SIGKILL)", "pass"
    )
    code = code.replace("steps.reached = reached", "def broken(step): raise RuntimeError\nsteps.reached = broken")
    worker = rig.worker(code)
    rig.put("hello")
    assert worker.wait(20) == 70


def test_what_a_turn_leaves_running_ends_with_it(rig: Rig) -> None:
    """A background process of the turn's group would work on for a turn that is over."""
    rig.worker()
    rig.put("CHILD")
    rig.settle()
    wait_for(lambda: not [p for p in rig.running() if p.name() == "sleep"], what="no child")


def test_the_agents_environment_says_where_it_is(rig: Rig) -> None:
    """MAT_SESSION, MAT_ROLE, MAT_DIR, and PATH as it was at `mat up`."""
    rig.program.write_text("#!/bin/sh\nenv >%s/env\n" % rig.kept)  # noqa: UP031 - a brace means something here
    rig.put("hello")
    rig.worker()
    rig.settle()
    env = dict(line.split("=", 1) for line in (rig.kept / "env").read_text().splitlines() if "=" in line)
    assert (env["MAT_SESSION"], env["MAT_ROLE"], env["MAT_DIR"]) == ("duo", "dev", str(rig.places.root))
    assert env["PATH"] == os.environ["PATH"]


@pytest.mark.slow
def test_a_thousand_messages_survive_a_worker_that_keeps_dying(rig: Rig) -> None:
    """Two senders, a worker killed at random moments: all are answered, in order for each sender, and only a turn
    that was open is repeated."""
    total, rnd = 1000, random.Random(36)

    def send(sender: str) -> None:
        for number in range(total // 2):
            rig.put(f"{sender} {number}", sender=sender, message=f"r-{number:06d}")

    senders = [threading.Thread(target=send, args=(name,)) for name in ("review", "lead")]
    for sender in senders:
        sender.start()
    kills = 0
    end = time.monotonic() + 100
    while len(rig.done()) < total:
        assert time.monotonic() < end, f"{len(rig.done())} done"
        worker = rig.worker()
        if kills < 12:
            time.sleep(rnd.uniform(0.2, 1.0))
            psutil.Process(worker.pid).kill()
            worker.wait()
            kills += 1
        else:
            while len(rig.done()) < total and time.monotonic() < end:
                time.sleep(0.2)  # looking is work for the disk that the worker needs
    for sender in senders:
        sender.join()
    texts = rig.texts()
    repeats = [text for text in texts if text.startswith(REPEAT)]
    assert len(repeats) <= kills
    answered = [text.rpartition("\n")[2] for text in texts]
    for name in ("review", "lead"):
        numbers = [int(text.split()[1]) for text in answered if text.startswith(name)]
        assert numbers == sorted(numbers)
        assert list(dict.fromkeys(numbers)) == list(range(total // 2))
    assert len(texts) - total <= len(repeats)


def test_the_records_are_forgotten_when_there_are_many(rig: Rig) -> None:
    """The newest logs stay; with an older one go its record and its text."""
    turns = record.turns_path(rig.places)
    turns.mkdir(exist_ok=True)
    for number in range(1, 210):
        for kind in ("log", "json", "txt"):
            (turns / f"dev-{number:06d}.{kind}").touch()
    rig.put("hello")
    rig.worker()
    rig.settle()
    logs = sorted(turns.glob("dev-*.log"))
    assert len(logs) == 200
    assert sorted(path.stem for path in turns.glob("dev-*.json")) == [path.stem for path in logs]
    assert sorted(path.stem for path in turns.glob("dev-*.txt")) == [path.stem for path in logs[:-1]]
    assert logs[-1].name == "dev-000210.log", "a lost state numbers no two turns alike"


def test_a_second_worker_says_so_in_a_sentence(rig: Rig) -> None:
    """Exit 3, as anything that is not available; to a person who starts one by hand a line of a log is none."""
    held = lock.take(record.lock_path(rig.places))
    assert held is not None
    try:
        with pytest.raises(Unavailable, match="duo is served already; what its worker does: mat log duo -f"):
            serve(rig.places.root)
    finally:
        os.close(held)
