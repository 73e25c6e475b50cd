"""Whose a hook's record is. It says the role whose environment it ran in; where it names an agent session, too, that
has the last word: an agent program may run its hooks from a daemon that another pane's agent has started, and these
have that pane's environment.

A record that names the agent session of another seat is not this one's. One that names a session which nobody has
begun here is a stranger's, until a `session-start` says that it was begun in this seat.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from matcore.engine.ledger import Seat
from matcore.engine.session import Session

START = "session-start"


def named(record: Mapping[str, Any]) -> str | None:
    """The agent session that a hook's record names."""
    data = record.get("data")
    said = data.get("session_id") if isinstance(data, Mapping) else None
    return said if isinstance(said, str) and said else None


def is_of(record: Mapping[str, Any], seat: Seat) -> bool:
    """Whether it was written since the seat's agent was started; those from before are its predecessor's."""
    return float(record.get("boot_s") or 0.0) >= float(seat.identity.get("started_s") or 0.0)


def why_not(record: Mapping[str, Any], session: Session, sessions: Iterable[Session]) -> str | None:
    """Why a hook's record is not of the role that it says, or None."""
    role, agent_session = str(record.get("role")), named(record)
    seat = session.ledger.seats.get(role)
    if agent_session is None or seat is None or agent_session == seat.agent_session:
        return None
    whose = next((name for name in _holders(agent_session, session, sessions)), None)
    if whose is not None:
        return f"it says that it is of {role}, and names the agent session of {whose}"
    if record.get("event") == START or seat.agent_session is None or not is_of(record, seat):
        return None
    return f"it names the agent session {agent_session[:80]}, and {role} is on {seat.agent_session}"


def _holders(agent_session: str, own: Session, sessions: Iterable[Session]) -> Iterable[str]:
    for session in sessions:
        for role, seat in session.ledger.seats.items():
            if seat.agent_session == agent_session:
                yield role if session is own else f"{session.name}/{role}"
