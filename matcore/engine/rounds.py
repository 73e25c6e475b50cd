"""`cycle.max_rounds`: a cycle that goes on and on ends in a question to the human, not in silence.

After that many rounds (see `tally`) mat itself asks whether to go on. Until the answer comes, what the roles send to
each other waits; the answer goes to the role that holds the baton, and that many rounds more are granted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matcore.engine.tally import MAT
from matcore.words.worknotices import rounds_question

if TYPE_CHECKING:
    from matcore.engine.ledger import Ledger, Relay
    from matcore.engine.session import Session

_ID = "rounds-"


def waiting(ledger: Ledger) -> str | None:
    """The id of mat's question about the rounds, while it is open."""
    return next((question.id for question in ledger.questions.values() if question.by_mat), None)


def next_relay(ledger: Ledger, role: str) -> Relay | None:
    """What `role` gets next: an answer that it waits for, then what was sent first."""
    pending = ledger.pending(role)
    letters = ledger.tally.letters
    answers = [relay for relay in pending if relay.id in letters and letters[relay.id].kind == "answer"]
    free = pending if waiting(ledger) is None else [relay for relay in pending if relay.sender == "human"]
    return next(iter([*answers, *free]), None)


def mind(session: Session) -> None:
    """Ask where the rounds are used up; withdraw a question whose cycle has ended."""
    ledger, course = session.ledger, session.ledger.tally.open
    most = (ledger.config.get("cycle") or {}).get("max_rounds")
    asked = waiting(ledger)
    if asked is not None and (course is None or not asked.startswith(f"{_ID}{course.cycle}-")):
        session.take("question.answered", {"question": asked, "evidence": "its cycle has ended"})
    elif asked is None and most and course is not None and course.rounds >= most:
        session.take(
            "question.asked",
            {"question": f"{_ID}{course.cycle}-{ledger.tally.asked_rounds + 1}", "role": course.holder,
             "text": rounds_question(rounds=course.rounds, cycle=course.cycle, role=course.holder,
                                     session=session.name),
             "by": MAT},
        )  # fmt: skip
