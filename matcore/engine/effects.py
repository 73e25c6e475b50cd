"""Carries out what sessions ask for, on threads: texts on a lane for each seat, notifications on a lane for each
channel, restarts and endings on the seat's and the session's lane. Everything comes back as an event."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matcore.engine.driver import Outcome, Verdict
from matcore.engine.events import Ended, Event, JobEnded, NoticeTold, Restarted
from matcore.engine.jobs import Job
from matcore.engine.lanes import Work
from matcore.engine.ledger import Notice
from matcore.engine.notify import Notifier, Told, channels
from matcore.engine.session import Session
from matcore.errors import MatError

log = logging.getLogger("mat.effects")


class Effects:
    """The `Effector` of the sessions. Called by the loop; `put` is the only thing that its threads call back."""

    def __init__(self, put: Callable[[Event], None]) -> None:
        self._put = put
        self._notifiers: dict[str, Notifier] = {}

    def deliver(self, session: Session, job: Job) -> None:
        driver, name = session.driver, session.name

        def work() -> None:
            try:
                outcome = driver.deliver(name, job.role, job.text, job.mark)
            except Exception as e:
                log.exception("%s/%s: the driver failed in a delivery", name, job.role)
                outcome = Outcome(Verdict.UNCONFIRMED, f"the driver failed: {type(e).__name__}: {e}")
            self._put(JobEnded(name, job.id, outcome))

        self.run(session, job.role, work)

    def restart(self, session: Session, role: str, *, fresh: bool = False) -> None:
        """On the seat's lane; it takes up the seat's agent session unless `fresh`, or a renewal, asks for a new one."""
        driver, name = session.driver, session.name
        seat = session.ledger.seats.get(role)
        resume = seat.resumes if seat is not None and not fresh and role not in session.post.renewing else None

        def work() -> None:
            try:
                self._put(Restarted(name, role, driver.restart(name, role, resume=resume)))
            except Exception as e:
                log.exception("%s/%s: the agent could not be started anew", name, role)
                self._put(Restarted(name, role, None, str(e)))

        self.run(session, role, work)

    def end(self, session: Session) -> None:
        driver, name = session.driver, session.name

        def work() -> None:
            try:
                driver.stop(name)
            except Exception as e:
                log.exception("%s: the session's agents could not be ended", name)
                self._put(Ended(name, str(e)))
            else:
                self._put(Ended(name))

        self.run(session, "", work)

    def tell(self, session: Session, notice: Notice) -> None:
        name, notice_id = session.name, notice.id

        def told(answer: Told) -> None:
            self._put(NoticeTold(name, notice_id, answer))

        self.notify(f"{name}/{notice_id}", f"mat: {name}", notice.text, session, told)

    def run(self, session: Session, role: str, work: Work) -> None:
        """On the lane of a seat, or of the session itself (`role` empty)."""
        session.lane(role).submit(work)

    def notify(self, key: str, title: str, text: str, session: Session, told: Callable[[Told], None]) -> None:
        """On the lanes of the session's channels."""
        self._notifier(session).tell(key, title, text, told)

    def withdraw(self, session: Session, notice_id: str) -> None:
        self._notifier(session).withdraw(f"{session.name}/{notice_id}")

    def forget(self, session: str) -> None:
        """The session is over: what no channel has taken of it is tried no more."""
        notifier = self._notifiers.pop(session, None)
        if notifier is not None:
            notifier.close()

    def close(self) -> None:
        for session in list(self._notifiers):
            self.forget(session)

    def _notifier(self, session: Session) -> Notifier:
        if session.name not in self._notifiers:
            entries: list[Any] = list(session.ledger.config.get("notify") or [])
            self._notifiers[session.name] = Notifier(
                [*channels(entries, Path(session.ledger.workdir)), *_of_driver(session)]
            )
        return self._notifiers[session.name]


def _of_driver(session: Session) -> list[Any]:
    """The driver's own way to show something to whoever looks at its screens, where it has one."""
    make = getattr(session.driver, "channel", None)
    try:
        return [make(session.name)] if make is not None else []
    except MatError:
        return []
