"""The baton driver keeps what every driver promises, and what only headless turns have."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from baton import keeper, process
from baton.driver import BatonDriver
from matcore.engine.driver import RoleSpec, SessionSpec, Verdict
from matcore.errors import BadConfig, OurMistake, Unavailable
from tests.baton.rig import Rig
from tests.contract import SESSION, Contract, up
from tests.waiting import wait_for


class BatonPlace:
    """The rig as the contract needs it."""

    def __init__(self, rig: Rig) -> None:
        self.rig, self.driver = rig, rig.driver

    @property
    def spec(self) -> SessionSpec:
        return self.rig.spec

    def new_driver(self) -> BatonDriver:
        return self.rig.new_driver()

    def texts(self, role: str) -> list[str]:
        return self.rig.texts(role)

    def finish(self, role: str) -> None:
        """The program does so itself."""

    def hold(self, role: str) -> None:
        self.rig.put("SLEEP", role)
        wait_for(lambda: self.rig.texts(role), what="a turn that runs")

    def end_agent(self, role: str) -> None:
        def worker() -> int | None:
            pid = self.rig.pid()
            if pid is None:
                self.driver.observe()  # which starts another
            return pid

        for _ in range(3):
            wait_for(worker, what="a worker")
            self.rig.kill()

    def running(self) -> Sequence[object]:
        return self.rig.running()


@pytest.fixture
def place(rig: Rig) -> BatonPlace:
    return BatonPlace(rig)


class TestContract(Contract):
    """See `tests/contract.py`."""


def test_an_option_that_nobody_reads_is_refused() -> None:
    """A misspelt limit would silently be none."""
    with pytest.raises(BadConfig, match='did you mean "turn_timeout"'):
        BatonDriver({"turn_timout": 3})


def test_what_can_not_run_is_said_before_anything_is_started(rig: Rig) -> None:
    """A profile without headless turns, a program that is nowhere, permissions that it doesn't have."""
    role = rig.spec.roles[0]

    def launch(**changes: Any) -> None:
        changed = RoleSpec(**{**{f: getattr(role, f) for f in RoleSpec.__slots__}, **changes})
        rig.driver.launch(SessionSpec(SESSION, rig.work, (changed,), os.environ["PATH"]), resume={})

    with pytest.raises(BadConfig, match=r"roles\.dev\..*qwen has no `headless:`"):
        launch(backend="qwen")
    with pytest.raises(BadConfig, match=r"roles\.dev\.permissions: there is no 'root'"):
        launch(permissions="root")
    with pytest.raises(Unavailable, match="dev: there is no folder"):
        launch(dir=rig.work / "nowhere")
    rig.profile({"fresh": ["no-such-program"], "resume": ["no-such-program"]})
    with pytest.raises(Unavailable, match="dev: no-such-program is not on PATH"):
        launch()
    assert rig.running() == []


def test_a_mark_that_the_text_does_not_have_is_our_mistake(rig: Rig) -> None:
    """Such a text could not be told from others."""
    with pytest.raises(OurMistake):
        rig.driver.deliver(SESSION, "dev", "text", "mark")


def test_a_very_short_turn_ends_in_idle(rig: Rig) -> None:
    """Shorter than a look: its end and the idle after it are seen all the same, each time."""
    watcher = up(place := BatonPlace(rig))
    for number in range(5):
        before = len(watcher.seen)
        text = f"[mat] number {number}"
        assert place.driver.deliver(SESSION, "dev", text, text).verdict is Verdict.SUBMITTED
        wait_for(lambda n=number: len(rig.done()) == n + 1, what="the turn's end")  # type: ignore[misc]
        watcher.wait("role.idle", "dev", watcher.wait("turn.ended", "dev", before))


def test_a_dead_worker_is_started_again_and_its_turn_repeated(rig: Rig) -> None:
    """The driver finds the lock free and starts another; the open turn is run again and says so; nobody is gone."""
    watcher = up(place := BatonPlace(rig))
    place.driver.deliver(SESSION, "dev", "[mat] SLEEP", "[mat] SLEEP")
    wait_for(lambda: rig.texts(), what="the turn")
    rig.kill()
    wait_for(lambda: watcher.tick() is not None and len(rig.texts()) == 2, what="the repeat")
    assert "may be a repeat" in rig.texts()[1]
    assert not [s for s in watcher.seen if s.name == "role.gone"]
    assert len([p for p in rig.running() if "sleep" in p.name()]) == 1, "the first turn's program has ended"


