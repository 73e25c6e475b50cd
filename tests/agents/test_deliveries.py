"""Deliveries into real programs: each text is submitted once, whole, and at no bad moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.duo import DEV, REVIEW, lab_duo
from tests.agents.lab import OPENCODE, lab

SENDS_TWENTY = (
    r"for n in $(seq 20); do printf -- '---\nkind: fyi\n---\nPart %s.\n' $n >p$n.md; send-relay review p$n.md; done"
)
NOTES = {"name": "notes", "system": REVIEW, "user": "For your information", "say": "Noted."}
SENDS = {"name": "sends", "system": DEV, "user": r"Work on TASK\.md", "run": SENDS_TWENTY}


@pytest.mark.parametrize("program", ["pi", OPENCODE])
def test_twenty_deliveries_in_a_row_are_each_submitted_once(home: Path, program: str) -> None:
    """None is lost, doubled, merged with another or out of order: the conversation at the model is the judge. pi sends
    them."""
    with lab(program, home / program) as there, lab_duo(there, program, [SENDS, NOTES], window=600) as duo:
        duo.config["roles"]["dev"]["backend"], duo.config["roles"]["review"]["backend"] = "pi", program
        duo.up()
        duo.wait("relay.delivered", 120, count=21)
        duo.at_rest()
        assert [e.data["confirmed"] for e in duo.entries("relay.delivered")] == [True] * 21, duo.story()
        sent = [e.data["id"] for e in duo.entries("relay.sent", to="review")]
        asked = [r["users"] for r in duo.model.requests() if r["tools"]]
        conversation = max((users for users in asked if "from dev]" in users[0]["head"]), key=len)
        heads = [user["head"].partition(" from dev]\n")[0] for user in conversation]
        assert heads == [f"[relay {name}" for name in sent]
        assert {user["lines"] for user in conversation} == {3}


@pytest.mark.parametrize("program", ["pi", OPENCODE])
def test_a_busy_agent_gets_its_relay_when_it_is_idle(home: Path, program: str) -> None:
    """Nothing steers a turn that runs: what came meanwhile starts the next one."""
    with lab(program, home / program) as there, lab_duo(there, program, window=600) as duo:
        duo.alone("review").up()
        duo.at_rest()
        duo.mat("send", "duo", "review", "SCRIPT:slow8")
        duo.wait("relay.delivered", 20)
        duo.mat("send", "duo", "review", "The second one.")
        duo.wait("relay.delivered", 30, count=2)
        ended, injected = duo.wait("turn.ended", role="review"), duo.wait("engine.inject", count=2)
        assert ended.at <= injected.at
        duo.wait_arrived("The second one")
        asked = [len(r["users"]) for r in duo.model.requests() if r["tools"]]
        assert asked == [1, 2], "two turns, and no text steered the first"


@pytest.mark.parametrize("program", ["pi", "claude", "codex", OPENCODE])
def test_copy_mode_that_nobody_is_in_is_left_before_the_paste(home: Path, program: str) -> None:
    """A pane that somebody has scrolled and left: in copy mode a paste would lose its frame and submit line by line."""
    with lab(program, home / program) as there, lab_duo(there, program, window=600) as duo:
        duo.alone("review").up()
        duo.at_rest()
        duo.tmux("copy-mode", "-t", duo.pane("review"))
        duo.mat("send", "duo", "review", "First line.\nSecond line.\nThird line.")
        duo.wait("relay.delivered", 30)
        duo.wait_arrived(r"^\[relay r-000001 from human\]\nFirst line\.\nSecond line\.\nThird line\.")
        duo.at_rest()
        assert duo.arrived("") == 1
        assert duo.tmux("display-message", "-p", "-t", duo.pane("review"), "#{pane_in_mode}").strip() == "0"
