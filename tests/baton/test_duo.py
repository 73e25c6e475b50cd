"""A headless duo as its user has it: real commands, a real supervisor, scripted agents, no tmux anywhere."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from baton import lock, record
from matcore.places import SessionPlaces
from tests import demostory
from tests.duo import MAT, Duo
from tests.waiting import wait_for

WINDOW_S = 4.0
ONLY_SAYS = [{"work": 0.3}, {"print": "Looks good to me. (final text only)"}]
HANDOVER: dict[str, Any] = {
    "when": "Work on",
    "once": True,
    "steps": [{"send-relay": {"to": "review", "body": "Please review."}}],
}
REPEAT = "[mat] This may be a repeat"


class HeadlessDuo(Duo):
    """A `Duo` on the baton driver; `PATH` leads to no tmux."""

    def __init__(self, folder: Path, path: str, **config: object) -> None:
        super().__init__(folder, **{"driver": "baton", "window": WINDOW_S, **config})  # type: ignore[arg-type]
        self.env["PATH"] = path

    def worker_pid(self) -> int | None:
        return lock.holder(record.lock_path(self.places))

    def screen(self, role: str) -> str:
        return (record.turns_path(self.places) / f"{role}.log").read_text(encoding="utf-8")

    def processes(self) -> list[psutil.Process]:
        """Worker, supervisor, guard, and all that runs in turns."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                is_ours = process.environ().get("XDG_STATE_HOME") == self.env["XDG_STATE_HOME"]
                if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def end(self) -> None:
        super().end()
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH on which everything is but tmux."""
    links = tmp_path_factory.mktemp("bin")
    for place in os.environ["PATH"].split(os.pathsep):
        for program in sorted(Path(place).iterdir()) if Path(place).is_dir() else []:
            link = links / program.name
            if program.name != "tmux" and not link.is_symlink():
                link.symlink_to(program)
    return str(links)


@pytest.fixture
def make(tmp_path: Path, path: str) -> Iterator[Callable[..., HeadlessDuo]]:
    made: list[HeadlessDuo] = []

    def build(**config: object) -> HeadlessDuo:
        made.append(HeadlessDuo(tmp_path, path, **config))
        return made[-1]

    yield build
    for duo in made:
        duo.end()


@pytest.fixture
def duo(make: Callable[..., HeadlessDuo]) -> HeadlessDuo:
    """Both answer in their final text only; the developer has handed over once."""
    duo = make()
    talkers(duo)
    return duo


def talkers(duo: HeadlessDuo) -> None:
    duo.role("dev", {"rules": [HANDOVER], "default": ONLY_SAYS}, kick="Work on it")
    duo.role("review", {"default": ONLY_SAYS})


@pytest.mark.slow
def test_the_stall_is_told_once_after_three_windows(duo: HeadlessDuo) -> None:
    """Final texts only, as in the 36-hour stall: a final check, two nudges, one notification, then silence."""
    duo.up()
    assert shutil.which("tmux", path=duo.env["PATH"]) is None
    duo.wait("engine.told", 60, ok=True)
    told = duo.entries("notify", kind="idle-recovery")
    quiet_since = max(e.at for e in duo.entries("relay.sent") if e.data["from"] == "dev")
    assert told[0].at - quiet_since >= 3 * WINDOW_S
    assert [(e.data["rung"], e.data["role"]) for e in duo.entries("nudge")] == [(1, "review"), (2, "dev")]
    assert duo.told().count("stands still") == 1
    assert len(duo.entries("final_check")) == 1
    time.sleep(4 * WINDOW_S)  # the promise is about silence
    assert len(duo.entries("notify")) == 1
    texts = duo.submitted("review")
    assert len([text for text in texts if text.startswith("[relay r-000002 from dev]\n")]) == 1
    assert len({line["session"] for line in duo.log("review", "start") if "session" in line}) <= 1
    assert "final text only" in duo.screen("review")


@pytest.mark.slow
def test_sigkill_of_the_supervisor_changes_nothing(duo: HeadlessDuo) -> None:
    """The worker lives on and is found again; the open episode goes on with its rung."""
    duo.up()
    duo.wait("effect.ended", 20, ok=True, decision=duo.wait("nudge", 40, rung=1).data["number"])
    worker, before = duo.worker_pid(), duo.supervisor_pid()
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: duo.supervisor_pid() != before, 20, "another supervisor")
    duo.wait("nudge", 40, rung=2)
    assert duo.worker_pid() == worker
    assert [e.data["rung"] for e in duo.entries("nudge") if e.data["episode"] == 1][:2] == [1, 2]


def test_the_whole_tree_killed_at_once_goes_on_after_up(make: Callable[..., HeadlessDuo]) -> None:
    """Guard, supervisor, worker and agent at one moment, in the middle of a turn: no message is lost, the open turn is
    repeated and says so."""
    duo = make(window=600)
    duo.role(
        "dev",
        {"rules": [{**HANDOVER, "steps": [{"work": 4}, *HANDOVER["steps"]]}], "default": ONLY_SAYS},
        kick="Work on it",
    )
    duo.role("review", {"default": ONLY_SAYS})
    duo.up()
    wait_for(lambda: duo.log("dev", "submitted"), 30, "the turn")
    for process in duo.processes():
        with suppress(psutil.Error):
            process.kill()
    wait_for(lambda: not any(_lives(process) for process in duo.processes()), 10, "all of it is dead")
    duo.up()
    duo.wait("relay.delivered", 60, count=2)
    wait_for(lambda: duo.log("review", "submitted"), 30, "the review's turn")
    first, again = duo.submitted("dev")
    assert again.startswith(REPEAT)
    assert first in again
    assert len(duo.submitted("review")) == 1


def test_sigkill_of_the_worker_repeats_the_open_turn_only(make: Callable[..., HeadlessDuo]) -> None:
    """The supervisor starts another; the relay that was being read is read once more, and nobody is gone."""
    duo = make(window=600)
    duo.role("dev", {"rules": [HANDOVER], "default": ONLY_SAYS}, kick="Work on it")
    duo.role("review", {"default": [{"work": 3}, {"print": "done"}]})
    duo.up()
    wait_for(lambda: duo.log("review", "submitted"), 30, "the review's turn")
    pid = duo.worker_pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: len(duo.submitted("review")) == 2, 30, "the repeat")
    duo.wait("turn.ended", 30, role="review", outcome="ok")
    assert duo.submitted("review")[1].startswith(REPEAT)
    assert len(duo.submitted("dev")) == 1
    assert not duo.entries("role.gone")


def test_a_worker_that_keeps_dying_is_told_once(make: Callable[..., HeadlessDuo]) -> None:
    """Three deaths: both roles gone, one notification that says how to start it, and `mat restart` does."""
    duo = make(window=600)
    duo.role("dev", {"default": ONLY_SAYS})
    duo.role("review", {"default": ONLY_SAYS})
    duo.up()
    duo.wait("role.idle", 30, role="review")
    for _ in range(3):
        pid = wait_for(duo.worker_pid, 20, "a worker")
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda p=pid: duo.worker_pid() != p, what="its end")  # type: ignore[misc]
    duo.wait("role.gone", 20, role="dev")
    duo.wait("role.gone", 20, role="review")
    duo.wait("engine.told", 20, ok=True)
    assert [e.data["kind"] for e in duo.entries("engine.telling")] == ["crash-loop"]
    assert "mat restart duo dev" in duo.told()
    time.sleep(4)  # the promise is about silence: several looks later none is started
    assert duo.worker_pid() is None
    assert duo.told().count("ended 3 times") == 1
    duo.mat("restart", "duo", "dev")
    duo.wait("role.idle", 30, count=2, role="dev")
    duo.wait("role.idle", 30, count=2, role="review")


@pytest.mark.slow
def test_a_program_that_dies_at_once_gets_no_turn_more_than_it_is_owed(make: Callable[..., HeadlessDuo]) -> None:
    """Each text is one turn that failed: the relay and the ladder's nudge, then one word to the human and silence."""
    duo = make()
    duo.role("dev", {"rules": [HANDOVER], "default": ONLY_SAYS}, kick="Work on it")
    duo.role("review", {"default": [{"crash": {"code": 3}}]})
    duo.up()
    duo.wait("turn.ended", 30, role="review", outcome="error")
    duo.wait("wake.closed", 10, status="failed")
    duo.wait("engine.told", 60, ok=True)
    assert duo.told().count("stands still") == 1
    turns = len(duo.log("review", "submitted"))
    assert turns == 1 + len(duo.entries("nudge", role="review"))
    time.sleep(4 * WINDOW_S)  # the promise is about silence
    assert len(duo.log("review", "submitted")) == turns
    assert duo.told().count("mat: ") == 1
    assert not duo.entries("role.gone")
    assert not duo.entries("engine.mistake")


