"""What a glance at a session says of each role: its state and its agent."""

from __future__ import annotations

from collections.abc import Callable

from matcore.engine import revival
from matcore.engine.ledger import Ledger
from matcore.rules import view
from matcore.rules.state import Status
from matcore.show.shapes import RoleView


def role(ledger: Ledger, seat: view.Seat, wall: Callable[[float], float]) -> RoleView:
    """What is known of that seat. `wall`: from a time of the journal to Unix time."""
    seen, sits = ledger.roles.get(seat.role), ledger.seats.get(seat.role)
    restarts_at = revival.resumes_at(ledger, seat.role)
    is_gone = seat.status is Status.GONE
    return RoleView(
        role=seat.role,
        backend=str(ledger.config.get("roles", {}).get(seat.role, {}).get("backend", "")),
        status=str(seat.status),
        since=wall(seat.since),
        evidence=seen.evidence if seen else "",
        agent_session=sits.agent_session if sits else None,
        agent_session_since=wall(sits.since) if sits else None,
        restarts_at=None if restarts_at is None else wall(restarts_at),
        crash_loop=seat.role in ledger.crash_loops,
        lived_s=sits.lived_s if sits and is_gone else None,
        said=sits.said if sits and is_gone else "",
    )
