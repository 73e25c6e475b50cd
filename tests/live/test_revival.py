"""Agents that end, fill up or are throttled, on a real tmux: what mat does about it by itself, and what it leaves."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from matcore.engine.revival import RESUME_AFTER_S
from matcore.errors import OurMistake, Unavailable
from tests.duo import Duo
from tests.live.rig import READY, Rig
from tests.waiting import wait_for
from tmuxdriver import layout, seatdata
from tmuxdriver.panes import Identity
from tmuxdriver.profile import shipped_folder
from tmuxdriver.sessions import has_session

QUIET = [{"work": 0.2}, {"print": "Noted."}]


@pytest.fixture
def duo(tmp_path: Path) -> Iterator[Duo]:
    duo = Duo(tmp_path, window=60.0)
    yield duo
    duo.end()


def up(duo: Duo, **steps: list[dict[str, Any]]) -> None:
    """Both idle; `review` plays `steps[WORD]`, once, for a text with that word."""
    rules = [{"when": word, "once": True, "steps": played} for word, played in steps.items()]
    duo.role("dev", {"default": QUIET}, prompt="duo-dev")
    duo.role("review", {"rules": rules, "default": QUIET}, prompt="duo-dev")
    duo.up()
    for role in ("dev", "review"):
        duo.wait("role.idle", 30, role=role)


def hand_over(duo: Duo, text: str, to: str = "review") -> None:
    """What the agent `dev` would do with `send-relay`."""
    path = duo.work / f"to-{to}-{time.monotonic_ns()}.md"
    path.write_text(text, encoding="utf-8")
    env = {**duo.env, "MAT_SESSION": duo.session, "MAT_ROLE": "dev", "MAT_DIR": str(duo.places.root)}
    argv = [str(Path(sys.executable).parent / "send-relay"), to, str(path)]
    subprocess.run(argv, cwd=duo.work, env=env, capture_output=True, timeout=30, check=True)


def alive(duo: Duo) -> list[psutil.Process]:
    """The agents of `review` that run."""
    pids = {int(start["pid"]) for start in duo.log("review", "start")}
    found = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    return [process for process in found if process.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.slow
@pytest.mark.field_case("Restarts")
def test_an_agent_that_crashes_is_resumed_in_its_session(duo: Duo) -> None:
    """In the middle of a turn: its wake has failed, no marker is kept, and one agent goes on in the same session."""
    up(duo, crash=[{"work": 0.2}, {"crash": {"signal": "KILL"}}])
    duo.mat("send", duo.session, "review", "Please crash now.")
    duo.wait("role.gone", 20, role="review")
    duo.wait("wake.closed", 5, status="failed", reason="gone")
    duo.wait("engine.restarting", 20, by="mat", role="review")
    duo.wait("role.idle", 20, count=2, role="review")
    assert [(s["resumed"], s["session"]) for s in duo.log("review", "start")] == [
        (False, duo.log("review", "start")[0]["session"]), (True, duo.log("review", "start")[0]["session"])
    ]  # fmt: skip
    assert len(alive(duo)) == 1
    assert not duo.entries("recovery.marked")
    duo.mat("send", duo.session, "review", "And on.")
    wait_for(lambda: any("And on." in text for text in duo.submitted("review")), 20, "the next text")
    assert duo.told() == ""


@pytest.mark.field_case("Restarts")
def test_an_agent_that_outlived_its_pane_is_ended_before_its_session_is_taken_up(
    make_rig: Callable[..., Rig],
) -> None:
    """A person closed the pane and the program went on without it: never two on one agent session."""
    rig = make_rig(changes={"launch": {"argv": ["/bin/sh", "-c", 'trap "" HUP; exec "$@"', "sh", "{python}", "-m",
                                                "matcore.scripted"]}})  # fmt: skip
    rig.up()
    first = psutil.Process(rig.agent_pid())
    stopped = first.pid
    os.kill(stopped, signal.SIGSTOP)  # deaf to the terminal's end, and alive
    rig.server.new_session(session_name="other", window_command="/bin/cat")
    rig.person("kill-pane", "-t", rig.pane())
    rig.wait_to_see("role.gone", role="dev", resumable=True)
    rig.settled(0.2)
    rig.seats = {"dev": rig.driver.restart("duo", "dev", resume=str(rig.seats["dev"]["agent_session"]))}
    rig.wait_for_screen(READY)
    assert not first.is_running() or first.status() == psutil.STATUS_ZOMBIE
    assert len({record["pid"] for record in rig.log("start")}) == 2


def test_up_after_the_servers_death_ends_an_agent_that_outlived_it(make_rig: Callable[..., Rig]) -> None:
    """The terminal server was killed, an agent was not: `mat up` starts one on its session, and there is one."""
    rig = make_rig()
    rig.up()
    first = psutil.Process(rig.agent_pid())
    first.suspend()  # deaf to its terminal's end
    os.kill(int(str(rig.seats["dev"]["server_pid"])), signal.SIGKILL)
    session = str(rig.seats["dev"]["agent_session"])
    rig.driver = rig.new_driver()
    rig.seats = rig.driver.launch(rig.spec, resume={"dev": session})
    rig.wait_for_screen(READY)
    assert not first.is_running() or first.status() == psutil.STATUS_ZOMBIE
    assert [record["session"] for record in rig.log("start")] == [session, session]


def test_an_end_in_the_middle_of_a_start_leaves_no_agent(
    make_rig: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`mat down` while an agent is being resumed: what is started a moment later is ended, too."""
    rig = make_rig()
    rig.up()
    real = layout.restart

    def ended_meanwhile(*args: Any) -> Identity:
        rig.driver.stop("duo")
        return real(*args)

    monkeypatch.setattr(layout, "restart", ended_meanwhile)
    with pytest.raises(Unavailable, match="ended"):
        rig.driver.restart("duo", "dev", resume=None)
    assert not has_session(rig.tmux, "duo")
    pids = [int(record["pid"]) for record in rig.log("start")]
    wait_for(lambda: not any(psutil.pid_exists(pid) for pid in pids), 10, "no agent left")


