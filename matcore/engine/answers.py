"""The human's answer to an open question: one transaction answers the question and sends the answer to the role that
asked, so that no crash can lose the text or have the question asked again.

`mat answer` numbers the relay as `send-relay` does; a record that carries only question and text is numbered here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from matcore.engine import letters
from matcore.engine.book import Fact

if TYPE_CHECKING:
    from matcore.engine.session import Session


def why_not(session: Session, question: str) -> str | None:
    """Why `question` can't be answered by a text; None where it can."""
    asked = session.ledger.questions.get(question)
    if asked is None:
        known = question in session.ledger.tally.answered
        return f"question {question} {'was answered already' if known else 'is not open'}; nothing was sent"
    if asked.dialog:
        return (
            f"question {question} is a dialog on {asked.role}'s screen; answer it there: "
            f"mat attach {session.name} {asked.role}"
        )
    return None


def take(session: Session, question: str, fields: dict[str, Any], *, source: str) -> None:
    """Answer `question`, for which `why_not` is None, by the relay `fields`."""
    asked = session.ledger.questions[question]
    letter = letters.of_answer(asked, fields.get("body"))
    answered = Fact("question.answered", {"question": question, "relay": fields["id"]})
    session.commit([answered, Fact("relay.sent", {**fields, "to": asked.role, "letter": letter}, source)])


def unnumbered(session: Session, record: Mapping[str, Any]) -> dict[str, Any]:
    """The relay of an answer that came without a number."""
    return letters.from_human(session, str(record["text"]), to="")
