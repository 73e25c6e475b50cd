"""What a glance at a session says of each role: its state, its agent, and the dialog that stands on its screen."""

from __future__ import annotations

from collections.abc import Callable

from matcore.engine import revival
from matcore.engine.ledger import Ledger
from matcore.rules import view
from matcore.rules.state import Status
from matcore.show import phrases
from matcore.show.shapes import RoleView, Snapshot


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


def see_dialogs(shot: Snapshot) -> None:
    """A role whose screen a dialog takes is `unknown` to the core; what is known of it is said all the same."""
    asked = {question.role: question.since for question in shot.questions if question.dialog}
    gates = {gate.gate: gate.since for gate in shot.gates if gate.cleared is None}
    for role in shot.roles:
        login, other = gates.get(f"login/{role.role}"), gates.get(f"dialog/{role.role}")
        since = [each for each in (asked.get(role.role), login, other) if each is not None]
        if since:
            first = "permission" if role.role in asked else "login" if login is not None else "other"
            seen = phrases.dialog_in(role.evidence)
            role.dialog, role.dialog_since = seen or first, role.since if seen else min(since)