@pytest.mark.parametrize("ends", [True, False])
def test_a_session_that_is_ended_right_after_a_start_is_watched_no_longer(
    make_rig: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch, ends: bool
) -> None:
    """Nor one that was forgotten: its agent is told of no more."""
    rig = make_rig()
    rig.up()
    real = seatdata.of

    def meanwhile(*args: Any, **about: Any) -> dict[str, object]:
        (rig.driver.stop if ends else rig.driver.forget)("duo")
        return real(*args, **about)

    monkeypatch.setattr(seatdata, "of", meanwhile)
    with pytest.raises(Unavailable, match="ended") if ends else contextlib.nullcontext():
        rig.driver.restart("duo", "dev", resume=None)
    with pytest.raises(OurMistake, match="never adopted"):
        rig.driver.last_words("duo", "dev")


def test_a_server_that_took_the_environment_with_it_is_left_to_mat_up(make_rig: Callable[..., Rig]) -> None:
    """With the tmux server went the user's environment: the agents are gone, and not to be resumed from here."""
    rig = make_rig()
    rig.up()
    rig.server.kill()
    assert "resumable" not in rig.wait_to_see("role.gone", role="dev").fields


@pytest.mark.slow
def test_a_full_context_gets_a_fresh_agent_and_exactly_one_recovery(duo: Duo) -> None:
    """Without a person: a new agent session, then the one marker that says who still waits."""
    up(duo, relay=[{"work": 0.2}, {"exhaust": True}])
    hand_over(duo, "Please fill it.")
    duo.wait("context.exhausted", 20, role="review")
    duo.wait("context.fresh", 30, role="review")
    duo.wait("effect.ended", 20, ok=True, decision=duo.wait("recovery.delivered", 20).data["number"])
    texts = wait_for(lambda: [t for t in duo.submitted("review") if t.startswith("[recovery-")], 10, "the recovery")
    assert len(texts) == 1
    assert "recovery-review-dev-1" in texts[0]
    first, second = duo.log("review", "start")
    assert first["session"] != second["session"]
    assert not second["resumed"]
    assert next(e.data["reason"] for e in duo.entries("wake.closed")) == "context_exhausted"
    assert len(alive(duo)) == 1
    names = ("context.exhausted", "engine.renewing", "engine.seat", "context.fresh", "recovery.delivered")
    assert [e.name for e in duo.entries(*names)] == list(names)
    assert not duo.entries("role.gone")


