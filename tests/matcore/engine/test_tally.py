"""The course of the work as it is counted from the journal."""

from __future__ import annotations

from typing import Any

import pytest

from matcore.engine import tally
from matcore.engine.tally import Course, Tally


def told(*entries: tuple[str, dict[str, Any]]) -> Tally:
    """A tally after these entries, one a second."""
    found = Tally()
    for at, (name, data) in enumerate(entries, start=1):
        tally.apply(found, name, float(at), data)
    return found


def sent(sender: str, to: str, kind: str = "request", **data: Any) -> tuple[str, dict[str, Any]]:
    return "relay.sent", {"id": f"r-{sender}-{to}", "from": sender, "to": to, "kind": kind, **data}


ROUNDS = {"question": "rounds-c1-1", "by": "mat"}
OPENED = ("cycle.opened", {"cycle": "c1"})


@pytest.mark.parametrize(
    ("relays", "rounds"),
    [
        ([("dev", "review")], 0),
        ([("dev", "review"), ("review", "dev")], 1),
        ([("dev", "review"), ("review", "dev"), ("dev", "review")], 1),
        ([("dev", "review"), ("review", "dev"), ("dev", "review"), ("review", "dev")], 2),
        ([("dev", "review"), ("dev", "review"), ("review", "dev")], 1),
        ([("plan", "dev"), ("dev", "review"), ("review", "plan")], 0),
        ([("plan", "dev"), ("dev", "review"), ("review", "dev"), ("dev", "plan")], 2),
    ],
)
def test_a_round_is_a_pair_of_requests(relays: list[tuple[str, str]], rounds: int) -> None:
    """One each way; the second completes it, and the next request begins another."""
    found = told(OPENED, *(sent(sender, to) for sender, to in relays))
    assert found.open is not None
    assert (found.open.rounds, found.open.handoffs) == (rounds, len(relays))
    assert found.open.holder == relays[-1][1]


def test_what_is_no_handoff_makes_no_round() -> None:
    """A `fyi`, the human's words, and what is sent while no cycle is open count for nothing."""
    found = told(sent("dev", "review"), OPENED, sent("human", "dev"), sent("dev", "review", "fyi"))
    assert found.open == Course("c1", 2.0)


def test_a_cycle_s_course_ends_with_it() -> None:
    """What ended last is told with its length, whoever opened the next one; another cycle's end is nobody's."""
    stall = ("episode.opened", {"episode": 1})
    found = told(OPENED, sent("dev", "review"), stall, ("cycle.completed", {"cycle": "c9"}))
    assert found.open is not None
    tally.apply(found, "cycle.completed", 9.0, {"cycle": "c1"})
    still_open: object = found.open
    assert still_open is None
    assert found.last == Course("c1", 1.0, 9.0, 1, 1, 0, ["dev>review"], "review")
    tally.apply(found, "episode.opened", 10.0, {"episode": 2})
    again = told(OPENED, ("cycle.opened", {"cycle": "c2"}), ("cycle.blocked", {"cycle": "c2"}))
    assert again.last is not None
    assert (again.last.cycle, again.last.until) == ("c2", 3.0)


def test_a_letter_waits_until_it_has_arrived() -> None:
    """It is there while the relay is on its way, knows that the session was renewed, and is gone afterwards."""
    letter = {"kind": "prompt", "text": "Begin anew.", "path": "/p"}
    found = told(OPENED, sent("review", "dev", letter=letter))
    renewed: list[bool] = [found.letters["r-review-dev"].renewed]
    tally.apply(found, "agent.renewed", 3.0, {"role": "dev", "relay": "r-review-dev"})
    tally.apply(found, "agent.renewed", 4.0, {"role": "dev"})
    renewed.append(found.letters["r-review-dev"].renewed)
    assert renewed == [False, True]
    tally.apply(found, "relay.delivered", 5.0, {"id": "r-review-dev"})
    assert found.letters == {}


def test_what_was_answered_is_known_for_a_while() -> None:
    """An answered question can be told from one that never was; asked again it is open again."""
    found = told(("question.asked", {"question": "q-1"}), ("question.answered", {"question": "q-1"}))
    assert found.answered == {"q-1": 2.0}
    tally.apply(found, "question.asked", 3.0, {"question": "q-1"})
    assert found.answered == {}
    for number in range(100):
        tally.apply(found, "question.answered", 4.0, {"question": f"q-{number}"})
    assert len(found.answered) == 64
    assert "q-99" in found.answered


def test_the_answer_about_rounds_grants_as_many_more() -> None:
    """The count begins anew; another answer leaves it, and so does a role's question of that name."""
    found = told(OPENED, sent("dev", "review"), sent("review", "dev"), ("question.asked", ROUNDS))
    assert found.asked_rounds == 1
    assert found.open is not None
    tally.apply(found, "question.asked", 5.0, {"question": "rounds-c1-9"})
    tally.apply(found, "question.answered", 5.0, {"question": "rounds-c1-9"})
    assert found.open.rounds == 1
    tally.apply(found, "question.answered", 6.0, {"question": "rounds-c1-1"})
    assert found.open.rounds == 0
