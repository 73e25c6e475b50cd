"""Final checks and recoveries on their way into a role, and the gate `injected/<role>` that they hold (rule 9).

Each is on its way by itself: for a minute from its decision and, once confirmed, for a minute from then, until the
role's next `role.busy`, which takes up all that were decided before it. One that fails takes away its own minute and
no other's. The gate holds while any is on its way, so that no nudge follows a text into the same turn. What became of
the wakes that a check asks about, or of the marker, is nothing to it: the text arrives all the same.
"""

from __future__ import annotations

from dataclasses import replace

from matcore.rules import gates
from matcore.rules.policy import INJECTED_US
from matcore.rules.state import Text
from matcore.rules.work import Work

KEPT = 16
"""Of one role. Outcomes may never come; what is dropped is the minute that one of a long time ago would still hold."""


def sent(work: Work, role: str, decision: int) -> None:
    """This text was decided now."""
    mine = tuple(text for text in work.texts if text.role == role and (text.decision or text.until_us > work.now_us))
    text = Text(decision, role, work.now_us + INJECTED_US)
    work.texts = (*(each for each in work.texts if each.role != role), *mine[1 - KEPT :], text)
    _hold(work, role)


def ended(work: Work, decision: int, *, ok: bool) -> None:
    """The outcome of a text, if this decision is one that its role has not taken up."""
    for text in work.texts:
        if text.decision == decision:
            arrived = replace(text, decision=0, until_us=work.now_us + INJECTED_US)
            others = tuple(each for each in work.texts if each is not text)
            work.texts = (*others, arrived) if ok else others
            _hold(work, text.role)


def taken_up(work: Work, role: str) -> None:
    """The role is busy: with all that was on its way into it."""
    if work.texts:
        work.texts = tuple(text for text in work.texts if text.role != role)
        _hold(work, role)


def _hold(work: Work, role: str) -> None:
    until_us = max((text.until_us for text in work.texts if text.role == role), default=work.now_us)
    gates.injected(work, role, until_us)
