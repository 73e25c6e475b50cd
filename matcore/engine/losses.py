"""Many sessions that lose their agents at once (the terminal server ended, the machine was started anew) are one notice
for the host. Once a channel took it, no session's rung 3 tells the same again."""

from __future__ import annotations

from collections.abc import Mapping

from matcore.engine.barrier import Barrier, Watched
from matcore.engine.session import Session

KIND = "mass-loss"
GATHERS_S = 3.0
"""Losses within so many seconds are one."""
MANY = 2


class Losses:
    """Looks at the sessions after each look of a driver."""

    def __init__(self, watched: Mapping[str, Watched], barrier: Barrier) -> None:
        self._watched = watched
        self._barrier = barrier
        self._gone: dict[str, int] = {}
        self._since_s = 0.0

    def look(self, session: Session, before: int, now_s: float) -> None:
        """`before`: how many of its agents were gone before this look."""
        gone = gone_of(session)
        if gone == len(session.roles) and before < gone and not session.ledger.ending:
            self._since_s = self._since_s if self._gone else now_s
            self._gone[session.name] = gone

    def tell(self, now_s: float) -> None:
        """Once those that were lost together have been seen."""
        if not self._gone or now_s - self._since_s < GATHERS_S:
            return
        gone = {name: panes for name, panes in self._gone.items() if name in self._watched}
        self._gone = {}
        first = next((self._watched[name] for name in gone if self._watched[name].goes), None)
        if len(gone) >= MANY and first is not None:
            names = sorted(gone)
            self._barrier.run(
                first,
                lambda: first.session.herald.tell(
                    KIND, action=True, cause={"sessions": names}, sessions=names, panes=sum(gone.values())
                ),
            )

    def told(self, session: Session, notice_id: str) -> None:
        """A channel took a notification: if it was this one, each session that it names knows."""
        notice = session.ledger.notices.get(notice_id)
        if notice is None or notice.kind != KIND or not notice.ok:
            return
        for name in notice.cause.get("sessions", ()):
            other = self._watched.get(name)
            if other is not None and gone_of(other.session) == len(other.session.roles):
                self._barrier.run(other, lambda o=other: o.session.note("engine.lost", {"notice": notice_id}))  # type: ignore[misc]


def gone_of(session: Session) -> int:
    """How many of its agents are gone."""
    return sum(session.ledger.status(role) == "gone" for role in session.roles)
