"""Sessions come and go: brought by `mat up`, found on disk at the start, ended by `mat down`.

A session whose journal can't be read or folded is failed, which is shown and told; the others go on.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from matcore.engine import about, desk, guard, heartbeat, registry, resuming, revival, starting, wholefile
from matcore.engine.barrier import Watched
from matcore.engine.book import Fact, Item, Note
from matcore.engine.events import Ended, Restarted, SpoolTouched
from matcore.engine.journal import JournalUnusable
from matcore.engine.poller import Poller
from matcore.engine.session import Session
from matcore.engine.spoolread import Unfit
from matcore.errors import MatError
from matcore.places import SessionPlaces

if TYPE_CHECKING:
    from matcore.engine.supervisor import Supervisor

log = logging.getLogger("mat.arrivals")
_UP = ("session", "workdir", "path", "command", "size", "config", "seats")


class Arrivals:
    """Fills and empties the supervisor's `watched` and `failed`."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._super = supervisor
        self._told_guard: bytes | None = None
        self.asked: set[tuple[str, str]] = set()
        """Seats that a human wants to have started anew."""

    def load_all(self, last: heartbeat.Beat | None) -> None:
        """Take up the sessions that are not ended."""
        for path in self._super.registry.journals():
            self.load(path, last)

    def load(self, path: Path, last: heartbeat.Beat | None) -> None:
        """Take up the session of a journal, unless it has ended. One that can't be read is failed; never raises."""
        try:
            found = self._super.registry.found(path)
        except Exception as e:  # noqa: BLE001 - the barrier: a journal that can't be taken up stops no other
            self._failed(path, e)
            return
        self._super.failed.pop(path.parent.name, None)
        self._super.host_notices.over(f"failed/{path.parent.name}")
        if found is None:
            return
        key, session = found
        watched = self._add(session, key)
        self._super.barrier.run(watched, lambda: self._resume(watched, last))

    def _failed(self, path: Path, error: Exception) -> None:
        name = path.parent.name
        reason = str(error) or type(error).__name__
        log.error("%s can't be taken up: %s", path, reason, exc_info=not isinstance(error, MatError | OSError))
        self._super.failed[name] = reason
        entries = guard.configured(self._super.places)
        self._super.host_notices.tell(f"failed/{name}", "session-failed", entries, session=name, reason=reason)

    def _add(self, session: Session, key: str) -> Watched:
        watched = self._super.watched[session.name] = Watched(session, key, session.driver)
        self._super.barrier.guard(session)
        return watched

    def _resume(self, watched: Watched, last: heartbeat.Beat | None) -> None:
        session = watched.session
        stopped_at = None
        if last is not None and session.name in last.sessions:
            same_boot = last.boot_id == self._super.host.boot_id()
            stopped_at = session.clock.at(last.boot_s) if same_boot else session.clock.at_wall(last.wall_s)
        resuming.resume(session, stopped_at)
        self.attend(watched)

    def up(self, name: str, record: Mapping[str, Any]) -> None:
        """What `mat up` has launched. Raises `Unfit` where it can't be watched, `NotNow` while it can't be written."""
        watched = self._super.watched.get(name)
        if watched is not None and watched.fault is not None:
            watched = self._take_up_anew(watched)
        try:
            if watched is None:
                key, session = self._super.registry.new(name, record["config"])
                watched = self._add(session, key)
        except JournalUnusable as e:
            log.error("%s can't be started now: %s", name, e)  # noqa: TRY400 - expected
            raise desk.NotNow from e
        except (MatError, OSError) as e:
            raise Unfit(str(e)) from e
        if not self._super.barrier.run(watched, lambda w=watched: self._begin(w, record), keep=False):  # type: ignore[misc]
            if not watched.session.ledger.opened_at:
                self._super.watched.pop(name, None)
                watched.session.close()
            raise desk.NotNow

    def _take_up_anew(self, watched: Watched) -> Watched | None:
        """A session that failed has another try, as at a start."""
        name = watched.session.name
        with contextlib.suppress(Exception):
            self._leave(watched.session)
        self.load(self._super.places.journal(name), None)
        return self._super.watched.get(name)

    def _begin(self, watched: Watched, record: Mapping[str, Any]) -> None:
        session = watched.session
        if session.book.journal.has_source(record["id"]):
            return
        up = {key: record[key] for key in _UP}
        if not session.ledger.opened_at:
            with contextlib.suppress(OSError):  # nothing can be sent from such a folder
                about.forget_relays(SessionPlaces.of(Path(record["workdir"]), session.name))
            session.commit(desk.first_entries(record, up))
        else:
            # It is written only where something was started, by a human.
            acted = Fact("human.acted", {"evidence": "mat up"})
            begun = [starting.waits(session, role) for role, seat in up["seats"].items() if seat.get("started")]
            session.commit([Note("engine.up", up, record["id"]), acted, *begun])
        with contextlib.suppress(OSError):  # told when it is kept up the next time
            self._super.keeping.folders.keep(session)
        self.attend(watched)

    def attend(self, watched: Watched) -> None:
        """Watch its seats and its spools from now on."""
        session, sup = watched.session, self._super
        registry.adopt(session, watched.driver)
        for role in session.roles:
            folder = session.places.spool(role)
            sup.reception.spools[folder] = (session.name, role)
            sup.watcher.add(folder)
            sup.queue.put(SpoolTouched(folder))
        if sup.polls and watched.driver_key not in sup.pollers:
            poller = sup.pollers[watched.driver_key] = Poller(watched.driver_key, watched.driver, sup.queue.put)
            poller.start()
        sup.hurry(watched)
        sup.keeping.soon()

    def restarted(self, session: Session, event: Restarted) -> None:
        """A seat's agent was started anew, or could not be: on record, and what waited for it goes on."""
        if event.seat is None:
            session.note("engine.restart_failed", {"role": event.role, "reason": event.fault})
            if revival.resumes_at(session.ledger, event.role) is None:
                session.commit(starting.over(session, event.role, "it could not be started"))
            self.asked.discard((session.name, event.role))
            session.post.restarted(event.role, ok=False)
            return
        items: list[Item] = [Note("engine.seat", {"role": event.role, "seat": dict(event.seat)})]
        if session.ledger.status(event.role) == "gone":
            items.append(Fact("role.unknown", {"role": event.role, "evidence": "started anew"}))
        items.append(starting.waits(session, event.role))
        if (session.name, event.role) in self.asked:
            # Once more, for what the ladder passed by since it was asked for.
            items.append(Fact("human.acted", {"role": event.role, "evidence": "mat restart"}))
        self.asked.discard((session.name, event.role))
        session.commit(items)
        session.post.restarted(event.role, ok=True)
        registry.adopt(session, session.driver)

    def ended(self, event: Ended) -> None:
        """The driver has ended a session's agents, or could not."""
        watched = self._super.watched.get(event.session)
        if watched is None:
            return
        if watched.fault is None:
            self._super.barrier.run(watched, lambda: self._down(watched.session, event))
        elif event.fault is None:
            # Its core can't be asked any more, but that it has ended can still be written.
            with contextlib.suppress(Exception):
                watched.session.note("engine.down", {"by": "human"})
            self._leave(watched.session)

    def _down(self, session: Session, event: Ended) -> None:
        if event.fault is not None:
            session.note("engine.end_failed", {"reason": event.fault})
            return
        session.stop_watching()
        with contextlib.suppress(OSError):
            self._super.keeping.folders.keep(session, ended=True)
        session.note("engine.down", {"by": "human"})  # the last step: what is cut off before it is done again
        self._leave(session)

    def _leave(self, session: Session) -> None:
        sup = self._super
        session.driver.forget(session.name)
        for role in session.roles:
            sup.reception.spools.pop(session.places.spool(role), None)
            sup.watcher.remove(session.places.spool(role))
        sup.effects.forget(session.name)
        sup.keeping.folders.forget(session.name)
        del sup.watched[session.name]
        session.close()
        sup.keeping.soon()

    def tell_guard(self) -> None:
        """The channels of all sessions, for a guard that has to tell of us. A failed session's are not forgotten."""
        sup = self._super
        entries = [e for w in sup.watched.values() for e in w.session.ledger.config.get("notify") or []]
        if sup.failed:
            entries += [e for e in guard.configured(sup.places) if e not in entries]
        data = msgspec.json.encode(entries)
        if data != self._told_guard:
            wholefile.write(sup.places.channels, data)
            self._told_guard = data
