"""What is called delivered was delivered, once; what is refused was not touched by one byte."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from matcore.engine.driver import Verdict
from tests.live.rig import READY, Rig
from tests.waiting import wait_for

TEXT = "[relay r-000012 from review]\nRead handoffs/12.md\nThen answer with send-relay review FILE."

MakeRig = Callable[..., Rig]


def delivered_once(rig: Rig, text: str = TEXT) -> None:
    """Deliver, and hold the agent's own log against what the outcome says."""
    outcome = rig.deliver(text)
    assert (outcome.verdict, outcome.gate) == (Verdict.SUBMITTED, None), outcome
    wait_for(lambda: text in rig.messages(), what="the agent took the message")
    assert rig.messages().count(text) == 1
    assert outcome.entered_s is not None


def refused(rig: Rig, gate: str) -> None:
    """Not one byte is typed, and the gate is named."""
    before = rig.typed()
    outcome = rig.deliver(TEXT)
    assert (outcome.verdict, outcome.gate) == (Verdict.REFUSED, gate), outcome
    rig.settled()
    assert rig.typed() == before
    assert outcome.entered_s is None


@pytest.mark.field_case("Submitting")
def test_an_idle_agent_gets_one_framed_paste_and_one_enter(make_rig: MakeRig) -> None:
    """The agent receives exactly the text in one paste frame and then Enter, and its turn began after that Enter."""
    rig = make_rig()
    rig.up()
    outcome = rig.deliver(TEXT)
    assert outcome.verdict is Verdict.SUBMITTED
    wait_for(lambda: rig.log("turn-ended"))
    assert rig.typed() == f"\x1b[200~{TEXT}\x1b[201~\r"
    assert outcome.entered_s is not None
    assert rig.log("turn-started")[0]["boot_s"] >= outcome.entered_s


@pytest.mark.field_case("People")
def test_a_persons_scrolling_defers_and_is_not_disturbed(make_rig: MakeRig) -> None:
    """With a client that was touched lately copy mode is the gate `copy-mode`; when they leave it, the text goes in."""
    rig = make_rig()
    rig.up()
    rig.attach()
    rig.person("copy-mode", "-t", rig.pane())
    refused(rig, "copy-mode")
    rig.wait_to_see("gate.raised", gate="copy-mode", role="dev")
    assert rig.person("display-message", "-p", "-t", rig.pane(), "#{pane_in_mode}").strip() == "1"
    rig.person("copy-mode", "-q", "-t", rig.pane())
    rig.wait_to_see("gate.cleared", gate="copy-mode", role="dev")
    delivered_once(rig)


@pytest.mark.parametrize("mode", ["copy-mode", "clock-mode", "choose-tree"])
@pytest.mark.field_case("People")
def test_a_forgotten_mode_is_left_before_the_paste(make_rig: MakeRig, mode: str) -> None:
    """Nobody is attached: whatever mode the pane was left in, the agent still gets the text."""
    rig = make_rig()
    rig.up()
    rig.person(mode, "-t", rig.pane())
    delivered_once(rig)


@pytest.mark.field_case("tmux")
def test_input_off_is_a_gate(make_rig: MakeRig) -> None:
    """A pane that swallows keys gets none."""
    rig = make_rig()
    rig.up()
    rig.person("select-pane", "-d", "-t", rig.pane())
    refused(rig, "input-off")
    rig.wait_to_see("gate.raised", gate="input-off", role="dev")
    rig.person("select-pane", "-e", "-t", rig.pane())
    rig.wait_to_see("gate.cleared", gate="input-off", role="dev")
    delivered_once(rig)


@pytest.mark.field_case("tmux")
def test_synchronized_panes_are_a_gate(make_rig: MakeRig) -> None:
    """Enter would be pressed in the neighbour's pane too."""
    rig = make_rig()
    rig.up()
    rig.person("set-option", "-w", "-t", rig.pane(), "synchronize-panes", "on")
    refused(rig, "synchronized")
    rig.wait_to_see("gate.raised", gate="synchronized", role="dev")
    rig.person("set-option", "-w", "-t", rig.pane(), "synchronize-panes", "off")
    rig.wait_to_see("gate.cleared", gate="synchronized", role="dev")
    delivered_once(rig)


WRAPPER = ["/bin/bash", "-c", '"$@"; exec bash --norc --noprofile -i', "wrapper", "{python}", "-m", "matcore.scripted"]


