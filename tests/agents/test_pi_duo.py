"""Two real pi as a duo under the real supervisor: what mat types reaches the model once, and never at a bad moment."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.agents.duo import (
    DEV,
    FINAL_CHECK,
    GIVES_IN,
    HANDS_BACK,
    NOTHING_TO_ADD,
    REVIEW,
    SAYS_ONLY,
    LabDuo,
    assert_woken_once,
    lab_duo,
)
from tests.agents.lab import Lab
from tests.waiting import wait_for

WINDOW_S = 4.0
SENDS_TWENTY = (
    r"for n in $(seq 20); do printf -- '---\nkind: fyi\n---\nPart %s.\n' $n >p$n.md; send-relay review p$n.md; done"
)

Make = Callable[..., LabDuo]


@pytest.fixture
def make(pi: Lab) -> Iterator[Make]:
    """Makes the test's duo: `make(rules, window=…)`."""
    ends: list[Any] = []

    def made(rules: Any = (), *, window: float = WINDOW_S, **config: Any) -> LabDuo:
        context = lab_duo(pi, "pi", rules, window=window, **config)
        ends.append(context)
        return context.__enter__()

    yield made
    for context in ends:
        context.__exit__(None, None, None)


def test_a_stalled_duo_is_woken_and_the_model_sees_it_once(make: Make) -> None:
    """Handed over, answered by the agent's own send-relay, final-checked, nudged, completed: each text arrives once."""
    duo = make([SAYS_ONLY, NOTHING_TO_ADD, GIVES_IN])
    duo.up()
    assert_woken_once(duo)


def test_an_error_of_the_model_ends_the_wakes_as_failed(make: Make) -> None:
    """pi tries three times and gives up: the wake says so, the debt stays, and the nudge finds the model well again."""
    broken = {"name": "broken", "system": REVIEW, "user": r"from dev\]\n", "status": 500}
    duo = make([broken, GIVES_IN])
    duo.up()
    closed = duo.wait("wake.closed", 60, status="failed").data
    assert (closed["role"], closed["reason"]) == ("review", "500 scripted error 500")
    opened = duo.wait("episode.opened", 30).data
    assert (opened["owed"], opened["relay"]) == ("review", "r-000002")
    duo.wait("cycle.completed", 30, by="review")
    assert duo.arrived(FINAL_CHECK) == 0, "a turn that failed is asked nothing"


def test_twenty_deliveries_in_a_row_are_each_submitted_once(make: Make) -> None:
    """None is lost, doubled, merged with another or out of order: the conversation at the model is the judge."""
    notes = {"name": "notes", "system": REVIEW, "user": "For your information", "say": "Noted."}
    duo = make([{"name": "sends", "system": DEV, "user": r"Work on TASK\.md", "run": SENDS_TWENTY}, notes], window=600)
    duo.up()
    duo.wait("relay.delivered", 120, count=21)
    duo.at_rest()
    assert [e.data["confirmed"] for e in duo.entries("relay.delivered")] == [True] * 21
    sent = [e.data["id"] for e in duo.entries("relay.sent", to="review")]
    conversation = max((r["users"] for r in duo.model.requests() if "from dev]" in r["users"][0]["head"]), key=len)
    assert [user["head"].partition(" from dev]\n")[0] for user in conversation] == [f"[relay {name}" for name in sent]
    assert {user["lines"] for user in conversation} == {3}


def test_a_busy_pi_gets_its_relay_when_it_is_idle(make: Make) -> None:
    """Nothing steers a turn that runs: what came meanwhile starts the next one."""
    duo = make(window=600).alone("review")
    duo.up()
    duo.at_rest()
    duo.mat("send", "duo", "review", "SCRIPT:slow5")
    duo.wait("relay.delivered", 20)
    duo.mat("send", "duo", "review", "The second one.")
    duo.wait("relay.delivered", 30, count=2)
    ended, injected = duo.wait("turn.ended", role="review"), duo.wait("engine.inject", count=2)
    assert ended.at <= injected.at
    duo.wait_arrived("The second one")
    assert [len(r["users"]) for r in duo.model.requests()] == [1, 2], "two turns, and no text steered the first"


@pytest.mark.parametrize("moment", ["engine.inject", "relay.delivered"])
def test_a_killed_supervisor_repeats_nothing_and_takes_nothing_for_a_humans(make: Make, moment: str) -> None:
    """SIGKILL while a text is on its way, or in the turn that it began: the next supervisor knows its own texts."""
    again = {"name": "again", "system": REVIEW, "user": r"relay-redelivery.*read or not: (?P<path>\S+)"}
    duo = make([{**again, "run": HANDS_BACK.replace("{{relay}}", "it")}])
    duo.up()
    relay = duo.wait("relay.sent", 40, to="review").data["id"]
    duo.wait(moment, 30, count=2)  # the first is the kick
    before = duo.supervisor_pid()
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: duo.supervisor_pid() != before, 20, "another supervisor")
    duo.wait("cycle.completed", 60, by="dev")
    assert duo.arrived(rf"^\[relay {relay} from dev\]\n") <= 1
    assert not duo.entries("human.acted")


def test_a_killed_agent_is_taken_up_again_with_all_that_was_said(make: Make) -> None:
    """`mat restart` after SIGKILL resumes pi's session: the same file, the old turns before the new."""
    duo = make(window=600).alone("review")
    duo.up()
    duo.at_rest()
    duo.mat("send", "duo", "review", "SCRIPT:text one")
    duo.wait("turn.ended", 30, role="review")
    (file,) = {path for path in (duo.places.root / "pi").iterdir() if "SCRIPT:text one" in path.read_text()}
    os.kill(int(duo.tmux("display-message", "-p", "-t", duo.pane("review"), "#{pane_pid}")), signal.SIGKILL)
    duo.wait("role.gone", 20, role="review")
    duo.mat("restart", "duo", "review")
    seat: Any = duo.wait("engine.seat", 20, role="review").data["seat"]
    assert seat["agent_session"] == file.stem
    duo.at_rest("review")
    duo.mat("send", "duo", "review", "two")
    duo.wait_arrived("two")
    heads = [user["head"].splitlines()[1] for user in duo.model.requests()[-1]["users"]]
    assert heads == ["SCRIPT:text one", "two"]