def fragile(duo: Duo) -> None:
    """A backend whose program says why and dies at once, until the file `mended` is there: then it is the scripted
    agent. Each start is a line of `starts`."""
    profile = yaml.safe_load((shipped_folder() / "scripted.yaml").read_text(encoding="utf-8"))
    profile["name"] = "fragile"
    script = (
        f"date >> {duo.folder}/starts; [ -e {duo.folder}/mended ] && exec {sys.executable} -m matcore.scripted "
        '"$@"; echo "Error: no key [in] the keyring" >&2; exit 3'
    )
    profile["launch"]["argv"] = ["/bin/sh", "-c", script, "sh"]
    profile["launch"]["saved"] = [f"{duo.places.root}/scripted/{{session_id}}*"]
    folder = duo.work / ".mat" / "agents" / "backends"
    folder.mkdir(parents=True)
    (folder / "fragile.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.field_case("Restarts")
def test_an_agent_that_dies_at_once_is_started_three_times_told_once_and_left_to_a_person(duo: Duo) -> None:
    """Three ends, one notification with its last line, no further start; `mat restart` sets it going when it can."""
    fragile(duo)
    duo.role("dev", {"default": QUIET}, prompt="duo-dev")
    duo.role("review", {"default": QUIET}, prompt="duo-dev", backend="fragile")
    duo.up()
    duo.wait("role.gone", 20, role="review")
    status = json.loads(duo.mat("status", "--json").stdout)["sessions"][0]
    (review,) = [role for role in status["roles"] if role["role"] == "review"]
    assert review["said"] == "Error: no key [in] the keyring"
    assert review["restarts_at"] is not None
    assert "mat starts it again" in duo.mat("why", "duo").stdout
    duo.wait("engine.crash_loop", 60, role="review")
    wait_for(duo.told, 20, "the notification")
    starts = duo.folder / "starts"
    assert len(starts.read_text().splitlines()) == 3
    time.sleep(RESUME_AFTER_S + 5)  # the promise is about silence: nothing is started any more
    assert len(starts.read_text().splitlines()) == 3
    told = duo.told()
    assert told.count("ended 3 times in 10 minutes") == 1
    assert "Its last line: Error: no key [in] the keyring" in told
    assert "mat restart duo review" in duo.mat("why", "duo").stdout
    (duo.folder / "mended").touch()
    duo.mat("restart", "duo", "review")
    duo.wait("role.idle", 30, role="review")
    duo.mat("send", duo.session, "review", "Go on.")
    wait_for(lambda: any("Go on." in text for text in duo.submitted("review")), 20, "the text")
    assert len(starts.read_text().splitlines()) == 4
    assert duo.told() == told


def rested_s(duo: Duo) -> float:
    """For how long nobody has moved, and nothing was sent."""
    return time.time() - max(entry.wall for entry in duo.entries("role.busy", "role.idle", "relay.sent"))


@pytest.mark.slow
def test_a_rung_that_falls_due_before_a_restart_is_typed_into_the_agent_that_comes(tmp_path: Path) -> None:
    """Real panes: the agent dies while the ladder is about to wake it; the nudge waits and arrives, once."""
    duo = Duo(tmp_path, window=20.0)
    try:
        up(duo)
        hand_over(duo, "Please review.")
        duo.wait("final_check", 20)
        wait_for(lambda: rested_s(duo) > 13, 60, "most of a window of quiet")
        alive(duo)[0].kill()
        assert duo.wait("ladder.deferred", 20).data["gates"] == ["restarting/review"]
        duo.wait("engine.restarting", 30, by="mat", role="review")
        nudge = duo.wait("nudge", 90, rung=1)
        assert nudge.data["role"] == "review"
        duo.wait("effect.ended", 20, ok=True, decision=nudge.data["number"])
        assert not duo.entries("rung.skipped")
        assert len(alive(duo)) == 1
        wait_for(lambda: any("IDLE RECOVERY" in text for text in duo.submitted("review")), 10, "the nudge")
    finally:
        duo.end()


@pytest.mark.slow
@pytest.mark.field_case("Silence")
def test_a_rate_limit_holds_the_role_until_the_time_on_its_screen(duo: Duo) -> None:
    """Nothing is typed while the program says that it must wait; what waited goes in when its time is over."""
    up(duo, limit=[{"rate-limited": {"until_s": 6}}])
    duo.mat("send", duo.session, "review", "Hit the limit.")
    raised = duo.wait("gate.raised", 20, gate="rate-limited", role="review")
    assert 0 < float(str(raised.data["until"])) - raised.at <= 7
    duo.mat("send", duo.session, "review", "And then?")
    duo.wait("relay.delivered", 30, count=2)
    second = duo.entries("relay.delivered")[1]
    assert second.at >= float(str(raised.data["until"])) - 0.5
    ended = wait_for(lambda: duo.log("review", "turn-ended")[1:], 10, "its turn's end")
    assert [turn["outcome"] for turn in ended] == ["done"]


def test_a_login_is_named_and_nothing_is_typed_into_it(make_rig: Callable[..., Rig]) -> None:
    """Gate `login`, before and at a delivery."""
    rig = make_rig(script={"start": "login"})
    rig.up(ready=False)
    rig.wait_for_screen("Select how to log in")
    rig.wait_to_see("gate.raised", gate="login", role="dev")
    outcome = rig.deliver("[relay r-1] hello")
    assert outcome.gate == "login"
    assert rig.typed() == ""


@pytest.mark.slow
def test_a_program_that_takes_no_prompt_is_pointed_to_it_once(duo: Duo) -> None:
    """The first text begins with where its role's instructions are; the second does not."""
    profile = yaml.safe_load((shipped_folder() / "scripted.yaml").read_text(encoding="utf-8"))
    profile["name"], profile["launch"]["prompt"] = "untold", []
    folder = duo.work / ".mat" / "agents" / "backends"
    folder.mkdir(parents=True)
    (folder / "untold.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    duo.role("dev", {"default": QUIET}, prompt="duo-dev", backend="untold")
    duo.role("review", {"default": QUIET}, prompt="duo-dev")
    duo.up()
    for role in ("dev", "review"):
        duo.wait("role.idle", 30, role=role)
        for number in (1, 2):
            duo.mat("send", duo.session, role, f"Text {number}.")
            wait_for(lambda r=role, n=number: any(f"Text {n}." in text for text in duo.submitted(r)), 20, "the text")  # type: ignore[misc]
    path = str(duo.places.prompts / "dev.md")
    assert [path in text for text in duo.submitted("dev")] == [True, False]
    assert not any("instructions" in text for text in duo.submitted("review"))
    assert not duo.entries("human.acted")
