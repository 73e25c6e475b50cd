"""The baton driver keeps what every driver promises, and what only headless turns have."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from baton import process
from baton.driver import BatonDriver
from matcore.engine.driver import RoleSpec, SessionSpec, Verdict
from matcore.errors import BadConfig, OurMistake, Unavailable
from tests.baton.rig import Rig
from tests.contract import SESSION, Contract, Watcher, up
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
    with pytest.raises(BadConfig, match="did you mean 'turn_timeout'"):
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


def test_a_worker_without_its_variables_is_not_started(
    make_rig: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A supervisor that lacks a role's key starts no worker that would fail in every turn; `mat up` does."""
    monkeypatch.setenv("ROLE_KEY_OF_THE_TEST", "1")
    rig = make_rig()
    role = RoleSpec("dev", "quick", rig.work, rig.prompt, env=("ROLE_KEY_OF_THE_TEST",))
    spec = SessionSpec(SESSION, rig.work, (role,), os.environ["PATH"])
    rig.driver.adopt(spec, rig.driver.launch(spec, resume={}))
    rig.kill()
    monkeypatch.delenv("ROLE_KEY_OF_THE_TEST")
    watcher = Watcher(rig.driver)
    gone = watcher.seen[watcher.wait("role.gone", "dev")]
    assert "ROLE_KEY_OF_THE_TEST" in str(gone.fields["reason"])
    monkeypatch.setenv("ROLE_KEY_OF_THE_TEST", "1")
    rig.driver.launch(spec, resume={})
    watcher.wait("role.idle", "dev")


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