def test_a_full_context_is_recovered_with_one_marker(make: Callable[..., HeadlessDuo]) -> None:
    """The reviewer's context is full at its first relay: a fresh session gets one recovery, and answers."""
    duo = make(window=600)
    answer = {"when": r"recovery-review-dev-2", "steps": [{"send-relay": {"to": "dev", "body": "Reviewed."}}]}
    full = {"when": "relay r-000002", "once": True, "steps": [{"exhaust": True}]}
    duo.role("dev", {"rules": [HANDOVER], "default": ONLY_SAYS}, kick="Work on it")
    duo.role("review", {"rules": [answer, full], "default": ONLY_SAYS})
    duo.up()
    wait_for(lambda: [e for e in duo.entries("relay.sent") if e.data["from"] == "review"], 40, "the review's relay")
    assert [e.data["message"] for e in duo.entries("recovery.delivered")] == ["recovery-review-dev-2"]
    closed = [(e.data["status"], e.data["reason"]) for e in duo.entries("wake.closed", role="review")]
    assert closed[0] == ("completed_without_visible_reply", "context_exhausted")


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed: apt-get install jq")
def test_a_message_written_with_jq_is_the_humans(make: Callable[..., HeadlessDuo]) -> None:
    """Whatever its `from` says; it comes as a relay from the human, once, and one of ours is read back with jq."""
    duo = make(window=600)
    duo.role("dev", {"default": ONLY_SAYS})
    duo.role("review", {"default": ONLY_SAYS})
    duo.up()
    duo.wait("role.idle", 30, role="review")
    inbox = duo.places.root / "mailbox" / "review" / "inbox"
    write = """
        jq -n '{schema: "baton.message/v1", message_id: "mine-1", from: "dev", to: "review", kind: "request",
                body: "Look at the tests, please."}' >"$1/tmp/mine" && mv "$1/tmp/mine" "$1/pending/mine.json"
    """
    for _ in range(2):
        subprocess.run(["bash", "-c", write, "bash", str(inbox)], check=True)
        wait_for(lambda: not list((inbox / "pending").iterdir()), what="nothing pending")
    sent = duo.wait("relay.sent", 20).data
    assert (sent["from"], sent["to"]) == ("human", "review")
    duo.wait("relay.delivered", 20)
    wait_for(lambda: duo.submitted("review"), 20, "its turn")
    assert "from human]" in duo.submitted("review")[0]
    assert "Look at the tests, please." in duo.submitted("review")[0]
    assert len(duo.entries("relay.sent")) == 1
    ours = wait_for(lambda: [p for p in (inbox / "done").iterdir() if "by-hand" not in p.name], 20, "ours, done")
    program = '.from + " " + .message_id + " " + .conversation_id'
    done = subprocess.run(["jq", "-r", program, ours[0]], capture_output=True, text=True, check=True)
    assert done.stdout == f"human {sent['id']} c1\n"