@pytest.mark.field_case("Security")
def test_text_for_an_agent_that_left_its_shell_is_not_run_by_it(make_rig: MakeRig) -> None:
    """The user's wrapper is back at its prompt: gate `no-agent`, nothing typed; once it runs again, it gets it."""
    rig = make_rig(changes={"launch": {"argv": WRAPPER}})
    rig.up()
    rig.keys("/exit", "Enter")
    wait_for(lambda: rig.log("exit"))
    rig.wait_for_screen("bash-")
    before = rig.screen()
    refused(rig, "no-agent")
    assert rig.screen() == before
    rig.wait_to_see("gate.raised", gate="no-agent", role="dev")
    argv = rig.spec.roles[0].args
    rig.keys(f"{sys.executable} -m matcore.scripted {' '.join(argv)}", "Enter")
    wait_for(lambda: len(rig.log("start")) == 2 and READY in rig.screen())
    rig.wait_to_see("gate.cleared", gate="no-agent", role="dev")
    delivered_once(rig)


@pytest.mark.field_case("Security")
def test_an_agent_that_ends_while_its_composer_is_looked_at_gets_nothing(
    make_rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A seat of which nothing is known yet is looked at for seconds; a shell may have taken its place."""
    rig = make_rig()
    rig.up()
    there = iter([True, False])
    monkeypatch.setattr("tmuxdriver.inject.runs_agent", lambda *_: next(there))
    refused(rig, "no-agent")


@pytest.mark.field_case("People")
def test_a_draft_is_never_touched(make_rig: MakeRig) -> None:
    """Half a sentence of a person holds us back, stays as it is, and is never submitted by us."""
    rig = make_rig()
    rig.up()
    rig.keys("do not mer")
    rig.wait_for_screen("> do not mer")
    refused(rig, "human-typing")
    rig.wait_to_see("gate.raised", gate="human-typing", role="dev")
    assert "> do not mer" in rig.screen()
    rig.keys("C-u")
    rig.wait_to_see("gate.cleared", gate="human-typing", role="dev")
    delivered_once(rig)


@pytest.mark.field_case("Submitting")
def test_a_permission_dialog_is_not_answered_by_us(make_rig: MakeRig) -> None:
    """Gate `dialog`, not one byte; once a person has answered, the text goes in."""
    rig = make_rig(script={"rules": [{"when": "ask me", "steps": [{"ask": {"permission": "touch granted"}}]}]})
    rig.up()
    rig.keys("ask me", "Enter")
    rig.wait_for_screen("Would you like to run this command?")
    refused(rig, "dialog")
    rig.wait_to_see("gate.raised", gate="dialog", role="dev")
    assert not (rig.work / "granted").exists()
    rig.keys("Escape")
    rig.wait_to_see("gate.cleared", gate="dialog", role="dev")
    rig.wait_for_screen(READY)
    delivered_once(rig)
    assert not (rig.work / "granted").exists()


@pytest.mark.parametrize(("kind", "gate"), [("trust", "dialog"), ("login", "login")])
def test_a_first_start_dialog_is_a_gate(make_rig: MakeRig, kind: str, gate: str) -> None:
    """A program that asks something at its start is not idle."""
    rig = make_rig(script={"start": kind})
    rig.up(ready=False)
    rig.wait_for_screen("Enter to confirm")
    refused(rig, gate)
    rig.keys("Enter")
    rig.wait_for_screen(READY)
    delivered_once(rig)


@pytest.mark.field_case("tmux")
def test_nothing_is_pasted_into_a_dead_pane(make_rig: MakeRig) -> None:
    """The outcome is `gone`, the tmux server and the other agent live on, the last screen can still be read."""
    rig = make_rig(roles=("dev", "review"))
    rig.up()
    os.kill(rig.agent_pid(), signal.SIGKILL)
    # Now and then tmux does not write "Pane is dead", for it missed how the process ended.
    wait_for(lambda: rig.person("display-message", "-p", "-t", rig.pane(), "#{pane_dead}").strip() == "1")
    assert rig.deliver(TEXT).verdict is Verdict.GONE
    rig.wait_to_see("role.gone", role="dev")
    assert "scripted agent (role dev)" in rig.driver.last_words("duo", "dev")
    outcome = rig.deliver(TEXT, "review")
    assert outcome.verdict is Verdict.SUBMITTED


def test_a_killed_pane_is_gone(make_rig: MakeRig) -> None:
    """Closed by a person: `gone`, for deliveries and for the watcher."""
    rig = make_rig(roles=("dev", "review"))
    rig.up()
    rig.person("kill-pane", "-t", rig.pane())
    assert rig.deliver(TEXT).verdict is Verdict.GONE
    rig.wait_to_see("role.gone", role="dev")
    assert not rig.saw("role.gone")


@pytest.mark.field_case("Restarts")
def test_a_server_that_was_killed_is_gone(make_rig: MakeRig) -> None:
    """All roles are gone, and a new server's pane of the same number is a stranger."""
    rig = make_rig()
    rig.up()
    rig.server.kill()
    wait_for(lambda: not psutil.pid_exists(int(str(rig.seats["dev"]["server_pid"]))))
    assert rig.deliver(TEXT).verdict is Verdict.GONE
    rig.wait_to_see("role.gone", role="dev")
    rig.server.new_session(session_name="other", window_command="/bin/cat")
    assert rig.person("list-panes", "-a", "-F", "#{pane_id}").strip() == rig.pane()
    assert rig.deliver(TEXT).verdict is Verdict.GONE
    assert rig.screen().strip() == ""


@pytest.mark.field_case("Restarts")
def test_a_server_that_hangs_is_not_a_server_without_panes(make_rig: MakeRig) -> None:
    """Stopped: gate `tmux-unreachable`, nobody is gone, nothing is typed; going on again, the text arrives once."""
    rig = make_rig()
    rig.driver._tmux = rig.driver._watcher._tmux = type(rig.tmux)(socket=rig.socket, timeout_s=0.5)
    rig.up()
    pid = int(str(rig.seats["dev"]["server_pid"]))
    os.kill(pid, signal.SIGSTOP)
    try:
        assert rig.deliver(TEXT).gate == "tmux-unreachable"
        rig.wait_to_see("gate.raised", gate="tmux-unreachable")
        for _ in range(3):
            rig.tick()
        assert not rig.saw("role.gone")
    finally:
        os.kill(pid, signal.SIGCONT)
    rig.wait_to_see("gate.cleared", gate="tmux-unreachable")
    assert TEXT not in rig.typed()
    delivered_once(rig)


@pytest.mark.field_case("Restarts")
def test_a_server_whose_socket_was_removed_is_not_gone(make_rig: MakeRig) -> None:
    """It lives, and so do its agents: what nobody can reach waits behind a gate, and arrives when it can be reached."""
    rig = make_rig()
    rig.up()
    socket = Path(rig.person("display-message", "-p", "#{socket_path}").strip())
    aside = socket.rename(socket.with_name(f"{socket.name}-aside"))
    try:
        assert rig.deliver(TEXT).gate == "tmux-unreachable"
    finally:
        aside.rename(socket)
    delivered_once(rig)


@pytest.mark.field_case("Submitting")
def test_an_enter_that_is_swallowed_is_pressed_again(make_rig: MakeRig) -> None:
    """A program that takes an early Enter for part of the paste still gets the text once, and no more than 3 Enters."""
    rig = make_rig(script={"swallow_enter_ms": 150}, changes={"submit": {"settle_s": 0.0, "verify_s": 0.3}})
    rig.up()
    delivered_once(rig)
    assert rig.log("swallowed-enter")
    assert rig.typed().count("\r") <= 3
    assert rig.typed().count("\x1b[200~") == 1


@pytest.mark.field_case("Submitting")
def test_a_collapsed_paste_is_submitted_whole(make_rig: MakeRig) -> None:
    """Where the composer shows a marker instead of the text, the marker is the proof, and the agent gets all of it."""
    rig = make_rig(script={"collapse_paste": {"chars": 40, "lines": 1}})
    rig.up()
    delivered_once(rig)


@pytest.mark.field_case("Submitting")
def test_a_working_agent_is_not_disturbed(make_rig: MakeRig) -> None:
    """While a turn runs nothing is typed; when it has ended, the text goes in."""
    rig = make_rig(script={"rules": [{"when": "long", "steps": [{"work": 1.5}]}]})
    rig.up()
    rig.keys("long", "Enter")
    rig.wait_for_screen("esc to interrupt")
    refused(rig, "busy")
    wait_for(lambda: rig.log("turn-ended"))
    rig.wait_for_screen(READY)
    delivered_once(rig)
    assert rig.messages() == ["long", TEXT]


HOSTILE = "[relay r-1] \x1b[201~\rrm -rf /\r \x1b\x1b[201~[201~ \x9b201~ \x1b]0;x\x07 "
HOSTILE += "#(touch pwned) #{pid} [red] $(touch pwned) `id`\x7f;"


@pytest.mark.field_case("Security")
def test_hostile_text_stays_text(make_rig: MakeRig) -> None:
    """No paste end, key, control sequence or tmux format in a text does anything: the agent reads it as one message."""
    rig = make_rig()
    rig.up()
    outcome = rig.deliver(HOSTILE)
    assert outcome.verdict is Verdict.SUBMITTED
    wait_for(rig.messages)
    rig.settled()
    assert rig.messages() == ["[relay r-1] rm -rf /   ]0;x #(touch pwned) #{pid} [red] $(touch pwned) `id`;"]
    assert not (rig.work / "pwned").exists()


@pytest.mark.field_case("tmux")
def test_a_client_without_utf8_loses_nothing(make_rig: MakeRig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under `LC_ALL=C` screens are read and letters of every script arrive as they are."""
    monkeypatch.setenv("LC_ALL", "C")
    rig = make_rig()
    rig.up()
    delivered_once(rig, "[relay r-2] größer › 你好 🙂 — done")


@pytest.mark.field_case("Submitting")
def test_a_deaf_program_is_not_told_twice(make_rig: MakeRig) -> None:
    """A composer that is painted before it reads loses the paste: `unconfirmed`, and it is not typed again."""
    rig = make_rig(script={"start_deaf_s": 4})
    rig.up()
    outcome = rig.deliver(TEXT)
    assert outcome.verdict is Verdict.UNCONFIRMED
    assert rig.typed().count(TEXT) <= 1
    assert not rig.messages()
    assert "\r" not in rig.typed()


def test_a_long_text_in_a_composer_that_scrolls(make_rig: MakeRig) -> None:
    """The longest text that there is, in a composer that shows only its end."""
    rig = make_rig(script={"collapse_paste": False})
    rig.size = (80, 24)
    rig.up()
    delivered_once(rig, "[relay r-9] " + " ".join(f"word{number:03}" for number in range(125)))


def test_two_texts_at_once_go_one_after_the_other(make_rig: MakeRig) -> None:
    """They never meet in one composer: one is submitted, the other waits its turn and is refused untouched."""
    rig = make_rig(script={"rules": [{"when": "relay", "steps": [{"work": 2}]}]})
    rig.up()
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(rig.deliver, ["[relay r-1] one", "[relay r-2] two"]))
    assert sorted(outcome.verdict for outcome in outcomes) == [Verdict.REFUSED, Verdict.SUBMITTED]
    assert len(wait_for(rig.messages)) == 1
    assert rig.typed().count("\x1b[200~") == 1


@pytest.mark.field_case("Idle and busy")
def test_a_pause_between_two_tool_calls_is_not_taken_for_idle(make_rig: MakeRig) -> None:
    """The delivery uses the predicate of the status: a turn that was seen is over when it is proven to be."""
    rig = make_rig(script={"rules": [{"when": "long", "steps": [{"work": 4, "gaps": [[1.0, 1.5]]}]}]})
    rig.up()
    rig.wait_to_see("role.idle", role="dev")
    rig.keys("long", "Enter")
    rig.wait_to_see("role.busy", role="dev")
    wait_for(lambda: "esc to interrupt" not in rig.screen())
    refused(rig, "busy")


@pytest.mark.field_case("People")
def test_a_person_who_types_between_paste_and_enter_is_not_submitted(make_rig: MakeRig) -> None:
    """What a person has added to our text is theirs: no Enter, and the outcome says that nobody knows."""
    rig = make_rig(changes={"submit": {"settle_s": 1.0}})
    rig.up()
    with ThreadPoolExecutor(1) as pool:
        flying = pool.submit(rig.deliver, TEXT)
        wait_for(lambda: TEXT in rig.typed())
        rig.keys(" and drop the database")
        outcome = flying.result()
    assert outcome.verdict is Verdict.UNCONFIRMED
    assert "\r" not in rig.typed()
    assert not rig.messages()


@pytest.mark.field_case("tmux")
def test_a_mode_that_begins_after_the_paste_swallows_no_enter(make_rig: MakeRig) -> None:
    """Enter waits until the person has left copy mode; the text is neither lost nor typed again."""
    rig = make_rig(changes={"submit": {"settle_s": 1.0}})
    rig.up()
    with ThreadPoolExecutor(1) as pool:
        flying = pool.submit(rig.deliver, TEXT)
        wait_for(lambda: TEXT in rig.typed())
        rig.person("copy-mode", "-t", rig.pane())
        rig.settled(1.5)
        assert not rig.messages()
        rig.person("copy-mode", "-q", "-t", rig.pane())
        assert flying.result().verdict is Verdict.SUBMITTED
    assert rig.messages() == [TEXT]
