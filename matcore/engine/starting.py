"""The gate `restarting/<role>`: an agent is about to be started again, so the ladder waits for it.

A rung that falls due between an agent's end and its next start would be skipped as `gone`, or typed into nothing. From
the moment at which a start is certain to come (an end that is made good after `RESUME_AFTER_S`, `mat restart`, a full
context, a verdict's new prompt) until the new agent is seen idle or busy, the ladder is held. The gate names its end:
an agent that never comes up holds nothing for longer, and one that is not started any more holds nothing at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matcore.engine.book import Fact, Item

if TYPE_CHECKING:
    from matcore.engine.session import Session

GATE = "restarting"
STARTS_WITHIN_S = 60.0
"""An agent that has not been seen so long after its start is waited for no longer."""


def waits(session: Session, role: str, *, after_s: float = 0.0) -> Item:
    """The role's agent is started in `after_s` seconds: what the ladder has for anybody waits until it is there."""
    until = session.clock.now() + after_s + STARTS_WITHIN_S
    return Fact("gate.raised", {"gate": GATE, "role": role, "until": until, "evidence": "its agent is started again"})


def over(session: Session, role: str, evidence: str) -> list[Item]:
    """It is there, or it is not started any more: the hold ends now, for this is no flicker that has to settle."""
    if f"{GATE}/{role}" not in session.ledger.gates:
        return []
    about = {"gate": GATE, "role": role, "evidence": evidence}
    return [Fact("gate.raised", {**about, "until": session.clock.now()}), Fact("gate.cleared", about)]
