"""Taking up the watch after a stretch in which nobody watched: a restart, a suspended machine, a loop that stood still.

Each step may be the last before the next crash: done again from the journal, it does nothing twice.
"""

from __future__ import annotations

from matcore.engine import starting
from matcore.engine.book import Fact
from matcore.engine.clock import Gap
from matcore.engine.session import Session


def resume(session: Session, stopped_at: float | None) -> None:
    """A new supervisor: say how long nobody watched, and end what was in flight when that began.

    What was typed, or not, just before a crash can't be known: it is `unconfirmed`, and never typed again. What was
    decided and not begun has failed, which the core makes up for. What a human asked for is done.
    """
    if session.ledger.watching:
        at = max(session.book.now, min(stopped_at or session.book.now, session.clock.now()))
        session.commit([Fact("watch.stopped")], at=at)
    session.take("watch.resumed", {})
    session.seen.anew()
    for flight in list(session.ledger.flights.values()):
        session.post.lost(flight)
    session.herald.again()
    for awaited in list(session.ledger.awaited.values()):
        detail = "unconfirmed" if awaited.event == "notify" else "not begun"
        session.take("effect.ended", {"decision": awaited.number, "ok": False, "detail": detail})
    if session.ledger.ending:
        session.effects.end(session)
    for role in session.ledger.restarting:
        session.commit([starting.waits(session, role)])
        session.effects.restart(session, role)


def nobody_watched(session: Session, gap: Gap) -> None:
    """The machine slept, or the loop stood still: say so, and trust nothing that was seen before."""
    session.commit([Fact("watch.stopped")], at=max(session.book.now, session.clock.at(gap.since_s)))
    session.take("watch.resumed", {"slept": gap.slept_s} if gap.slept_s else {})
    session.seen.anew()
