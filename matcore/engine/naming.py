"""Which agent session a seat is on, as its program or driver told last: that is what a restart takes up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matcore.engine.session import Session

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""It comes from a program and goes into argv and paths."""


def on_session(session: Session, role: str, named: object, *, source: str | None = None) -> None:
    """Some programs make the ids of their sessions themselves, and a person may begin another one in the pane."""
    seat = session.ledger.seats.get(role)
    if seat is None or not isinstance(named, str) or not _SESSION_ID.fullmatch(named) or named == seat.agent_session:
        return
    session.note("engine.on_session", {"role": role, "agent_session": named}, source=source)
