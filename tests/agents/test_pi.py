"""The real pi, launched by mat's profile: what it reports, what reaches the model, and what its screen says."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from matcore.engine.driver import RoleSpec, SessionSpec
from tests.agents.duo import REPLIES
from tests.agents.lab import Lab
from tests.agents.script import sha
from tests.agents.terminal import Terminal
from tests.waiting import wait_for
from tmuxdriver.cells import Capture
from tmuxdriver.layout import Start, plan
from tmuxdriver.profile import load
from tmuxdriver.screen import Screen, read

PATIENCE_S = 60.0  # nothing takes that long, but machines are shared
RELAY = "[relay r-000001 from dev]\nRead /w/.mat/s/handoffs/01.md\nTo answer dev: `send-relay dev FILE`. $HOME; é €"


class Seat:
    """pi as mat launches it, with commands of our own in place of mat's."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.commands = lab.root / "bin"
        self.heard = lab.root / "heard"
        self.commands.mkdir()
        self.command("mat", 'printf "%s\\t" "$*" >>"$HEARD"; cat >>"$HEARD"; echo >>"$HEARD"')

    def command(self, name: str, body: str) -> None:
        path = self.commands / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def launch(self, resume: str | None = None) -> Start:
        prompt = self.lab.work / "role.md"
        prompt.write_text("# You are review, the reviewer of the duo s\n", encoding="utf-8")
        role = RoleSpec("review", "pi", self.lab.work, prompt)
        spec = SessionSpec("s", self.lab.work, (role,), self.lab.env()["PATH"])
        return plan(spec, role, load("pi"), resume=resume)

    def env(self, start: Start) -> dict[str, str]:
        path = f"{self.commands}:{self.lab.env()['PATH']}"
        return {**start.env, "HEARD": str(self.heard), "PATH": path}

    def open(self, start: Start | None = None) -> Terminal:
        start = start or self.launch()
        terminal = self.lab.terminal(start.argv, env=self.env(start))
        wait_for(lambda: self.screen(terminal).state == "idle", PATIENCE_S, "pi at its prompt")
        return terminal

    def screen(self, terminal: Terminal) -> Screen:
        return read(load("pi"), Capture(terminal.screen(styled=True), terminal.variables()))

    def reports(self) -> list[tuple[str, dict[str, Any]]]:
        """Event and data of each whole report, in the order in which mat got them."""
        whole = self.heard.read_text(encoding="utf-8").rpartition("\n")[0] if self.heard.exists() else ""
        found = []
        for line in whole.splitlines():
            command, data = line.split("\t", 1)
            assert command.startswith("hook pi ")
            found.append((command.removeprefix("hook pi "), json.loads(data)))
        return found

    def events(self) -> list[str]:
        return [event for event, _ in self.reports()]

    def last(self, event: str) -> dict[str, Any]:
        return wait_for(lambda: [data for name, data in self.reports() if name == event], PATIENCE_S, event)[-1]


@pytest.fixture
def seat(pi: Lab) -> Seat:
    return Seat(pi)


def test_a_turn_is_reported_in_order_though_mat_is_slow(pi: Lab, seat: Seat) -> None:
    """The text arrives once and exact, and mat hears of prompt, start and end of the turn in that order."""
    model = pi.model()
    seat.command("mat", 'sleep 0.2; printf "%s\\t" "$*" >>"$HEARD"; cat >>"$HEARD"; echo >>"$HEARD"')
    terminal = seat.open()
    terminal.submit(RELAY)
    assert seat.last("turn-ended")["outcome"] == "ok"
    assert seat.events() == ["session-start", "prompt-submitted", "turn-started", "turn-ended"]
    assert seat.last("prompt-submitted")["prompt"] == RELAY
    assert [data["n"] for _, data in seat.reports()] == [1, 2, 3, 4]
    (request,) = model.requests()
    assert [user["sha"] for user in request["users"]] == [sha(RELAY)]


def test_the_role_prompt_is_part_of_the_system_prompt(pi: Lab, seat: Seat) -> None:
    """The file is handed over natively; pi's own words stay."""
    model = pi.model([{"system": "You are an expert.*# You are (?P<role>review), the", "say": "I am {{role}}."}])
    seat.open().submit("who are you?")
    wait_for(lambda: model.requests(), PATIENCE_S, "a request")
    assert model.requests()[0]["answer"] == "rule 1"


def test_all_attempts_of_pi_are_one_turn(pi: Lab, seat: Seat) -> None:
    """pi tries again by itself; mat hears of one turn, and of the error only when pi has given up."""
    pi.model([{"user": "too much", "status": 500, "times": 2}, {"user": "never", "status": 500}])
    terminal = seat.open()
    terminal.submit("too much")
    assert (seat.last("turn-ended")["outcome"], seat.last("turn-ended")["attempts"]) == ("ok", 3)
    terminal.submit("never")
    ended = wait_for(
        lambda: [d for e, d in seat.reports() if e == "turn-ended" and d["outcome"] == "error"], PATIENCE_S
    )[0]
    assert (ended["error"], ended["attempts"]) == ("500 scripted error 500", 3)
    assert seat.events() == ["session-start", *("prompt-submitted", "turn-started", "turn-ended") * 2]


