"""The loop: one queue, one reader, one writer.

Sources (a poller for each driver, the spools' watcher, lanes, channels, signals) only enqueue. The loop drains what is
there, lets each session take it in, then lets each session's core look at the clock. It never waits for an effect.
An error in one session ends that session's watch, loudly, and no other's.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from matcore.engine import desk, heartbeat, intake, registry, spool
from matcore.engine.about import Upkeep
from matcore.engine.ballast import Ballast
from matcore.engine.book import RULES_VERSION
from matcore.engine.clock import Clock, Gap, LoopWatch, SystemClock
from matcore.engine.driver import Driver
from matcore.engine.drivers import Drivers
from matcore.engine.effects import Effects
from matcore.engine.events import Ended, Event, JobEnded, NoticeTold, Polled, Restarted, SpoolTouched, Stop
from matcore.engine.intake import Unfit
from matcore.engine.journal import Journal, JournalFull
from matcore.engine.permitted import permitted
from matcore.engine.poller import Poller
from matcore.engine.registry import Registry
from matcore.engine.session import Session
from matcore.errors import MatError
from matcore.places import StatePlaces

log = logging.getLogger("mat.supervisor")
IDLE_EXIT_S = 3.0
UPKEEP_S = 2.0
LONGEST_WAIT_S = 1.0


@dataclass(slots=True)
class Watched:
    """A session under watch. `fault` once an error has ended that."""

    session: Session
    driver_key: str
    driver: Driver
    fault: str | None = None


class Supervisor:
    """Runs all sessions of one user on one host. `run` returns when asked to stop, or (`until_idle`) without work.

    Whoever has a loop of their own (the tests, with a clock that they move) calls `begin`, `turn` and `end` instead.
    """

    def __init__(
        self,
        places: StatePlaces,
        *,
        until_idle: bool = False,
        clock: Clock | None = None,
        drivers: Drivers | None = None,
        effects: Callable[[Callable[[Event], None]], Effects] = Effects,
    ) -> None:
        self.places = places
        self.host = clock or SystemClock()
        self.queue: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.watched: dict[str, Watched] = {}
        self._effects = effects(self.queue.put)
        self._registry = Registry(places, self._effects, self.host, drivers or Drivers())
        self._until_idle = until_idle
        self._pollers: dict[str, Poller] = {}
        self._watcher = spool.Watcher(lambda folder: self.queue.put(SpoolTouched(folder)))
        self._heart = heartbeat.Heartbeat(places, self.host)
        self._loop_watch = LoopWatch(self.host)
        self._upkeep = Upkeep(places)
        self._ballast = Ballast(places.ballast)
        self._polls = False
        self._stopping: str | None = None
        self._busy_s = self.host.boot_s()
        self._kept_s = float("-inf")

    def run(self) -> None:
        self._polls = True
        self.begin()
        self._watcher.start()
        try:
            while self._stopping is None and not self._idle():
                self.turn(self._wait_s())
        finally:
            self.end()

    def begin(self) -> None:
        """Take up the sessions that are not ended."""
        spool.make(self.places.spool)
        self._ballast.restore()
        last = heartbeat.read(self.places)
        self._heart.beat([], now=True)
        for path in self._registry.journals():
            self._load(path, last)
        self._watcher.add(self.places.spool)
        self.queue.put(SpoolTouched(self.places.spool))

    def turn(self, wait_s: float) -> None:
        """Take in all that is there, waiting at most so long for the first, then let every session look at the clock."""
        for event in self._drain(wait_s):
            self._dispatch(event)
        self._mind_the_gap()
        for watched in list(self.watched.values()):
            self._guarded(watched, watched.session.tick)
        self._keep_up()

    def _drain(self, wait_s: float) -> list[Event]:
        events: list[Event] = []
        with contextlib.suppress(queue.Empty):
            events.append(self.queue.get(block=wait_s > 0, timeout=wait_s))
            while True:
                events.append(self.queue.get_nowait())
        return events

    def _wait_s(self) -> float:
        soonest = LONGEST_WAIT_S
        for watched in self.watched.values():
            if watched.fault is None:
                soonest = min(soonest, watched.session.due_in_s())
        return max(0.0, soonest)

    def _dispatch(self, event: Event) -> None:
        match event:
            case Polled():
                self._polled(event)
            case SpoolTouched():
                self._spooled(event.folder)
            case JobEnded():
                self._for(event.session, lambda s: s.job_ended(event.job, event.outcome))
            case NoticeTold():
                self._for(event.session, lambda s: s.told(event.notice, event.told))
            case Restarted():
                self._for(event.session, lambda s: self._restarted(s, event))
            case Ended():
                self._for(event.session, lambda s: self._ended(s, event))
            case Stop():
                self._stopping = event.reason

    # the error barrier

    def _for(self, name: str, do: Callable[[Session], None]) -> None:
        watched = self.watched.get(name)
        if watched is not None:
            self._guarded(watched, lambda: do(watched.session))

    def _guarded(self, watched: Watched, do: Callable[[], object]) -> None:
        """Run one session's part. A full disk is met with the ballast; any other error ends this session's watch."""
        if watched.fault is not None:
            return
        try:
            try:
                do()
            except JournalFull:
                log.exception("%s: the disk is full; the ballast is let go", watched.session.name)
                self._ballast.free()
                watched.session.disk_full()
        except Exception as e:  # noqa: BLE001 - the barrier: an error in one session stops no other, and is told
            self._fail(watched, e)

    def _fail(self, watched: Watched, error: Exception) -> None:
        text = "".join(traceback.format_exception(error))
        log.error("%s: our mistake; this session is watched no longer\n%s", watched.session.name, text)
        watched.fault = text
        with contextlib.suppress(Exception):
            watched.session.mistake(text)

    # sources

    def _polled(self, event: Polled) -> None:
        for watched in self.watched.values():
            if watched.driver_key == event.driver:
                mine = [s for s in event.sightings if s.session == watched.session.name]
                self._guarded(watched, lambda w=watched, m=mine: w.session.polled(m, event.fault))  # type: ignore[misc]

    def _spooled(self, folder: Path) -> None:
        if folder == self.places.spool:
            desk.empty(folder, self._take, self._aside)
            return
        for watched in list(self.watched.values()):
            for role in watched.session.roles:
                if folder == watched.session.places.spool(role):
                    self._guarded(watched, lambda w=watched, r=role: desk.empty_role(w.session, r, folder))  # type: ignore[misc]

    def _take(self, record: Mapping[str, Any]) -> None:
        """A record of the user's spool: a request about a whole session, or something that is said in one."""
        reason = permitted(record, None)
        if reason is not None:
            raise Unfit(reason)
        name = str(record.get("session"))
        if record.get("request") == "up":
            self._up(name, record)
            return
        watched = self.watched.get(name)
        if watched is None or watched.fault is not None:
            raise Unfit(f"there is no session {name!r} under watch")
        self._guarded(watched, lambda: self._take_for(watched, record))

    def _take_for(self, watched: Watched, record: Mapping[str, Any]) -> None:
        session = watched.session
        match record.get("request"):
            case "down":
                session.note("engine.ending", {"by": "human"}, source=record["id"])
                self._effects.end(session)
            case "restart":
                session.note("engine.restarting", {"role": record["role"], "by": "human"}, source=record["id"])
                self._effects.restart(session, str(record["role"]))
            case _:
                intake.from_human(session, record)
        if record.get("request") == "hook":
            self._hurry(watched)

    def _hurry(self, watched: Watched) -> None:
        """Have the driver look now: something has just happened."""
        if watched.driver_key in self._pollers:
            self._pollers[watched.driver_key].hurry()

    def _aside(self, name: str, reason: str) -> None:
        log.warning("set aside %s: %s", name, reason)

    # sessions come and go

    def _up(self, name: str, record: Mapping[str, Any]) -> None:
        watched = self.watched.get(name)
        if watched is None:
            key, session = self._registry.open(self._registry.create(name), config=record["config"])
            watched = self.watched[name] = Watched(session, key, session.driver)
        self._guarded(watched, lambda: self._begin(watched, record))

    def _begin(self, watched: Watched, record: Mapping[str, Any]) -> None:
        session = watched.session
        is_new = not session.ledger.opened_at
        if is_new:
            session.take("session.configured", record["configured"])
        keys = ("session", "workdir", "path", "command", "size", "config", "seats")
        session.note("engine.up", {key: record[key] for key in keys}, source=record["id"])
        if is_new:
            session.take("watch.resumed", {})
            desk.open_first_cycle(session, record.get("goal"))
        self._upkeep.keep(session)
        self._attend(watched)

    def _load(self, path: Path, last: heartbeat.Beat | None) -> None:
        """Take up a session that its journal says is not ended."""
        try:
            key, session = self._registry.open(Journal.open(path, rules=RULES_VERSION))
        except (MatError, OSError) as e:
            log.error("%s can't be taken up: %s", path, e)
            return
        if session.ledger.ended or not session.ledger.opened_at:
            session.close()
            return
        watched = self.watched[session.name] = Watched(session, key, session.driver)
        self._guarded(watched, lambda: self._resume(watched, last))

    def _resume(self, watched: Watched, last: heartbeat.Beat | None) -> None:
        session = watched.session
        stopped_at = None
        if last is not None:
            same_boot = last.boot_id == self.host.boot_id()
            stopped_at = session.clock.at(last.boot_s) if same_boot else session.book.at
        session.resume(stopped_at)
        self._attend(watched)

    def _attend(self, watched: Watched) -> None:
        """Watch its seats and its spools from now on."""
        session = watched.session
        registry.adopt(session, watched.driver)
        for role in session.roles:
            folder = session.places.spool(role)
            self._watcher.add(folder)
            self.queue.put(SpoolTouched(folder))
        if self._polls and watched.driver_key not in self._pollers:
            poller = Poller(watched.driver_key, watched.driver, self.queue.put)
            self._pollers[watched.driver_key] = poller
            poller.start()
        self._hurry(watched)
        self._tell_guard()
        self._kept_s = float("-inf")

    def _restarted(self, session: Session, event: Restarted) -> None:
        if event.seat is None:
            session.note("engine.restart_failed", {"role": event.role, "reason": event.fault})
            return
        session.note("engine.seat", {"role": event.role, "seat": dict(event.seat)})
        registry.adopt(session, session.driver)

    def _ended(self, session: Session, event: Ended) -> None:
        if event.fault is not None:
            session.note("engine.end_failed", {"reason": event.fault})
            return
        session.note("engine.down", {"by": "human"})
        session.stop_watching()
        self._upkeep.keep(session)
        self._leave(session)

    def _leave(self, session: Session) -> None:
        session.driver.forget(session.name)
        for role in session.roles:
            self._watcher.remove(session.places.spool(role))
        self._effects.forget(session.name)
        self._upkeep.forget(session.name)
        del self.watched[session.name]
        session.close()
        self._tell_guard()

    # the watcher watched

    def _mind_the_gap(self) -> None:
        """Say that nobody watched when the machine slept or the loop stood still."""
        windows = [w.session.ledger.window_s for w in self.watched.values()]
        gap = self._loop_watch.beat(min(windows, default=600.0))
        if gap is None:
            return
        for watched in self.watched.values():
            if gap.slept_s or gap.until_s - gap.since_s > watched.session.ledger.window_s:
                self._guarded(watched, lambda w=watched, g=gap: self._after_gap(w, g))  # type: ignore[misc]

    def _after_gap(self, watched: Watched, gap: Gap) -> None:
        watched.session.nobody_watched(gap)
        watched.driver.forget(watched.session.name)
        registry.adopt(watched.session, watched.driver)

    def _keep_up(self) -> None:
        """Heartbeat, and now and then the folders that agents use."""
        try:
            self._heart.beat(sorted(self.watched))
        except OSError as e:
            log.error("no heartbeat could be written: %s", e)
        now = self.host.boot_s()
        for watched in self.watched.values():
            if watched.session.about_changed or now - self._kept_s >= UPKEEP_S:
                self._guarded(watched, lambda w=watched: self._keep(w.session))  # type: ignore[misc]
        if now - self._kept_s >= UPKEEP_S:
            self._kept_s = now
        if self.watched:
            self._busy_s = now

    def _keep(self, session: Session) -> None:
        missing = self._upkeep.keep(session)
        session.about_changed = False
        if missing:
            session.note("engine.recreated", {"what": missing})

    def _tell_guard(self) -> None:
        entries = [e for w in self.watched.values() for e in w.session.ledger.config.get("notify") or []]
        heartbeat.replace(self.places.channels, msgspec.json.encode(entries))

    def _idle(self) -> bool:
        return self._until_idle and not self.watched and self.host.boot_s() - self._busy_s > IDLE_EXIT_S

    def end(self) -> None:
        """A clean end: every journal says until when it was watched."""
        log.info("ends: %s", self._stopping or "nothing to watch")
        for poller in self._pollers.values():
            poller.stop()
        self._watcher.stop()
        for watched in self.watched.values():
            self._guarded(watched, watched.session.stop_watching)
        self._effects.close()
        with contextlib.suppress(OSError):
            self._heart.beat([], now=True)
