"""What a real pane makes the watcher say, by the screen and by hooks, and what a tick costs."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil
import pytest

from matcore.engine.driver import SessionSpec, Verdict
from matcore.errors import BadConfig, Refused, Unavailable
from tests.live.rig import READY, Rig
from tests.waiting import json_lines, wait_for
from tmuxdriver import panes
from tmuxdriver.cells import Capture
from tmuxdriver.driver import TmuxDriver
from tmuxdriver.record import record
from tmuxdriver.server import Tmux

MakeRig = Callable[..., Rig]
WORKS = {"rules": [{"when": "long", "steps": [{"work": 1.0}]}, {"when": "fail", "steps": [{"error": "it broke"}]}]}


def test_a_turn_is_seen_from_enter_to_idle(make_rig: MakeRig) -> None:
    """Busy at once, then one turn end whose start is not before our Enter, then idle."""
    rig = make_rig(script=WORKS)
    rig.up()
    rig.wait_to_see("role.idle", role="dev")
    outcome = rig.deliver("[relay r-1] long work")
    rig.wait_to_see("role.busy", role="dev")
    ended = rig.wait_to_see("turn.ended", role="dev", outcome="ok")
    assert outcome.entered_s is not None
    assert float(str(ended.fields["started"])) >= outcome.entered_s
    rig.wait_to_see("role.idle", role="dev")
    assert not rig.sightings


@pytest.mark.parametrize("style", ["status", "footer", "title"])
@pytest.mark.field_case("Idle and busy")
def test_work_is_seen_however_it_is_shown(make_rig: MakeRig, style: str) -> None:
    """A mark in a row, in the footer or in the title alone."""
    rig = make_rig(script={**WORKS, "busy_style": style, "title_state": style == "title"})
    rig.up()
    rig.wait_to_see("role.idle", role="dev")
    rig.keys("long", "Enter")
    rig.wait_to_see("role.busy", role="dev")
    rig.wait_to_see("turn.ended", role="dev")


@pytest.mark.field_case("Idle and busy")
def test_a_gap_within_a_turn_ends_none(make_rig: MakeRig) -> None:
    """Idle for a blink between two tool calls: one turn, one end."""
    script = {"rules": [{"when": "long", "steps": [{"work": 3.0, "gaps": [[0.5, 0.4], [1.5, 0.6]]}]}]}
    rig = make_rig(script=script)
    rig.up()
    rig.wait_to_see("role.idle", role="dev")
    rig.deliver("[relay r-1] long")
    rig.wait_to_see("role.idle", role="dev", timeout_s=15)
    assert [s.fields["outcome"] for s in rig.saw("turn.ended")] == ["ok"]


def test_a_failed_turn_says_what_failed(make_rig: MakeRig) -> None:
    """An error that ends in a screen which looks idle is still an error."""
    rig = make_rig(script=WORKS)
    rig.up()
    rig.wait_to_see("role.idle", role="dev")
    rig.deliver("[relay r-1] fail now")
    ended = rig.wait_to_see("turn.ended", role="dev")
    assert ended.fields["outcome"] == "error"
    assert "it broke" in str(ended.fields["detail"])


def hooked(rig: Rig) -> Callable[[], None]:
    """The rig's hooks write to a file; the result hands what is new there to the driver, as the loop would."""
    path = rig.folder / "hooks.jsonl"
    done = 0

    def feed() -> None:
        nonlocal done
        records = json_lines(path)
        for data in records[done:]:
            hook = {"backend": "scripted", "event": data["event"], "boot_s": data["boot_s"], "data": data}
            rig.sightings += rig.driver.heard("duo", "dev", hook)
        done = len(records)

    return feed


def with_hooks(path: Path) -> dict[str, object]:
    command = ["sh", "-c", f"cat >> {path}; echo >> {path}"]
    events = ("session-start", "prompt-submitted", "turn-started", "turn-ended", "permission-asked", "compaction")
    return {**WORKS, "hooks": dict.fromkeys(events, command)}


def test_a_hook_tells_the_end_of_a_turn_at_once(make_rig: MakeRig, tmp_path: Path) -> None:
    """Busy and idle come from the program itself, and no look at the screen is waited for."""
    rig = make_rig(script=with_hooks(tmp_path / "rig0" / "hooks.jsonl"))
    rig.up()
    feed = hooked(rig)
    rig.wait_to_see("role.idle", role="dev")
    outcome = rig.deliver("[relay r-1] long work")
    assert outcome.verdict is Verdict.SUBMITTED
    wait_for(lambda: (feed(), rig.saw("role.idle"))[1])
    assert outcome.entered_s is not None
    [ended] = rig.saw("turn.ended")
    assert (ended.evidence, ended.fields["outcome"]) == ("hook", "ok")
    assert float(str(ended.fields["started"])) >= outcome.entered_s
    assert not rig.saw("human.acted")
    for _ in range(5):
        rig.tick()
        rig.settled(0.2)
    assert len(rig.saw("turn.ended")) == 1