def test_an_error_that_pi_does_not_retry_is_told_before_the_next_turn(pi: Lab, seat: Seat) -> None:
    """The end that was held back comes first when a person goes on at once."""
    pi.model([{"user": "bad", "status": 400}])
    terminal = seat.open()
    terminal.submit("bad")
    terminal.wait_for("Error: 400")
    terminal.submit("SCRIPT:text")
    wait_for(lambda: seat.events().count("turn-ended") == 2, PATIENCE_S, "both ends")
    assert seat.events()[1:] == ["prompt-submitted", "turn-started", "turn-ended"] * 2
    assert [data.get("error") for event, data in seat.reports() if event == "turn-ended"] == [
        "400 scripted error 400",
        None,
    ]


def test_an_interrupt_is_an_error_of_that_turn(pi: Lab, seat: Seat) -> None:
    """Escape ends the turn as `aborted`: what was asked for was not done."""
    pi.model()
    terminal = seat.open()
    terminal.submit("SCRIPT:slow20")
    terminal.wait_for("piece 2")
    assert seat.screen(terminal).state == "busy"
    terminal.keys("Escape")
    assert seat.last("turn-ended")["error"] == "aborted"


def test_a_killed_pi_takes_its_session_up_again(pi: Lab, seat: Seat) -> None:
    """The id that mat made names the session; what was said before is there."""
    model = pi.model()
    first = seat.launch()
    terminal = seat.open(first)
    terminal.submit("SCRIPT:text one")
    assert seat.last("turn-ended")["outcome"] == "ok"
    assert seat.last("session-start")["session_id"] == first.agent_session
    os.kill(int(terminal.tmux("display-message", "-p", "-t", "=lab:", "#{pane_pid}")), signal.SIGKILL)
    wait_for(lambda: seat.screen(terminal).state == "gone", PATIENCE_S, "a dead pane")
    second = seat.launch(resume=first.agent_session)
    terminal.tmux("respawn-pane", "-t", "=lab:", "-c", str(pi.work), *second.argv)
    wait_for(lambda: seat.screen(terminal).state == "idle", PATIENCE_S, "pi at its prompt")
    terminal.submit("two")
    wait_for(lambda: len(model.requests()) == 2, PATIENCE_S, "the second request")
    assert [user["head"] for user in model.requests()[1]["users"]] == ["SCRIPT:text one", "two"]


def test_a_handoff_makes_pi_run_send_relay(pi: Lab, seat: Seat) -> None:
    """The reply script of the duo: the delivered pointer is read, a file is written, send-relay gets it."""
    model = pi.model(REPLIES)
    handoff = pi.work / "handoff.md"
    handoff.write_text("# Handoff\n", encoding="utf-8")
    seat.command("send-relay", 'echo "sent r-000002 to $1 (#2)"; echo "$MAT_ROLE $* $(cat "$2")" >>"$HEARD.relays"')
    seat.open().submit(f"[relay r-000001 from dev]\nRead {handoff}\nTo answer dev: `send-relay dev FILE`.")
    assert seat.last("turn-ended")["outcome"] == "ok"
    sent = Path(f"{seat.heard}.relays").read_text(encoding="utf-8")
    assert sent == "review dev REVIEW.md # Review of r-000001\n\nNo finding.\n"
    assert [request["answer"] for request in model.requests()] == ["rule handoff", "rule sent"]


def test_pi_says_nothing_outside_of_a_session_of_mat(pi: Lab, seat: Seat) -> None:
    """Without MAT_SESSION the extension does nothing at all."""
    pi.model()
    start = seat.launch()
    env = {name: value for name, value in seat.env(start).items() if not name.startswith("MAT_")}
    done = pi.run([*start.argv, "-p", "SCRIPT:text"], env=env)
    assert (done.returncode, done.stdout) == (0, "Scripted answer: TEXT-DONE.\n")
    assert seat.events() == []


@pytest.mark.parametrize("body", ["exit 3", "exec sleep 60", None], ids=["fails", "hangs", "missing"])
def test_a_broken_mat_is_no_matter_to_pi(pi: Lab, seat: Seat, body: str | None) -> None:
    """The turn runs and pi ends, a hanging report or not."""
    pi.model()
    start = seat.launch()
    env = seat.env(start)
    if body is None:
        (seat.commands / "mat").unlink()
        (seat.commands / "node").symlink_to(shutil.which("node", path=env["PATH"]) or "node")
        env["PATH"] = f"{seat.commands}:/usr/bin:/bin"
    else:
        seat.command("mat", body)
    done = pi.run([*start.argv, "-p", "SCRIPT:text"], env=env)
    assert (done.returncode, done.stdout) == (0, "Scripted answer: TEXT-DONE.\n")
