"""A verdict with a new prompt: the peer's agent session is closed and a new one is opened, which gets the prompt.

In this order, each in the journal: `relay.sent`, `engine.renewing`, `engine.seat` (the new session's), `agent.renewed`
(its open wakes end as `new_session`; debts stay), then `relay.delivered` once the new session took the prompt. A
supervisor that ends in the middle begins the renewal again: a session that was never told anything is no loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matcore.engine import starting
from matcore.engine.book import Fact, Note
from matcore.engine.rounds import next_relay

if TYPE_CHECKING:
    from matcore.engine.ledger import Ledger, Relay
    from matcore.engine.session import Session


def due(ledger: Ledger, role: str) -> Relay | None:
    """The relay that `role` gets next, where its seat has to be renewed before it can be delivered."""
    relay = next_relay(ledger, role)
    letter = ledger.tally.letters.get(relay.id) if relay is not None else None
    return relay if letter is not None and letter.kind == "prompt" and not letter.renewed else None


def begin(session: Session, role: str, relay: Relay) -> None:
    """Intent before effect; the seat's new identity comes back as an event."""
    session.commit([Note("engine.renewing", {"role": role, "relay": relay.id}), starting.waits(session, role)])
    session.post.renewing[role] = relay.id
    session.effects.restart(session, role, fresh=True)


def ended(session: Session, role: str, *, ok: bool) -> bool:
    """The seat was started anew, or could not be. Returns whether that was a renewal which is to be tried again."""
    relay = session.post.renewing.pop(role, None)
    if relay is None or not ok:
        return relay is not None
    seat = session.ledger.seats.get(role)
    fields = {"role": role, "relay": relay, "agent_session": seat.agent_session if seat else None}
    # What was seen of the seat until now was seen of the session that is closed.
    session.commit([Fact("agent.renewed", fields), Fact("role.unknown", {"role": role, "evidence": "started anew"})])
    return False
