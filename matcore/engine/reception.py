"""Where the spools are emptied into their sessions: each role's own, and the user's, which speaks of whole sessions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matcore.engine import desk, intake, speakers, starting
from matcore.engine.barrier import Watched
from matcore.engine.book import Fact, Note
from matcore.engine.permitted import permitted
from matcore.engine.session import Session
from matcore.engine.spoolread import Unfit

if TYPE_CHECKING:
    from matcore.engine.supervisor import Supervisor

log = logging.getLogger("mat.reception")


class Reception:
    """`spools` maps a role's folder to its session and role."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._super = supervisor
        self.spools: dict[Path, tuple[str, str]] = {}

    def empty(self, folder: Path) -> None:
        """Take up what lies in a spool. A folder that is nobody's any more is left alone."""
        if folder == self._super.places.spool:
            desk.empty(folder, self._take, _aside)
            return
        name, role = self.spools.get(folder, ("", ""))
        watched = self._super.watched.get(name)
        if watched is not None:
            self._super.barrier.run(watched, lambda: desk.empty_role(watched.session, role, folder), keep=False)

    def _take(self, record: Mapping[str, Any]) -> None:
        """A record of the user's spool: a request about a whole session, or something that is said in one."""
        reason = permitted(record, None)
        if reason is not None:
            raise Unfit(reason)
        name = str(record.get("session"))
        if record.get("request") == "up":
            self._super.arrivals.up(name, record)
            return
        watched = self._super.watched.get(name)
        if watched is None:
            if name in self._super.failed:
                raise desk.NotNow
            raise Unfit(f"there is no session {name!r} under watch")
        if watched.fault is not None and record.get("request") == "down":
            self._super.effects.end(watched.session)
            return
        refused: list[Unfit] = []
        if not self._super.barrier.run(
            watched, lambda: _fit(refused, lambda: self._take_for(watched, record)), keep=False
        ):
            raise desk.NotNow
        if refused:
            raise refused[0]

    def _take_for(self, watched: Watched, record: Mapping[str, Any]) -> None:
        match record.get("request"):
            case "down":
                self._down(watched.session, record)
            case "restart":
                self._restart(watched.session, record)
            case "hook":
                self._hook(watched, record)
            case _:
                intake.from_human(watched.session, record)

    def _hook(self, watched: Watched, record: Mapping[str, Any]) -> None:
        sessions = [each.session for each in self._super.watched.values()]
        stranger = speakers.why_not(record, watched.session, sessions)
        if stranger is not None:
            raise Unfit(stranger)
        intake.from_human(watched.session, record)
        self._super.hurry(watched)

    def _down(self, session: Session, record: Mapping[str, Any]) -> None:
        if session.book.journal.has_source(record["id"]):
            return
        session.commit([Note("engine.ending", {"by": "human"}, record["id"])])
        self._super.effects.end(session)

    def _restart(self, session: Session, record: Mapping[str, Any]) -> None:
        """An act of the human's: what the ladder has passed by while the agent was gone begins anew."""
        if session.book.journal.has_source(record["id"]):
            return
        role = str(record["role"])
        if role not in session.roles:
            raise Unfit(f"{role!r} is no role of {session.name}")
        asked = Note("engine.restarting", {"role": role, "by": "human"}, record["id"])
        acted = Fact("human.acted", {"role": role, "evidence": "mat restart"})
        session.commit([asked, acted, starting.waits(session, role)])
        self._super.arrivals.asked.add((session.name, role))
        self._super.effects.restart(session, role)


def _aside(name: str, reason: str) -> None:
    log.warning("set aside %s: %s", name, reason)


def _fit(refused: list[Unfit], do: Callable[[], None]) -> None:
    """An unfit record is no error of the session."""
    try:
        do()
    except Unfit as e:
        refused.append(e)