def test_what_is_set_aside_in_a_mailbox_is_seen_in_status(make: Callable[..., HeadlessDuo]) -> None:
    """With its name and reason on record, once each, whatever they are."""
    duo = make(window=600)
    duo.role("dev", {"default": ONLY_SAYS})
    duo.role("review", {"default": ONLY_SAYS})
    duo.up()
    duo.wait("role.idle", 30, role="review")
    pending = duo.places.root / "mailbox" / "review" / "inbox" / "pending"
    for name in ("half.json", "two\nlines"):
        (pending / name).write_text('{"schema": "baton.mess', encoding="utf-8")
    wait_for(lambda: len(duo.entries("engine.set_aside")) == 2, 20, "both on record")
    told = [entry.data for entry in duo.entries("engine.set_aside")]
    assert {str(each["name"]) for each in told} == {"half.json", "two\N{REPLACEMENT CHARACTER}lines"}
    assert {each["role"] for each in told} == {"review"}
    assert all("it is no baton.message/v1" in str(each["reason"]) for each in told)
    (shown,) = json.loads(duo.mat("status", "duo", "--json").stdout)["sessions"]
    assert shown["set_aside"] == len(told)
    assert "set aside" in duo.mat("status", "duo").stdout


def test_attach_status_and_down(duo: HeadlessDuo) -> None:
    """`mat attach` follows the logs, `mat status` knows the roles, `mat down` leaves no process."""
    duo.up()
    duo.wait("turn.ended", 30, role="review")
    assert duo.mat("attach", "duo", "dev").stdout.startswith("--- ")
    argv = [*MAT, "attach", "duo", "-f"]
    with subprocess.Popen(argv, cwd=duo.work, env=duo.env, stdout=subprocess.PIPE, text=True) as attached:
        assert attached.stdout is not None
        assert attached.stdout.readline().startswith("--- ")
        attached.send_signal(signal.SIGINT)
        assert attached.wait(10) == 0
    second = duo.mat("worker", "duo", check=False)
    assert second.returncode == 3, "somebody serves it"
    assert duo.mat("worker", "nobody", check=False).returncode == 1
    (shown,) = json.loads(duo.mat("status", "duo", "--json").stdout)["sessions"]
    assert (shown["session"], shown["state"]) == ("duo", "watched")
    seats = [(role, "scripted", record.read_state(duo.places, role).seat) for role in ("dev", "review")]
    assert [(role["role"], role["backend"], role["agent_session"]) for role in shown["roles"]] == seats
    assert [role["status"] for role in shown["roles"] if role["status"] not in ("busy", "idle")] == []
    assert {role["evidence"] for role in shown["roles"]} <= {"turn record", "submitted"}
    duo.mat("down", "duo", "--now")
    wait_for(lambda: not duo.processes(), 20, "no process left")
    assert duo.entries("engine.down")


