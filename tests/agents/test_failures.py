"""How real programs fail, and what becomes of it: limits, cut streams, agents that leave a shell behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.agents.duo import LabDuo, lab_duo
from tests.agents.lab import OPENCODE, lab, opencode_with
from tests.waiting import wait_for
from tmuxdriver.profile import shipped_folder

Make = Callable[..., LabDuo]


@pytest.fixture
def make(home: Path) -> Iterator[Make]:
    """Makes a duo of which only the reviewer runs: `make(program, rules)`."""
    with ExitStack() as ends:

        def made(program: str, rules: Any = ()) -> LabDuo:
            there = ends.enter_context(lab(program, home / program))
            return ends.enter_context(lab_duo(there, program, rules, window=600)).alone("review")

        yield made


def limit(words: str) -> dict[str, Any]:
    return {"name": "limit", "user": "Look at it", "status": 429, "say": words}


@pytest.mark.parametrize("program", ["pi", OPENCODE])
def test_a_limit_holds_until_the_time_that_the_program_tells(make: Make, program: str) -> None:
    """A 429, tried again in vain: the wake failed, the seat is held as long as the answer says, and what waited follows
    once."""
    duo = make(program, [limit("You have hit your usage limit. Try again in ~20 seconds.")])
    duo.up()
    duo.at_rest()
    duo.mat("send", "duo", "review", "Look at it.")
    raised = duo.wait("gate.raised", 60, gate="rate-limited", role="review")
    assert 15 < float(str(raised.data["until"])) - raised.at < 25, raised
    assert [e.data["status"] for e in duo.entries("wake.closed")] == ["failed"], duo.story()
    duo.mat("send", "duo", "review", "Go on.")
    delivered = duo.wait("relay.delivered", 60, count=2)
    cleared = duo.entries("gate.cleared", gate="rate-limited")
    assert [entry.at <= delivered.at for entry in cleared] == [True], duo.story()
    assert delivered.at >= float(str(raised.data["until"]))
    duo.wait_arrived("Go on.$")
    duo.at_rest()
    assert duo.arrived("") == 2


def test_a_limit_names_the_hour_of_claudes_screen(make: Make) -> None:
    """Its hook tells that a limit was met, the screen until when."""
    resets = datetime.now().astimezone() + timedelta(hours=18)
    hour = f"{resets:%-I:%M%p}".lower()
    duo = make("claude", [limit(f"You've hit your limit · resets {hour} ({resets:%Z})")])
    duo.up()
    duo.at_rest()
    duo.mat("send", "duo", "review", "Look at it.")
    raised = duo.wait("gate.raised", 60, gate="rate-limited", role="review")
    end_s = raised.wall + float(str(raised.data["until"])) - raised.at
    assert abs(end_s - resets.timestamp()) <= 120, duo.story()
    assert "rate-limited" in duo.mat("status", "duo").stdout


@pytest.mark.parametrize(
    ("program", "word", "reason", "evidence"),
    [
        ("pi", "err500", "scripted error 500", "hook"),
        ("claude", "err500", "server_error", "hook"),
        ("codex", "err400", "scripted error 400", "screen (it shows the turn's end, no hook)"),
        opencode_with("err400", "scripted error 400", "screen"),
    ],
)
def test_an_error_of_the_model_ends_the_wakes_as_failed(
    make: Make, program: str, word: str, reason: str, evidence: str
) -> None:
    """The program tries again or does not, and gives up: what tells is its hook, or where it has none its screen."""
    duo = make(program)
    duo.up()
    duo.at_rest()
    duo.mat("send", "duo", "review", f"SCRIPT:{word}")
    closed = duo.wait("wake.closed", 40)
    assert closed.data["status"] == "failed", duo.story()
    assert reason in str(closed.data["reason"])
    assert [e.data["evidence"] for e in duo.entries("turn.ended")] == [evidence]


@pytest.mark.xdist_group("opencode")
def test_opencode_takes_a_stream_that_was_cut_up_again(make: Make) -> None:
    """It tries five times, which takes a minute; it is busy all the while, and that is one turn."""
    duo = make("opencode", [{"user": "Look at it", "say": "Half of", "cut": True, "times": 2}])
    duo.up()
    duo.at_rest()
    duo.mat("send", "duo", "review", "Look at it.")
    assert duo.wait("wake.closed", 40).data["status"] == "completed_without_visible_reply"
    assert [e.data["outcome"] for e in duo.entries("turn.ended")] == ["ok"]
    answers = [r["answer"] for r in duo.model.requests() if r["tools"]]
    assert answers == ["rule 1", "rule 1", "echo"], duo.story()
    duo.at_rest()
    assert [e.name for e in duo.entries("role.idle", "role.unknown")][1:] == ["role.idle"], duo.story()


@pytest.mark.parametrize(
    ("program", "word", "status"),
    [
        ("pi", "drop", "completed_without_visible_reply"),  # pi takes what it got for the whole answer
        ("pi", "dropnow", "failed"),
        ("claude", "drop", "failed"),
        ("codex", "drop", "failed"),
    ],
)
def test_a_cut_stream_ends_the_turn_as_its_program_tells(make: Make, program: str, word: str, status: str) -> None:
    """The turn has ended and the wake with it, and the seat takes the next text."""
    duo = make(program)
    duo.up()
    duo.at_rest()
    duo.mat("send", "duo", "review", f"SCRIPT:{word}")
    closed = duo.wait("wake.closed", 40)
    assert closed.data["status"] == status, duo.story()
    outcome = "error" if status == "failed" else "ok"
    assert [e.data["outcome"] for e in duo.entries("turn.ended")] == [outcome]
    duo.at_rest()
    duo.mat("send", "duo", "review", "Go on.")
    duo.wait_arrived("Go on.$")


def test_a_shell_that_an_agent_leaves_behind_is_never_typed_into(make: Make) -> None:
    """A person's wrapper shows a shell when pi has ended: the gate is named, the relay waits, the shell gets nothing;
    after `mat restart` the relay comes, once."""
    duo = make("pi")
    shelled(duo)
    duo.up()
    duo.at_rest()
    duo.mat("send", "duo", "review", "SCRIPT:text one")
    duo.wait("turn.ended", 30)
    duo.at_rest()
    duo.keys("review", "-l", "/quit")
    duo.keys("review", "Enter")
    duo.wait("gate.raised", 40, gate="no-agent", role="review")
    shown = wait_for(lambda: s if (s := duo.screen("review")).rstrip().endswith("$") else "", 20, "the shell's prompt")
    duo.mat("send", "duo", "review", "Go on.")
    wait_for(lambda: len(duo.entries("relay.sent")) == 2, 20, "the second relay")
    wait_for(lambda: "no-agent" in duo.mat("status", "duo").stdout, 20, "the gate in status")
    assert duo.screen("review") == shown
    assert len(duo.entries("relay.delivered")) == 1
    duo.mat("restart", "duo", "review")
    duo.wait("relay.delivered", 60, count=2)
    duo.wait_arrived("Go on.$")
    duo.at_rest()
    assert duo.arrived("Go on.$") == 1


def shelled(duo: LabDuo) -> None:
    """pi's backend behind a person's shell wrapper."""
    folder = duo.work / ".mat" / "agents" / "backends"
    shutil.copytree(shipped_folder() / "pi", folder / "pi")
    profile = yaml.safe_load((shipped_folder() / "pi.yaml").read_text(encoding="utf-8"))
    profile["name"] = "shelled"
    profile["launch"]["argv"] = ["/bin/bash", "-c", '"$@"; PS1="$ " exec bash --norc --noprofile -i', "wrapper", "pi"]
    (folder / "shelled.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    duo.config["roles"]["review"]["backend"] = "shelled"
