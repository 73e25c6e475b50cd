"""Who sits in a role, as the journal tells it: what is taken up after a restart is what the program named last."""

from __future__ import annotations

from typing import Any

from matcore.engine import folding
from matcore.engine.ledger import Ledger


def told(*entries: tuple[str, dict[str, Any]]) -> Ledger:
    """A ledger that has heard of these entries, one a second."""
    ledger = Ledger(session="s")
    for at, (name, data) in enumerate(entries):
        folding.apply(ledger, name, float(at), data)
    return ledger


def seat(agent_session: str | None, *, started: bool) -> tuple[str, dict[str, Any]]:
    return "engine.seat", {"role": "dev", "seat": {"agent_session": agent_session, "started": started}}


NAMED = ("engine.on_session", {"role": "dev", "agent_session": "named"})


def test_the_session_that_a_program_names_is_its_seats() -> None:
    """Codex makes the ids of its sessions itself."""
    sits = told(seat(None, started=True), NAMED).seats["dev"]
    assert (sits.agent_session, sits.since) == ("named", 1.0)


def test_a_second_up_does_not_forget_it() -> None:
    """The pane remembers only what its agent was launched with."""
    assert (
        told(seat("launched", started=True), NAMED, seat("launched", started=False)).seats["dev"].agent_session
        == "named"
    )


def test_an_agent_that_was_started_anew_is_on_its_own_session() -> None:
    """Whatever the one before it named."""
    assert told(seat(None, started=True), NAMED, seat("new", started=True)).seats["dev"].agent_session == "new"


def test_nobody_sits_where_nobody_was_started() -> None:
    """A late word about a role without a seat changes nothing."""
    assert told(NAMED).seats == {}


def gone(**fields: Any) -> tuple[str, dict[str, Any]]:
    return "role.gone", {"role": "dev", **fields}


def test_how_an_agent_ended_is_known_while_nobody_else_sits_there() -> None:
    """Seen again by the next supervisor it has not ended once more; a new agent has not ended at all."""
    entries = seat("s", started=True), gone(said="Error: no key"), ("role.unknown", {"role": "dev"}), gone()
    sits = told(*entries).seats["dev"]
    assert (sits.lived_s, sits.said) == (1.0, "Error: no key")
    sits = told(*entries, seat("s", started=True)).seats["dev"]
    assert (sits.lived_s, sits.said) == (None, "")


def test_an_agent_that_was_found_running_has_lived_since_its_own_start() -> None:
    """Not since the `mat up` that found it."""
    assert told(seat("s", started=True), seat("s", started=False), gone()).seats["dev"].lived_s == 2.0
