"""The loop: one queue, one reader, one writer.

Sources (a poller for each driver, the spools' watcher, lanes, channels, signals) only enqueue. The loop drains what is
there, lets each session take it in, then lets each session's core look at the clock. It never waits for an effect.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from matcore.engine import desk, guard, heartbeat, intake, registry, resuming, spool
from matcore.engine.about import Upkeep
from matcore.engine.arrivals import Arrivals
from matcore.engine.ballast import Ballast
from matcore.engine.barrier import Barrier, Watched
from matcore.engine.book import Fact, Note
from matcore.engine.clock import Clock, Gap, LoopWatch, SystemClock
from matcore.engine.drivers import Drivers
from matcore.engine.effects import Effects
from matcore.engine.events import Ended, Event, JobEnded, NoticeTold, Polled, Restarted, SpoolTouched, Stop
from matcore.engine.host import Host
from matcore.engine.intake import Unfit
from matcore.engine.losses import Losses, gone_of
from matcore.engine.permitted import permitted
from matcore.engine.poller import Poller
from matcore.engine.registry import Registry
from matcore.engine.session import Session
from matcore.places import StatePlaces

log = logging.getLogger("mat.supervisor")
IDLE_EXIT_S = 3.0
UPKEEP_S = 2.0
LONGEST_WAIT_S = 1.0
LANDS_WITHIN_S = 5.0
"""How long an end waits for texts that are being typed: what is cut off is unconfirmed."""


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
        self.failed: dict[str, str] = {}
        self.spools: dict[Path, tuple[str, str]] = {}
        self.polls = False
        self.pollers: dict[str, Poller] = {}
        self.effects = effects(self.queue.put)
        self.registry = Registry(places, self.effects, self.host, drivers or Drivers())
        self.upkeep = Upkeep(places)
        self.watcher = spool.Watcher(lambda folder: self.queue.put(SpoolTouched(folder)))
        self.host_notices = Host(places)
        self._ballast = Ballast(places.ballast)
        self.barrier = Barrier(self._ballast, self._tell_of_disk)
        self.arrivals = Arrivals(self)
        self._losses = Losses(self.watched, self.barrier)
        self._heart = heartbeat.Heartbeat(places, self.host)
        self._heart_fault = ""
        self._loop_watch = LoopWatch(self.host)
        self._until_idle = until_idle
        self._stopping: str | None = None
        self._busy_s = self.host.boot_s()
        self._kept_s = float("-inf")

    def run(self) -> None:
        self.polls = True
        self.begin()
        self.watcher.start()
        try:
            while self._stopping is None and not self._idle():
                self.turn(self._wait_s())
        finally:
            self.end()

    def begin(self) -> None:
        """Take up the sessions that are not ended."""
        with contextlib.suppress(OSError):
            spool.make(self.places.spool)
        self._ballast.restore()
        self.arrivals.load_all(heartbeat.read(self.places))
        self._beat(now=True)
        self.watcher.add(self.places.spool)
        self.queue.put(SpoolTouched(self.places.spool))

    def turn(self, wait_s: float) -> None:
        """Take in all that is there, waiting at most so long for the first, then let each session look at the clock."""
        events = self._drain(wait_s)
        self._mind_the_gap()
        for watched in list(self.watched.values()):
            self.barrier.catch_up(watched)
        for event in events:
            self._dispatch(event)
        self._mind_the_pollers()
        self._losses.tell(self.host.boot_s())
        for watched in list(self.watched.values()):
            self.barrier.run(watched, watched.session.tick, keep=False)
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
            if watched.goes:
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
                self._told(event)
            case Restarted():
                self._for(event.session, lambda s: self.arrivals.restarted(s, event))
            case Ended():
                self.arrivals.ended(event)
            case Stop():
                self._stopping = event.reason

    def _for(self, name: str, do: Callable[[Session], None]) -> None:
        watched = self.watched.get(name)
        if watched is not None:
            self.barrier.run(watched, lambda: do(watched.session))

    # sources

    def _polled(self, event: Polled) -> None:
        seen: dict[str, list[Any]] = {}
        for sighting in event.sightings:
            seen.setdefault(sighting.session, []).append(sighting)
        for watched in self.watched.values():
            session = watched.session
            if watched.driver_key != event.driver:
                continue
            mine = seen.get(session.name, [])
            if not mine and (event.fault is not None) == session.seen.is_blind:
                continue
            gone = gone_of(session)
            # One by one: each is done or waits, when the journal can't be written.
            self.barrier.run(watched, lambda s=session: s.seen.polled((), event.fault))  # type: ignore[misc]
            for sighting in mine:
                self.barrier.run(watched, lambda s=session, g=sighting: s.seen.take(g))  # type: ignore[misc]
            self._losses.look(session, gone, self.host.boot_s())

    def _told(self, event: NoticeTold) -> None:
        """Also where the session has failed: that it was told must not be told again."""
        watched = self.watched.get(event.session)
        if watched is not None and watched.fault is not None:
            with contextlib.suppress(Exception):
                watched.session.told(event.notice, event.told)
        elif watched is not None:
            session = watched.session
            self.barrier.run(watched, lambda: session.told(event.notice, event.told))
            self._losses.told(session, event.notice)

    def _spooled(self, folder: Path) -> None:
        if folder == self.places.spool:
            desk.empty(folder, self._take, self._aside)
            return
        name, role = self.spools.get(folder, ("", ""))
        watched = self.watched.get(name)
        if watched is not None:
            self.barrier.run(watched, lambda: desk.empty_role(watched.session, role, folder), keep=False)

    def _take(self, record: Mapping[str, Any]) -> None:
        """A record of the user's spool: a request about a whole session, or something that is said in one."""
        reason = permitted(record, None)
        if reason is not None:
            raise Unfit(reason)
        name = str(record.get("session"))
        if record.get("request") == "up":
            self.arrivals.up(name, record)
            return
        watched = self.watched.get(name)
        if watched is None:
            if name in self.failed:
                raise desk.NotNow
            raise Unfit(f"there is no session {name!r} under watch")
        if watched.fault is not None and record.get("request") == "down":
            self.effects.end(watched.session)
            return
        refused: list[Unfit] = []
        if not self.barrier.run(watched, lambda: _fit(refused, lambda: self._take_for(watched, record)), keep=False):
            raise desk.NotNow
        if refused:
            raise refused[0]

    def _take_for(self, watched: Watched, record: Mapping[str, Any]) -> None:
        session = watched.session
        request = record.get("request")
        if request not in ("down", "restart"):
            intake.from_human(session, record)
            if request == "hook":
                self.hurry(watched)
        elif not session.book.journal.has_source(record["id"]):
            if request == "down":
                session.commit([Note("engine.ending", {"by": "human"}, record["id"])])
                self.effects.end(session)
            elif record["role"] in session.roles:
                # An act of the human's: what the ladder has passed by while the agent was gone begins anew.
                acted = Fact("human.acted", {"role": record["role"], "evidence": "mat restart"})
                asked = Note("engine.restarting", {"role": record["role"], "by": "human"}, record["id"])
                session.commit([asked, acted])
                self.effects.restart(session, str(record["role"]))
            else:
                raise Unfit(f"{record['role']!r} is no role of {session.name}")

    def hurry(self, watched: Watched) -> None:
        """Have the driver look now: something has just happened."""
        if watched.driver_key in self.pollers:
            self.pollers[watched.driver_key].hurry()

    def _aside(self, name: str, reason: str) -> None:
        log.warning("set aside %s: %s", name, reason)

    # the watcher watched

    def _mind_the_gap(self) -> None:
        """Say that nobody watched when the machine slept or the loop stood still, before what was seen then."""
        windows = [w.session.ledger.window_s for w in self.watched.values()]
        gap = self._loop_watch.beat(min(windows, default=600.0))
        if gap is None:
            return
        for watched in self.watched.values():
            if gap.slept_s or gap.until_s - gap.since_s > watched.session.ledger.window_s:
                self.barrier.run(watched, lambda w=watched, g=gap: self._after_gap(w, g))  # type: ignore[misc]

    def _after_gap(self, watched: Watched, gap: Gap) -> None:
        resuming.nobody_watched(watched.session, gap)
        watched.driver.forget(watched.session.name)
        registry.adopt(watched.session, watched.driver)

    def _mind_the_pollers(self) -> None:
        for key, poller in self.pollers.items():
            if poller.hangs(time.monotonic()):
                self._polled(Polled(key, (), "the driver has not come back from a look for a minute"))

    def _tell_of_disk(self, kind: str, reason: str) -> None:
        """Where no journal can say it, the host does; what one has said already is not said again."""
        if any(kind in w.session.ledger.troubles for w in self.watched.values()):
            return
        entries = [e for w in self.watched.values() for e in w.session.ledger.config.get("notify") or []]
        self.host_notices.tell(kind, kind, entries, reason=reason)

    def keep_soon(self) -> None:
        """Have heartbeat, folders and the guard's channels brought up to date with this turn."""
        self._kept_s = float("-inf")

    def _keep_up(self) -> None:
        """Heartbeat, and now and then the folders that agents use, the ballast, the guard."""
        self._beat()
        now = self.host.boot_s()
        all_of_them = now - self._kept_s >= UPKEEP_S
        for watched in list(self.watched.values()):
            if watched.session.about_changed or all_of_them:
                self.barrier.run(watched, lambda w=watched: self._keep(w.session), keep=False)  # type: ignore[misc]
        if all_of_them:
            self._kept_s = now
            self._mind_the_disk()
            with contextlib.suppress(OSError):
                self.arrivals.tell_guard()
            if self._until_idle and self.polls and not heartbeat.guarded(self.places):
                guard.spawn(self.places)
        if self.watched:
            self._busy_s = now

    def _keep(self, session: Session) -> None:
        """Somebody may have cleaned its folder away; a folder that can't be written is trouble, not a mistake."""
        try:
            missing = self.upkeep.keep(session)
        except OSError as e:
            session.trouble("folder", f"{e.filename or session.places.root}: {e.strerror or e}")
            return
        session.about_changed = False
        session.mended("folder")
        if missing:
            recreated = Note("engine.recreated", {"what": missing})
            session.herald.tell("recreated", action=False, first=[recreated], what=missing)

    def _mind_the_disk(self) -> None:
        """A full disk that was met with the ballast is told once, and is over when there is room for the ballast."""
        told = [w for w in self.watched.values() if "disk-full" in w.session.ledger.troubles]
        held = self._ballast.restore()
        if held and not any(w.stuck for w in self.watched.values()):
            for kind in ("disk-full", "state-unwritable"):
                self.host_notices.over(kind)
        if held:
            self.barrier.disk_was_full = False
            for watched in told:
                self.barrier.run(watched, lambda w=watched: w.session.mended("disk-full"), keep=False)  # type: ignore[misc]
        elif self.barrier.disk_was_full and not told:
            first = next((w for w in self.watched.values() if w.goes), None)
            if first is not None:
                reason = f"no space left for {self.places.root}"
                self.barrier.run(first, lambda: first.session.trouble("disk-full", reason), keep=False)

    def _beat(self, *, now: bool = False, ended: bool = False) -> None:
        sessions = [] if ended else sorted(name for name, w in self.watched.items() if w.fault is None)
        failed = {name: (w.fault or "").strip()[-400:] for name, w in self.watched.items() if w.fault is not None}
        try:
            self._heart.beat(sessions, {**self.failed, **failed}, now=now, ended=ended)
        except OSError as e:
            if self._heart_fault != str(e):
                log.error("no heartbeat can be written: %s", e)  # noqa: TRY400 - expected
            self._heart_fault = str(e)
        else:
            self._heart_fault = ""

    def _idle(self) -> bool:
        return self._until_idle and not self.watched and self.host.boot_s() - self._busy_s > IDLE_EXIT_S

    def end(self) -> None:
        """A clean end: texts that are being typed are waited for, and every journal says until when it was watched."""
        log.info("ends: %s", self._stopping or "nothing to watch")
        for poller in self.pollers.values():
            poller.stop()
        self.watcher.stop()
        until_s = time.monotonic() + LANDS_WITHIN_S
        while self.polls and any(w.session.post.flying for w in self.watched.values() if w.goes):
            if time.monotonic() > until_s:
                break
            for event in self._drain(0.1):
                if isinstance(event, JobEnded | NoticeTold):
                    self._dispatch(event)
        for watched in self.watched.values():
            self.barrier.run(watched, watched.session.stop_watching, keep=False)
        self.effects.close()
        self.host_notices.close()
        self._beat(now=True, ended=True)


def _fit(refused: list[Unfit], do: Callable[[], None]) -> None:
    """An unfit record is no error of the session."""
    try:
        do()
    except Unfit as e:
        refused.append(e)