def test_restart_goes_on_in_the_same_agent_session(make: Callable[..., HeadlessDuo]) -> None:
    """`mat restart` in the middle of a turn ends that and resumes; after `mat down` a new session begins."""
    duo = make(window=600)
    duo.role("dev", {"rules": [{"when": "slow", "steps": [{"work": 60}]}], "default": ONLY_SAYS})
    duo.role("review", {"default": ONLY_SAYS})
    duo.up()
    duo.wait("role.idle", 30, role="dev")
    duo.mat("send", "duo", "dev", "hello")
    duo.wait("turn.ended", 30, role="dev")
    duo.mat("send", "duo", "dev", "slow")
    wait_for(lambda: len(duo.submitted("dev")) == 2, 20, "the slow turn")
    first = record.read_state(duo.places, "dev").agent_session
    duo.mat("restart", "duo", "dev")
    duo.wait("engine.seat", 20, role="dev")
    duo.mat("send", "duo", "dev", "and now")
    wait_for(lambda: len(duo.submitted("dev")) == 3, 20, "the next turn")
    assert record.read_state(duo.places, "dev").agent_session == first
    duo.mat("down", "duo", "--now")
    duo.up()
    assert record.read_state(SessionPlaces.of(duo.work, "duo"), "dev").agent_session != first


def test_two_mat_up_at_once_start_one_worker(duo: HeadlessDuo) -> None:
    """The second finds the session up."""
    duo.up("--dry-run")
    both = [subprocess.Popen([*MAT, "up"], cwd=duo.work, env=duo.env, stdout=subprocess.PIPE, text=True) for _ in "ab"]
    said = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert len([p for p in duo.processes() if "baton.worker" in p.cmdline()]) == 1


@pytest.mark.slow
def test_the_demonstration_needs_no_tmux(path: str) -> None:
    """`mat demo --driver baton` on a PATH without it: exit 0, and what happens is what the tmux demonstration shows."""
    env = {**os.environ, "PATH": path}
    done = subprocess.run(
        [*MAT, "demo", "--driver", "baton", "--json"], env=env, capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, done.stderr
    told = demostory.entries(done.stdout)
    assert demostory.story(told) == demostory.STORY
    assert demostory.wakes(told) == demostory.WAKES


def _lives(process: psutil.Process) -> bool:
    """Dead, and not yet taken off by its parent, is dead."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
