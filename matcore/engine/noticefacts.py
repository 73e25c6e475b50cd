"""What the text of a notification is made of: who owes what since when, which gates and questions, how a cycle went."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matcore.engine import dialogs
from matcore.engine.book import Book
from matcore.engine.ledger import Ledger, Question
from matcore.engine.tally import Course
from matcore.rules import decisions as d
from matcore.rules import view


def of(book: Book, notify: d.Notify, when: Callable[[float], str]) -> dict[str, Any]:
    """The facts of `words.notices.notice` for this notification. `when` writes a time of the journal for people."""
    ledger = book.ledger
    debt = view.debt(book.state)
    since = when(debt.since if debt else ledger.progress_at)
    match notify.kind:
        case "question":
            return _asked(ledger.questions[str(notify.question)])
        case "gate":
            return {
                "gates": dialogs.told_by(ledger, notify.gates or ()),
                "since": since,
                "questions": [_asked(question) for question in ledger.questions.values()],
            }
        case "idle-recovery":
            owed, relay = (debt.role, debt.relay) if debt else (None, None)
            return {"owed": owed, "relay": relay, "since": since, **_ended(ledger, owed)}
        case "overdue":
            return {"cycle": ledger.cycle or "", "since": when(ledger.progress_at)}
        case _:
            return {"cycle": notify.cycle or "", **_course(ledger.tally.last), **ledger.last_cycle}


def _asked(question: Question) -> dict[str, Any]:
    return {
        "role": question.role, "question": question.id, "text": question.text,
        "dialog": question.dialog, "by_mat": question.by_mat,
    }  # fmt: skip


def _ended(ledger: Ledger, owed: str | None) -> dict[str, Any]:
    """The agent that has ended and stays so, the holder's first: nothing that the ladder does can wake it."""
    gone = [role for role in ledger.config.get("roles", {}) if ledger.status(role) == "gone"]
    role = owed if owed in gone else next(iter(gone), None)
    if role is None:
        return {}
    all_gone = len(gone) > 1 and len(gone) == len(ledger.config["roles"])
    said = ledger.seats[role].said if role in ledger.seats else ""
    about = {"ended": role, "said": said, "workdir": ledger.workdir if all_gone else ""}
    return about if ledger.tally.woken else {**about, "none_woken": gone}


def _course(course: Course | None) -> dict[str, Any]:
    if course is None or course.until is None:
        return {}
    return {"took_s": course.until - course.since, "handoffs": course.handoffs, "stalls": course.episodes}
