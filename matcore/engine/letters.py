"""What is typed for a relay besides its path: a verdict's hint or new prompt, the human's answer to a question.

Which it is is read from the content as it was sent, never from what a record says of itself. A text that is too long
to be typed stands in a file, and the letter points to it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matcore import said_index, said_sent
from matcore.engine.ledger import Ledger, Question, Relay
from matcore.engine.tally import Letter
from matcore.places import SessionPlaces
from matcore.words import front, messages, verdict

if TYPE_CHECKING:
    from matcore.engine.session import Session

SHORT = 700
"""The longest text (characters) that the journal keeps beside its file."""
ASKED = 500


def of_handoff(places: SessionPlaces, content: str) -> dict[str, Any] | None:
    """The letter of a role's relay with this content, as it is journalled; None for one that is announced as it is."""
    said = verdict.found(front.read(content))
    if said is None:
        return None
    if said.hint is not None:
        return {"kind": "hint", "text": short(said.hint)}
    if said.new_prompt is not None:
        return {"kind": "prompt", "text": short(said.new_prompt), "path": keep(places, said.new_prompt)}
    return None


def of_answer(question: Question, text: str | None) -> dict[str, Any]:
    """The letter of the human's relay that answers `question`."""
    said = {"kind": "answer", "text": short(text), "question": question.id, "asked": question.text[:ASKED]}
    return {**said, "by_mat": question.by_mat}


def from_human(session: Session, text: str, *, to: str) -> dict[str, Any]:
    """A relay of the human's that came without a number; the index learns of it from the journal."""
    session.index_stale = True
    return numbered(session.places, session.ledger.seq + 1, text, to=to)


def numbered(places: SessionPlaces, seq: int, text: str, *, to: str) -> dict[str, Any]:
    """The fields of the human's relay number `seq` to the role `to`; its text is kept among the handoffs."""
    path = keep(places, text)
    return {
        "id": said_index.message_id(seq), "seq": seq, "from": "human", "to": to, "kind": "request",
        "path": path, "digest": Path(path).stem, "body": short(text),
    }  # fmt: skip


def keep(places: SessionPlaces, text: str) -> str:
    """Keep a text among the handoffs. Returns its path, which ends in `<digest>.md`. Raises `OSError`."""
    data = text.encode("utf-8", "replace")
    return said_sent.keep(str(places.root), hashlib.sha256(data).hexdigest(), data.decode())


def said_in(letter: Letter, relay: Relay, ledger: Ledger) -> str:
    """The text to be typed."""
    path = letter.path or relay.path or ""
    match letter.kind:
        case "hint":
            return messages.hint(
                message_id=relay.id, sender=relay.sender, hint=letter.text, path=path, command=ledger.command
            )
        case "prompt":
            return messages.fresh_start(
                message_id=relay.id, sender=relay.sender, prompt=letter.text, path=path, command=ledger.command
            )
        case _:
            return messages.answer(
                message_id=relay.id, question=letter.asked, body=letter.text, path=relay.path,
                asked_as=letter.question, by_mat=letter.by_mat,
            )  # fmt: skip


def short(text: str | None) -> str | None:
    """The text where the journal keeps it beside its file; None where it is read from there."""
    return text if text is not None and len(text) <= SHORT else None
