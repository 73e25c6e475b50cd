"""What the loop keeps up beside its work: the heartbeat and its pings, the folders that agents use, room on the disk, a
guard; and it notices when the loop itself did not turn."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from matcore.engine import guard, heartbeat, registry, resuming
from matcore.engine.about import Kept, Upkeep
from matcore.engine.ballast import Ballast
from matcore.engine.barrier import Watched
from matcore.engine.book import Note
from matcore.engine.clock import Gap, LoopWatch
from matcore.engine.ledger import Relay
from matcore.engine.pings import Pings
from matcore.engine.session import Session

if TYPE_CHECKING:
    from matcore.engine.supervisor import Supervisor

log = logging.getLogger("mat.keeping")
UPKEEP_S = 2.0
TEXTS = "handoffs"
"""The trouble that something which was handed over can't be read any more."""


class Keeping:
    """`guarded`: this supervisor was started by a guard, and sees to it that there is one."""

    def __init__(self, supervisor: Supervisor, ballast: Ballast, *, guarded: bool) -> None:
        self._super = supervisor
        self._ballast = ballast
        self._guarded = guarded
        self.folders = Upkeep(supervisor.places)
        self._heart = heartbeat.Heartbeat(supervisor.places, supervisor.host)
        self._heart_fault = ""
        self.pings = Pings()
        self._loop_watch = LoopWatch(supervisor.host)
        self._kept_s = float("-inf")

    def soon(self) -> None:
        """Have all of it brought up to date with this turn."""
        self._kept_s = float("-inf")

    def mind_the_gap(self) -> None:
        """Say that nobody watched when the machine slept or the loop stood still, before what was seen then."""
        windows = [w.session.ledger.window_s for w in self._super.watched.values()]
        gap = self._loop_watch.beat(min(windows, default=600.0))
        if gap is None:
            return
        for watched in self._super.watched.values():
            if gap.slept_s or gap.until_s - gap.since_s > watched.session.ledger.window_s:
                self._super.barrier.run(watched, lambda w=watched, g=gap: self._after_gap(w, g))  # type: ignore[misc]

    def _after_gap(self, watched: Watched, gap: Gap) -> None:
        resuming.nobody_watched(watched.session, gap)
        watched.driver.forget(watched.session.name)
        registry.adopt(watched.session, watched.driver)

    def up(self) -> None:
        """Heartbeat, and now and then the folders that agents use, the ballast, the guard, and pings."""
        self.beat()
        now = self._super.host.boot_s()
        all_of_them = now - self._kept_s >= UPKEEP_S
        for watched in list(self._super.watched.values()):
            if watched.session.about_changed or (all_of_them and self.folders.has_changed(watched.session)):
                self._super.barrier.run(watched, lambda w=watched: self._keep(w.session), keep=False)  # type: ignore[misc]
        if all_of_them:
            self._kept_s = now
            self.pings.look(self._switches(), now)
            self._mind_the_disk()
            with contextlib.suppress(OSError):
                self._super.arrivals.tell_guard()
            if self._guarded and self._super.polls and not heartbeat.guarded(self._super.places):
                guard.spawn(self._super.places)

    def _switches(self) -> set[str]:
        """The dead-man's switches of the sessions that are watched."""
        watched = [w.session.ledger.config.get("heartbeat") for w in self._super.watched.values() if w.fault is None]
        return {str(url) for url in watched if url}

    def _keep(self, session: Session) -> None:
        """Somebody may have cleaned its folder away; a folder that can't be written is trouble, not a mistake."""
        try:
            kept = self.folders.keep(session)
        except OSError as e:
            session.trouble("folder", f"{e.filename or session.places.root}: {e.strerror or e}")
            return
        session.about_changed = False
        session.mended("folder")
        if kept is not None:
            _tell_of(session, kept)

    def _mind_the_disk(self) -> None:
        """A full disk that was met with the ballast is told once, and is over when there is room for the ballast."""
        told = [w for w in self._super.watched.values() if "disk-full" in w.session.ledger.troubles]
        held = self._ballast.restore()
        if held and not any(w.stuck for w in self._super.watched.values()):
            for kind in ("disk-full", "state-unwritable"):
                self._super.host_notices.over(kind)
        if held:
            self._super.barrier.disk_was_full = False
            for watched in told:
                self._super.barrier.run(watched, lambda w=watched: w.session.mended("disk-full"), keep=False)  # type: ignore[misc]
        elif self._super.barrier.disk_was_full and not told:
            first = next((w for w in self._super.watched.values() if w.goes), None)
            if first is not None:
                reason = f"no space left for {self._super.places.root}"
                self._super.barrier.run(first, lambda: first.session.trouble("disk-full", reason), keep=False)

    def beat(self, *, now: bool = False, ended: bool = False) -> None:
        """The heartbeat, at most once a second unless `now`. A disk in trouble is logged once."""
        sessions = [] if ended else sorted(name for name, w in self._super.watched.items() if w.fault is None)
        failed = {
            name: (w.fault or "").strip()[-400:] for name, w in self._super.watched.items() if w.fault is not None
        }
        try:
            self._heart.beat(sessions, {**self._super.failed, **failed}, now=now, ended=ended)
        except OSError as e:
            if self._heart_fault != str(e):
                log.error("no heartbeat can be written: %s", e)  # noqa: TRY400 - expected
            self._heart_fault = str(e)
        else:
            self._heart_fault = ""


def _tell_of(session: Session, kept: Kept) -> None:
    """What was made again is told at once; that a text can't be had is trouble until nobody owes it any more."""
    relays = [session.ledger.relays[relay] for relay in kept.lost]
    lost = [f"{relay.id} from {relay.sender} to {relay.to}" for relay in relays]
    reason = f"the text of {', '.join(lost)} is gone with the folder; have it sent again" if lost else ""
    first = [Note("engine.recreated", {"what": list(kept.made), "lost": list(kept.lost)})]
    if not lost:
        session.mended(TEXTS)
    elif session.ledger.troubles.get(TEXTS) == reason:
        lost = []
    else:
        first.append(Note("engine.trouble", {"what": TEXTS, "reason": reason}))
    if kept.made or lost:
        again = _again(session.name, relays[0]) if relays else ""
        session.herald.tell("recreated", action=bool(lost), first=first, what=list(kept.made), lost=lost, again=again)


def _again(session: str, relay: Relay) -> str:
    """How a person has it sent again."""
    if relay.sender == "human":
        return f"mat send {session} {relay.to} TEXT"
    return f'mat send {session} {relay.sender} "Send {relay.id} again with send-relay --again: its text was lost."'
