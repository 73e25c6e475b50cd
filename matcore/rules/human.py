"""What the human does: acts (rule 12), answers, pauses, resumes.

Where the page leaves a choice:

- A `human.resumed` is an act even if nothing was paused: somebody is there.
- An answer to a question that is not open (never asked, or answered before) is no answer: it changes nothing.
- A question asked again while it is open is told once; the notifier keeps what reached no channel.
"""

from __future__ import annotations

from matcore.rules import gates, ladder
from matcore.rules.decisions import Notify, NotifyKind
from matcore.rules.facts import HumanActed, HumanPaused, HumanResumed, QuestionAnswered, QuestionAsked
from matcore.rules.state import Question
from matcore.rules.work import Work


def acts(work: Work) -> None:
    ladder.human_acted(work)


def acted(work: Work, fact: HumanActed) -> None:
    if fact.role is None or work.role(fact.role) is not None:
        acts(work)


def paused(work: Work, fact: HumanPaused) -> None:
    gates.raised(work, gates.PAUSED, fact.until)


def resumed(work: Work, fact: HumanResumed) -> None:  # noqa: ARG001 - all handlers are alike
    gates.ended(work, gates.PAUSED)
    acts(work)


def asked(work: Work, fact: QuestionAsked) -> None:
    """Tell the human, once for each question that is open."""
    if work.role(fact.role) is None or _is_open(work, fact.question):
        return
    work.questions = (*work.questions, Question(fact.question, fact.role, work.now_us))
    gates.held(work, gates.AWAITING_HUMAN)
    work.decide(Notify, kind=NotifyKind.QUESTION, action=True, question=fact.question)


def answered(work: Work, fact: QuestionAnswered) -> None:
    if not _is_open(work, fact.question):
        return
    work.questions = tuple(question for question in work.questions if question.id != fact.question)
    if not work.questions:
        gates.ended(work, gates.AWAITING_HUMAN)
    acts(work)


def _is_open(work: Work, name: str) -> bool:
    return any(question.id == name for question in work.questions)