def test_a_worker_that_keeps_dying_is_one_crash_loop(rig: Rig) -> None:
    """Three deaths in ten minutes: all roles are gone, the reason stands once, nothing is started any more."""
    watcher = up(place := BatonPlace(rig))
    place.end_agent("dev")
    watcher.wait("role.gone", "review", watcher.wait("role.gone", "dev"))
    gone = [s for s in watcher.seen if s.name == "role.gone"]
    assert [s.fields.get("reason") for s in gone] == ["crash-loop", "no worker"]
    watcher.tick()
    assert rig.pid() is None
    assert len([s for s in watcher.seen if s.name == "role.gone"]) == 2


def told_env(rig: Rig) -> dict[str, str]:
    """The environment of the newest turn."""
    lines = (rig.kept / "env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def test_a_worker_that_is_started_again_has_the_environment_of_mat_up(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it, whatever the supervisor's own has under these names: its agents are the user's, not the guard's."""
    rig.program.write_text('#!/bin/sh\ncat >/dev/null\nenv >"%s/env"\necho noted\n' % rig.kept)  # noqa: UP031
    monkeypatch.setenv("KEY_OF_THE_TEST", "of mat up")
    watcher = up(place := BatonPlace(rig))
    monkeypatch.setenv("KEY_OF_THE_TEST", "of the supervisor")
    monkeypatch.setenv("ANOTHER_OF_THE_TEST", "of the supervisor")
    for number in (1, 2):
        rig.kill()
        wait_for(lambda: watcher.tick() is not None and rig.pid(), what="another worker")
        place.driver.deliver(SESSION, "dev", f"[mat] {number}", "[mat]")
        rig.settle(done=number)
        assert told_env(rig)["KEY_OF_THE_TEST"] == "of mat up"
        assert "ANOTHER_OF_THE_TEST" not in told_env(rig)


def keeper_pid(rig: Rig) -> int:
    kept = keeper.look(rig.places.root)
    assert kept is not None
    return kept.pid


def test_a_worker_whose_environment_is_lost_is_left_to_mat_up(rig: Rig) -> None:
    """Whoever kept it has died, too: no other one is taken in its place, and it is said what to do; `mat up` does."""
    watcher = up(place := BatonPlace(rig))
    os.kill(keeper_pid(rig), signal.SIGKILL)
    wait_for(lambda: keeper.look(rig.places.root) is None, what="its end")
    rig.kill()
    gone = watcher.seen[watcher.wait("role.gone", "dev")]
    assert "the environment of `mat up` has ended" in str(gone.fields["said"])
    assert str(gone.fields["said"]).endswith("mat up")
    with pytest.raises(Unavailable, match="mat up"):
        place.driver.restart(SESSION, "dev", resume=None)
    place.driver.launch(rig.spec, resume={})
    watcher.wait("role.idle", "dev")


def test_up_brings_back_who_keeps_the_environment(rig: Rig) -> None:
    """The worker lives, only that one has died: `mat up` starts nothing but another of it."""
    up(place := BatonPlace(rig))
    before = rig.pid()
    os.kill(keeper_pid(rig), signal.SIGKILL)
    wait_for(lambda: keeper.look(rig.places.root) is None, what="its end")
    seats = place.driver.launch(rig.spec, resume={})
    assert not any(seat["started"] for seat in seats.values())
    assert rig.pid() == before
    rig.kill()
    wait_for(lambda: place.driver.observe() is not None and rig.pid(), what="another worker")


def test_a_worker_that_can_not_start_is_seen_at_once(rig: Rig) -> None:
    """What it serves can't be read: nobody waits for a lock that nobody will take."""
    rig.places.root.mkdir(exist_ok=True)
    (rig.places.root / "worker.json").write_text("torn")
    began = time.monotonic()
    with pytest.raises(Unavailable, match="ended at once"):
        process.start(rig.places)
    assert time.monotonic() - began < process.STARTS_WITHIN_S / 2
    wait_for(lambda: not rig.running(), what="nothing left")


@pytest.mark.slow
def test_a_folder_that_is_gone_for_good_has_no_keeper(rig: Rig) -> None:
    """Without a worker and without a folder there is nothing to keep."""
    process.keep(rig.places)
    assert keeper.look(rig.places.root) is not None
    shutil.rmtree(rig.places.root)
    wait_for(lambda: not rig.running(), 2 * keeper.WAITS_S, "nothing left")


def test_a_message_that_nobody_takes_is_taken_back(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that hangs: refused with a gate, and the message is not run an hour later."""
    monkeypatch.setattr("baton.driver.CLAIMED_WITHIN_S", 0.3)
    up(place := BatonPlace(rig))
    pid = rig.pid()
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    outcome = place.driver.deliver(SESSION, "dev", "[mat] text", "[mat]")
    os.kill(pid, signal.SIGCONT)
    assert (outcome.verdict, outcome.gate) == (Verdict.REFUSED, "no-worker")
    rig.put("after it")
    rig.settle()
    assert rig.texts() == ["after it"]


@pytest.mark.field_case("Lost or twice")
def test_a_message_that_somebody_has_deleted_is_not_called_submitted(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """That it waits no longer is no proof that it was taken; nobody knows, and it is not sent again."""
    up(BatonPlace(rig))
    monkeypatch.setattr("baton.driver.CLAIMED_WITHIN_S", 0.3)
    worker = rig.pid()
    assert worker is not None
    os.kill(worker, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(1) as pool:
            flying = pool.submit(rig.driver.deliver, SESSION, "dev", "[m] hello", "[m]")
            waiting = rig.places.root / "mailbox" / "dev" / "inbox" / "pending"
            for path in wait_for(lambda: list(waiting.glob("*.json"))):
                path.unlink()
            assert flying.result().verdict is Verdict.UNCONFIRMED
    finally:
        os.kill(worker, signal.SIGCONT)


def test_stopping_ends_what_a_turn_has_left_behind(rig: Rig) -> None:
    """A process that has left the turn's group is found by the turn's mark; what waited is set aside."""
    up(place := BatonPlace(rig))
    place.driver.deliver(SESSION, "dev", "[mat] SLEEP", "[mat]")
    rig.put("it waits")
    place.driver.stop(SESSION)
    wait_for(lambda: not rig.running(), what="nothing left")
    inbox = rig.box("dev").inbox
    reasons = [path.read_text() for path in (inbox / "aside").glob("*.reason")]
    assert reasons == ["the session has ended\n"] * 2
    assert rig.role_state().agent_session is None


def test_two_workers_are_one(rig: Rig) -> None:
    """The second one says that somebody serves the session, and ends."""
    up(BatonPlace(rig))
    second = rig.worker()
    assert second.wait(10) == Unavailable.exit_code
    assert process.is_alive(rig.places)


def test_a_worker_whose_lock_was_deleted_ends(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody cleaned the folder away: two would serve one session, so the first gives way."""
    monkeypatch.setattr("baton.worker.SWEEP_MS", 200)
    up(BatonPlace(rig))
    first = rig.pid()
    (rig.places.root / "serve.lock").unlink()
    rig.driver.observe()
    wait_for(lambda: rig.pid() not in (None, first), what="another worker")
    wait_for(lambda: len([p for p in rig.running() if "baton.worker" in p.cmdline()]) == 1, what="one worker")


def test_a_folder_that_was_cleaned_away_is_served_again(rig: Rig) -> None:
    """All of it deleted under a living worker: that one ends, another begins, in the agent session that it was."""
    watcher = up(place := BatonPlace(rig))
    place.driver.deliver(SESSION, "dev", "[mat] one", "[mat]")
    rig.settle()
    shutil.rmtree(rig.places.root)
    rig.places.root.mkdir()
    wait_for(lambda: watcher.tick() is not None and rig.pid(), 20, "another worker")
    assert place.driver.deliver(SESSION, "dev", "[mat] two", "[mat]").verdict is Verdict.SUBMITTED
    rig.settle()
    first, second = [line.split()[:2] for line, _ in rig.turns()]
    assert (first[0], second[0]) == ("fresh", "resume")
    assert first[1] == second[1]
    assert not [s for s in watcher.seen if s.name == "role.gone"]


@pytest.mark.parametrize(
    ("hook", "seen"),
    [
        ({"event": "turn-ended", "data": {}}, []),
        ({"event": "set-aside", "data": None}, []),
        ({"event": "set-aside", "data": {"name": "n", "reason": "r"}}, [{"role": "dev", "name": "n", "reason": "r"}]),
    ],
)
def test_of_a_workers_words_only_what_it_set_aside_is_news(rig: Rig, hook: dict[str, object], seen: object) -> None:
    """The end of a turn is seen by its record."""
    assert [sighting.fields for sighting in rig.driver.heard("duo", "dev", hook)] == seen
