"""The loop: one queue, one reader, one writer.

Sources (a poller for each driver, the spools' watcher, lanes, channels, signals) only enqueue. The loop drains what is
there, lets each session take it in, then lets each session's core look at the clock. It never waits for an effect.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import time
from collections.abc import Callable
from typing import Any

from matcore.engine import heartbeat, spool
from matcore.engine.arrivals import Arrivals
from matcore.engine.ballast import Ballast
from matcore.engine.barrier import Barrier, Watched
from matcore.engine.clock import Clock, SystemClock
from matcore.engine.drivers import Drivers
from matcore.engine.effects import Effects
from matcore.engine.events import Ended, Event, JobEnded, NoticeTold, Polled, Restarted, SpoolTouched, Stop
from matcore.engine.hostnotices import HostNotices
from matcore.engine.keeping import Keeping
from matcore.engine.losses import Losses, gone_of
from matcore.engine.poller import Poller
from matcore.engine.reception import Reception
from matcore.engine.registry import Registry
from matcore.engine.session import Session
from matcore.engine.spoolwatch import Watcher
from matcore.places import StatePlaces

log = logging.getLogger("mat.supervisor")
IDLE_EXIT_S = 3.0
LONGEST_WAIT_S = 1.0
LONGEST_NAP_S = 10.0
"""A session at rest has said when it wants to look again; this is for what it may have forgotten."""
LANDS_WITHIN_S = 5.0
"""How long the end waits for texts that are being typed; what is cut off is unconfirmed."""


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
        self.polls = False
        self.pollers: dict[str, Poller] = {}
        self.effects = effects(self.queue.put)
        self.registry = Registry(places, self.effects, self.host, drivers or Drivers())
        self.watcher = Watcher(lambda folder: self.queue.put(SpoolTouched(folder)))
        self.host_notices = HostNotices(places)
        self._ballast = Ballast(places.ballast)
        self.barrier = Barrier(self._ballast, self._tell_of_disk)
        self.arrivals = Arrivals(self)
        self.reception = Reception(self)
        self.keeping = Keeping(self, self._ballast, guarded=until_idle)
        self._losses = Losses(self.watched, self.barrier)
        self._until_idle = until_idle
        self._stopping: str | None = None
        self._busy_s = self.host.boot_s()

    def run(self) -> None:
        """The loop, with pollers and the spools' watcher, until it is asked to end."""
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
        self.keeping.beat(now=True)
        self.watcher.add(self.places.spool)
        self.queue.put(SpoolTouched(self.places.spool))

    def turn(self, wait_s: float) -> None:
        """Take in all that is there, waiting at most so long for the first, then let each session look at the clock."""
        events = self._drain(wait_s)
        self.keeping.mind_the_gap()
        for watched in list(self.watched.values()):
            self.barrier.catch_up(watched)
        for event in events:
            self._dispatch(event)
        self._mind_the_pollers()
        self._losses.tell(self.host.boot_s())
        self._look_at_the_clock()
        self.keeping.up()
        if self.watched:
            self._busy_s = self.host.boot_s()

    def _look_at_the_clock(self) -> None:
        """Each session whose time has come or with which something was done. The others cost nothing: they may be many,
        and the loop turns at every word of any of them."""
        for watched in list(self.watched.values()):
            if watched.stirred or min(watched.due_s, watched.nap_ends_s) <= self.host.boot_s():
                session, seq = watched.session, watched.session.book.seq
                done = self.barrier.run(watched, session.tick, keep=False)
                watched.stirred = not done or session.book.seq != seq
                if watched.goes:
                    now_s = self.host.boot_s()
                    watched.due_s = now_s + session.due_in_s()
                    watched.nap_ends_s = now_s + (LONGEST_NAP_S if session.is_at_rest else 0.0)

    def _drain(self, wait_s: float) -> list[Event]:
        events: list[Event] = []
        with contextlib.suppress(queue.Empty):
            events.append(self.queue.get(block=wait_s > 0, timeout=wait_s))
            while True:
                events.append(self.queue.get_nowait())
        return events

    def _wait_s(self) -> float:
        soonest, now_s = LONGEST_WAIT_S, self.host.boot_s()
        for watched in self.watched.values():
            if watched.goes:
                soonest = min(soonest, watched.session.due_in_s() if watched.stirred else watched.due_s - now_s)
        return max(0.0, soonest)

    def _dispatch(self, event: Event) -> None:
        match event:
            case Polled():
                self._polled(event)
            case SpoolTouched():
                self.reception.empty(event.folder)
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

    def hurry(self, watched: Watched) -> None:
        """Have the driver look now: something has just happened."""
        if watched.driver_key in self.pollers:
            self.pollers[watched.driver_key].hurry()

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

    def _idle(self) -> bool:
        return self._until_idle and not self.watched and self.host.boot_s() - self._busy_s > IDLE_EXIT_S

    def end(self) -> None:
        """A clean end: texts that are being typed are waited for, and every journal says until when it was watched."""
        log.info("ending: %s", self._stopping or "nothing to watch")
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
        self.keeping.beat(now=True, ended=True)