def test_a_person_who_types_a_prompt_has_acted(make_rig: MakeRig, tmp_path: Path) -> None:
    """A submitted prompt that is none of ours."""
    rig = make_rig(script=with_hooks(tmp_path / "rig0" / "hooks.jsonl"))
    rig.up()
    feed = hooked(rig)
    rig.keys("hello there", "Enter")
    wait_for(lambda: (feed(), rig.saw("human.acted"))[1])


@pytest.mark.field_case("Idle and busy")
def test_after_an_interruption_no_hook_comes_and_the_screen_decides(
    make_rig: MakeRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person presses Esc: the turn ends when the screen has been parked long enough, not never."""
    monkeypatch.setattr("tmuxdriver.evidence.PARKED_S", 1.0)
    monkeypatch.setattr("tmuxdriver.observe.HOOKED_LOOK_S", 0.1)
    script = with_hooks(tmp_path / "rig0" / "hooks.jsonl")
    rig = make_rig(script={**script, "rules": [{"when": "long", "steps": [{"work": 60}]}]})
    rig.up()
    feed = hooked(rig)
    rig.wait_to_see("role.idle", role="dev")
    rig.deliver("[relay r-1] long")
    wait_for(lambda: (feed(), rig.driver._seats["duo", "dev"].evidence.hook_says == "busy")[1])
    rig.keys("Escape")
    rig.wait_for_screen(READY)
    ended = rig.wait_to_see("turn.ended", role="dev")
    assert "no hook" in ended.evidence


@pytest.mark.field_case("Restarts")
def test_launching_twice_starts_nothing_twice(make_rig: MakeRig) -> None:
    """Two `up` at once, and a third later: one agent for each role, the same identities."""
    rig = make_rig(roles=("dev", "review"))
    results: list[dict[str, object]] = []
    threads = [
        threading.Thread(target=lambda: results.append(dict(rig.new_driver().launch(rig.spec, resume={}))))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    rig.up()
    assert len(rig.log("start")) == 2
    assert [seat["started"] for seat in rig.seats.values()] == [False, False]
    ids = [{role: seat["pane_id"] for role, seat in result.items()} for result in [*results, rig.seats]]  # type: ignore[index]
    assert ids[0] == ids[1] == ids[2]
    assert {str(seat["agent_session"]) for seat in rig.seats.values()} == {r["session"] for r in rig.log("start")}


@pytest.mark.field_case("Restarts")
def test_agents_of_another_folder_are_not_taken_over(make_rig: MakeRig, tmp_path: Path) -> None:
    """A session of the same name, whose journal is lost or is another HOME's: two sessions never share a pane. Where
    its folder was moved, its agents are found again."""
    rig = make_rig()
    rig.up()
    other = tmp_path / "other | project #{pid}"
    other.mkdir()
    roles = tuple(dataclasses.replace(role, dir=other) for role in rig.spec.roles)
    spec = dataclasses.replace(rig.spec, workdir=other, roles=roles)
    with pytest.raises(Refused, match=re.escape(str(rig.work))):
        rig.new_driver().launch(spec, resume={})
    assert len(rig.log("start")) == 1
    assert len(rig.person("list-panes", "-a").splitlines()) == 1
    rig.work.rename(tmp_path / "moved")
    assert rig.new_driver().launch(spec, resume={})["dev"]["pane_id"] == rig.pane()


def test_a_dead_agent_is_started_anew_in_its_seat(make_rig: MakeRig) -> None:
    """With its agent session resumed; the old identity is a stranger, and texts go to the new one."""
    rig = make_rig()
    rig.up()
    first = str(rig.seats["dev"]["agent_session"])
    child = psutil.Process(rig.agent_pid())
    rig.seats = {"dev": rig.driver.restart("duo", "dev", resume=first)}
    psutil.wait_procs([child], timeout=5)
    assert not child.is_running()
    rig.wait_for_screen(READY)
    assert [record["session"] for record in rig.log("start")] == [first, first]
    assert rig.log("start")[1]["resumed"]
    assert rig.deliver("[relay r-1] hi").verdict is Verdict.SUBMITTED


def test_a_window_of_a_persons_own_may_have_a_roles_name(make_rig: MakeRig) -> None:
    """What is started beside it is marked, and nothing is typed into theirs."""
    rig = make_rig(roles=("dev", "review"))
    rig.up()
    theirs = rig.person("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=duo:", "-n", "dev", "/bin/cat").strip()
    rig.person("kill-pane", "-t", rig.pane())
    seat = rig.driver.restart("duo", "dev", resume=None)
    assert seat["pane_id"] not in (theirs, rig.pane())
    assert rig.new_driver().launch(rig.spec, resume={})["dev"]["pane_id"] == seat["pane_id"]
    wait_for(lambda: len(rig.log("start")) == 3)
    size = rig.person("display-message", "-p", "-t", str(seat["pane_id"]), "#{window_width}x#{window_height}")
    assert size.strip() == "100x30"


def test_a_restart_finds_its_seat_again_after_the_supervisors_own(make_rig: MakeRig) -> None:
    """A new driver that adopts what `launch` returned sees the same agents."""
    rig = make_rig()
    rig.up()
    rig.driver = rig.new_driver()
    rig.driver.adopt(rig.spec, json.loads(json.dumps(dict(rig.seats))))
    rig.wait_to_see("role.idle", role="dev")
    assert rig.deliver("[relay r-1] hi").verdict is Verdict.SUBMITTED


def test_stop_ends_the_agents_and_what_they_started(make_rig: MakeRig) -> None:
    """Nothing of a session is left, and other sessions on the server live on."""
    rig = make_rig(script={"rules": [{"when": "run", "steps": [{"run": "sleep 300"}]}]})
    rig.up()
    rig.server.new_session(session_name="duo-other", window_command="/bin/cat")
    rig.keys("run", "Enter")
    agent = psutil.Process(rig.agent_pid())
    family = wait_for(lambda: [p for p in agent.children(recursive=True) if p.name() == "sleep"])
    rig.driver.stop("duo")
    wait_for(lambda: not any(_lives(process) for process in (agent, *family)))
    assert rig.server.has_session("duo-other")


@pytest.mark.field_case("Restarts")
def test_stop_ends_agents_whose_server_nobody_can_reach(make_rig: MakeRig) -> None:
    """Its socket was removed: what is called ended does not work on unseen."""
    rig = make_rig()
    rig.up()
    socket = Path(rig.person("display-message", "-p", "#{socket_path}").strip())
    agent = psutil.Process(rig.agent_pid())
    aside = socket.rename(socket.with_name(f"{socket.name}-aside"))
    try:
        rig.driver.stop("duo")
    finally:
        aside.rename(socket)
    assert not _lives(agent)


@pytest.mark.field_case("Security")
def test_the_environment_of_a_seat(make_rig: MakeRig, monkeypatch: pytest.MonkeyPatch) -> None:
    """PATH as at `up`, ours by name, a role's variables without any argv that shows them, after a restart too."""
    monkeypatch.setenv("SHOP_KEY", "s3cret-value")
    monkeypatch.setenv("MAT_ROLE", "somebody-else")
    rig = make_rig()
    role = rig.spec.roles[0]
    role = dataclasses.replace(role, env=("SHOP_KEY",))
    spec = SessionSpec("duo", rig.work, (role,), "/opt/x:/usr/bin:/bin")
    rig.seats = rig.driver.launch(spec, resume={})
    rig.driver.adopt(spec, rig.seats)
    rig.wait_for_screen(READY)
    environment = psutil.Process(rig.agent_pid()).environ()
    assert environment["PATH"] == "/opt/x:/usr/bin:/bin"
    assert environment["SHOP_KEY"] == "s3cret-value"
    assert (environment["MAT_SESSION"], environment["MAT_ROLE"]) == ("duo", "dev")
    assert environment["MAT_DIR"] == str(rig.work / ".mat" / "duo")
    assert "s3cret" not in " ".join(word for p in psutil.process_iter() for word in _cmdline(p))
    rig.seats = {"dev": rig.driver.restart("duo", "dev", resume=None)}
    wait_for(lambda: len(rig.log("start")) == 2)
    assert psutil.Process(rig.agent_pid()).environ()["SHOP_KEY"] == "s3cret-value"


def _lives(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def _cmdline(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.field_case("People")
def test_a_small_client_does_not_shrink_an_agents_window(make_rig: MakeRig) -> None:
    """The size is that of `up`, whoever attaches."""
    rig = make_rig()
    rig.up()
    rig.attach()
    assert rig.person("display-message", "-p", "-t", rig.pane(), "#{pane_width}x#{pane_height}").strip() == "100x30"


@pytest.mark.field_case("Load")
def test_a_tick_costs_one_list_and_looks_only_where_something_moved(
    make_rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At rest nothing is captured, however many roles there are."""
    rig = make_rig(roles=("a", "b", "c", "d"))
    rig.up()
    for role in rig.roles:
        rig.wait_to_see("role.idle", role=role)
    time.sleep(1.2)  # tmux tells when a pane was last written to in whole seconds
    rig.tick()
    looked: list[list[str]] = []
    real = panes.capture

    def counted(tmux: Tmux, ids: Iterable[str]) -> dict[str, tuple[panes.Pane, Capture]]:
        looked.append(list(ids))
        return real(tmux, looked[-1])

    monkeypatch.setattr("tmuxdriver.panes.capture", counted)
    for _ in range(5):
        rig.tick()
    assert looked == []
    rig.keys("x", role="b")
    wait_for(lambda: (rig.tick(), looked)[1])
    assert {pane for batch in looked for pane in batch} == {rig.pane("b")}


@pytest.mark.field_case("Load")
def test_a_tick_costs_the_same_tmux_calls_for_one_session_and_for_many(
    make_rig: MakeRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted by a wrapper around tmux: one at rest, one more while agents work, however many sessions there are."""
    calls = tmp_path / "calls"
    wrapper = tmp_path / "bin" / "tmux"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\necho "$*" >> {calls}\nexec {shutil.which("tmux")} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    rig = make_rig(script={"rules": [{"when": "long", "steps": [{"work": 300}]}]})

    def wait_until_all_are(status: str) -> None:
        seats = rig.driver._seats.values()
        wait_for(lambda: (rig.tick(), all(seat.evidence.status == status for seat in seats))[1], 20, status)

    def cost() -> list[int]:
        """How many times tmux was started in each of three ticks."""
        counted = []
        for _ in range(3):
            before = calls.read_text().count("\n")
            rig.tick()
            counted.append(calls.read_text().count("\n") - before)
        return counted

    costs, running = [], list[str]()
    for many in (1, 5):
        for number in range(len(running), many):
            spec = dataclasses.replace(rig.spec, session=f"duo-{number}")
            seats = rig.driver.launch(spec, resume={})
            rig.driver.adopt(spec, seats)
            running.append(str(seats["dev"]["pane_id"]))
        wait_until_all_are("idle")
        time.sleep(1.2)  # tmux tells when a pane was last written to in whole seconds
        rig.tick()
        at_rest = cost()
        for pane in running:
            rig.person("send-keys", "-t", pane, "long", "Enter")
        wait_until_all_are("busy")
        costs.append((at_rest, cost()))
        for pane in running:
            rig.person("send-keys", "-t", pane, "Escape")
    assert costs == [([1, 1, 1], [2, 2, 2])] * 2


def test_a_pane_is_recorded_with_its_title_and_cursor(make_rig: MakeRig) -> None:
    """Plain, with styles, and tmux's variables."""
    rig = make_rig()
    rig.up()
    plain, ansi, variables = record(rig.tmux, rig.pane())
    assert READY in plain
    assert "\x1b" not in plain
    assert "\x1b[2m" in ansi
    assert variables["pane_title"] == "scripted"
    assert "cursor_x" in variables
    with pytest.raises(Unavailable, match="no pane"):
        record(rig.tmux, "%99")


def test_attaching_to_what_is_not_there_says_so(make_rig: MakeRig) -> None:
    """No pane, no server: a sentence instead of a terminal."""
    rig = make_rig()
    with pytest.raises(Unavailable):
        rig.driver.attach("duo", None)
    rig.up()
    assert "attach-session" in rig.driver.attach("duo", "dev")
    with pytest.raises(Unavailable):
        rig.driver.attach("duo", "nobody")


def test_an_option_that_nobody_reads_is_refused() -> None:
    """With the one that was meant."""
    with pytest.raises(BadConfig, match="socket"):
        TmuxDriver({"sockt": "x"})


def test_a_program_that_is_not_installed_is_named(make_rig: MakeRig) -> None:
    """Before anything is started."""
    rig = make_rig(changes={"launch": {"argv": ["no-such-agent-program"]}})
    with pytest.raises(Unavailable, match="no-such-agent-program"):
        rig.up()
    assert not rig.log()
