"""Two real pi as a duo under the real supervisor: what mat types reaches the model once, and never at a bad moment."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.agents.duo import FINAL_CHECK, GIVES_IN, HANDS_BACK, REVIEW, LabDuo, lab_duo
from tests.agents.lab import Lab
from tests.waiting import wait_for

WINDOW_S = 4.0

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
