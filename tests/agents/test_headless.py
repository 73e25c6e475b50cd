"""Real agent programs as headless turns: the incident's bounce between two kinds, and each program's own session."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from baton import lock, record
from tests.agents.duo import GIVES_IN, NOTHING_TO_ADD, REVIEW, SAYS_ONLY, LabDuo
from tests.agents.lab import OPENCODE, Lab, lab, program
from tests.waiting import wait_for

WINDOW_S = 4.0
SAYS_TOO = {"name": "review says only", "system": REVIEW, "user": r"from dev\]\n", "say": "Looks good to me, approved."}
SENDS_LATE = {
    "name": "sends late",
    "system": REVIEW,
    "user": r"relay-redelivery",
    "run": "printf '# Review\\n\\nNo finding.\\n' >REVIEW.md && send-relay dev REVIEW.md",
}


class MixedDuo(LabDuo):
    """A developer in one program and a reviewer in another, both headless."""

    def __init__(self, lab: Lab, dev: str, review: str, rules: Any = (), **config: Any) -> None:
        super().__init__(lab, dev, rules, driver="baton", **config)
        self.config["roles"]["review"]["backend"] = review
        for role in self.config["roles"].values():
            role["permissions"] = {"claude": "bypassPermissions"}.get(role["backend"], "default")
        folders = [str(path.parent) for name in (dev, review) if (path := program(name))]
        self.env["PATH"] = ":".join([*folders, self.env["PATH"]])
        self.env["IS_SANDBOX"] = "1"  # claude refuses to bypass permissions as root without it


@pytest.fixture
def ends() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def headless_duo(home: Path, ends: ExitStack, dev: str, review: str, rules: Any = (), **config: Any) -> MixedDuo:
    for name in (dev, review):
        made = ends.enter_context(lab(name, home / name))
    duo = MixedDuo(made, dev, review, rules, window=WINDOW_S, **config)
    ends.callback(duo.end)
    return duo


def test_the_bounce_of_the_incident_between_claude_and_pi(home: Path, ends: ExitStack) -> None:
    """Each side answers only in its final text: nothing of that is delivered; the nudge has it sent, and the cycle is
    completed. Each text reached its model once."""
    duo = headless_duo(home, ends, "pi", "claude", [SENDS_LATE, SAYS_TOO, SAYS_ONLY, NOTHING_TO_ADD, GIVES_IN])
    duo.up()
    duo.wait("cycle.completed", 120, by="dev")
    duo.wait_arrived("^<goal_complete>")
    relays = [(e.data["from"], e.data["to"]) for e in duo.entries("relay.sent")]
    assert relays == [("human", "dev"), ("dev", "review"), ("review", "dev")]
    nudges = [(e.data["episode"], e.data["rung"], e.data["role"]) for e in duo.entries("nudge")]
    assert nudges == [(1, 1, "review"), (2, 1, "dev")]
    assert [e.data["by"] for e in duo.entries("episode.closed")] == ["handoff", "boundary"]
    for relay in duo.entries("relay.sent"):
        assert duo.arrived(rf"^\[relay {relay.data['id']} from \w+\]\n") == 1, duo.story()
    assert duo.arrived("Looks good to me") == 0, "what was only said reached nobody"
    claude, pi = (record.read_state(duo.places, role).last for role in ("review", "dev"))
    assert claude is not None
    assert pi is not None
    assert (claude.outcome, pi.outcome) == ("ok", "ok")
    assert claude.tokens
    assert claude.cost is not None


def kill_worker(duo: MixedDuo) -> None:
    """SIGKILL; the supervisor starts another."""
    path = record.lock_path(duo.places)
    worker = lock.holder(path)
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: lock.holder(path) not in (None, worker), 20, "another worker")


@pytest.mark.parametrize("name", ["claude", "codex", "pi", OPENCODE])
def test_each_program_goes_on_in_its_session(name: str, home: Path, ends: ExitStack) -> None:
    """Three turns, a worker killed between them, one agent session: the model sees all that was said before; an error
    of the model is that turn's, with its class."""
    duo = headless_duo(home, ends, name, name)
    duo.config["recovery"]["window"] = 600
    duo.alone("review").up()
    duo.at_rest()
    for number, text in enumerate(["SCRIPT:text one", "SCRIPT:err401", "SCRIPT:text three"], 1):
        if number == 3:
            kill_worker(duo)
        duo.mat("send", "duo", "review", text)
        duo.wait("turn.ended", 60, count=number, role="review")
    duo.at_rest()
    outcomes = [(e.data["outcome"], e.data.get("class")) for e in duo.entries("turn.ended")]
    assert outcomes == [("ok", None), ("error", "auth"), ("ok", None)], duo.story()
    users = [user["head"] for user in duo.model.requests()[-1]["users"]]
    for relay in ("r-000001", "r-000003"):
        assert len([user for user in users if f"[relay {relay} from" in user]) == 1, users


@pytest.mark.xdist_group("opencode")
def test_a_program_that_tries_again_for_long_is_ended_at_its_time_limit(home: Path, ends: ExitStack) -> None:
    """opencode's five attempts after an error of the server take more than a minute: the turn is over before that, the
    next one goes on in the same session, and a limit is told as one."""
    limit = {"name": "limit", "user": "Look at it", "status": 429, "say": "Usage limit. Try again in 30 seconds."}
    duo = headless_duo(home, ends, "opencode", "opencode", [limit], baton={"turn_timeout": "55s"})
    duo.config["recovery"]["window"] = 600
    duo.alone("review").up()
    duo.at_rest()
    for number, text in enumerate(["SCRIPT:text one", "SCRIPT:err500", "Look at it."], 1):
        duo.mat("send", "duo", "review", text)
        duo.wait("turn.ended", 60, count=number, role="review")
    outcomes = [(e.data["outcome"], e.data.get("class")) for e in duo.entries("turn.ended")]
    assert outcomes == [("ok", None), ("error", "timeout"), ("error", "rate-limit")], duo.story()
    duo.wait("gate.raised", gate="rate-limited")
    users = [user["head"] for user in duo.model.requests()[-1]["users"]]
    assert len([user for user in users if "[relay r-000001 from" in user]) == 1, "one agent session"
