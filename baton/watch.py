"""What is seen of one session from outside of its worker: by the worker's lock and by what it writes down.

Each end of a turn is told once, then what the role does now. A worker that has died is started again, at most twice
within ten minutes; then its roles are gone, which the engine tells as a crash loop.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from baton import keeper, process, record
from baton.keeper import Kept
from baton.record import BUSY, IDLE, Job, Last, State
from baton.runtimes import CONTEXT_FULL, RATE_LIMIT
from matcore.engine.clock import boot_s
from matcore.engine.driver import SessionSpec, Sighting
from matcore.errors import MatError, Unavailable
from matcore.places import SessionPlaces

log = logging.getLogger("mat.baton")
TOO_MANY, WITHIN_S = 3, 600.0
RATE_LIMITED, CRASH_LOOP = "rate-limited", "crash-loop"
BY_RECORD, BY_LOCK = "turn record", "the worker's lock"


@dataclass(slots=True)
class _Role:
    """What was reported of a role last. `turn`: number and beginning of the last one whose end was told; where somebody
    has cleaned the folder away, numbers begin anew."""

    told: str | None = None
    turn: tuple[int, float] | None = None
    exhausted: int = 0
    limited: bool = False
    stamp: tuple[int, int] | None = None


@dataclass(slots=True)
class Watch:
    """One session. `look` and the other methods may be called from any thread."""

    spec: SessionSpec
    places: SessionPlaces
    job: Callable[[], Job]
    """What a worker is to serve, for when somebody has cleaned the folder away."""
    gone: str | None = None
    _roles: dict[str, _Role] = field(default_factory=dict)
    _deaths: deque[float] = field(default_factory=deque)
    _asked: Kept | None = None
    _since_s: float = 0.0
    _cleaned_s: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, spec: SessionSpec, job: Callable[[], Job]) -> Watch:
        """From now on. The end of the last turn is told again, for it may have come while nobody watched: what it
        ended before it does not end twice, since it says when that turn began."""
        watch = cls(spec, SessionPlaces.of(spec.workdir, spec.session), job)
        for role in spec.roles:
            state = record.read_state(watch.places, role.name)
            watch._roles[role.name] = _Role(exhausted=state.exhausted)
        return watch

    @property
    def roles(self) -> list[str]:
        return list(self._roles)

    def look(self) -> list[Sighting]:
        """What is new: one lock, and one `stat` for each role."""
        with self._lock:
            if process.is_alive(self.places):
                self.gone, self._asked, self._cleaned_s = None, None, None
                return [sighting for role in self._roles for sighting in self._look_at(role)]
            if self.gone is None:
                self._revive()
            if self.gone is None:
                return []
            return self._gone(self.gone)

    def anew(self, role: str) -> None:
        """The role was restarted: nothing that was told of it holds."""
        with self._lock:
            self.gone = None
            self._deaths.clear()
            state = record.read_state(self.places, role)
            self._roles[role] = _Role(turn=_of(state.last), exhausted=state.exhausted)

    # inside

    def _gone(self, why: str) -> list[Sighting]:
        """All roles are. A crash loop stands with the first alone, for it is one for all of them."""
        left = record.last_lines(record.log_path(self.places)) if why == CRASH_LOOP else why
        told = [s for role in self._roles for s in self._say(role, "gone", BY_LOCK, reason="no worker", said=left)]
        first = {"reason": why, "times": len(self._deaths), "minutes": int(WITHIN_S // 60)}
        return [Sighting(s.session, s.name, {**s.fields, **first}, s.evidence) for s in told[:1]] + told[1:]

    def _look_at(self, role: str) -> list[Sighting]:
        seen = self._roles[role]
        stamp = _stamp(record.state_path(self.places, role))
        if stamp == seen.stamp and seen.told is not None and seen.told != "gone" and stamp is not None:
            return []
        seen.stamp = stamp
        state = record.read_state(self.places, role)
        found = self._ended(role, state)
        if found:
            seen.told = None
        return found + self._say(role, BUSY if state.status == BUSY else IDLE, BY_RECORD)

    def _ended(self, role: str, state: State) -> list[Sighting]:
        """The end of a turn that was not told yet, with all that it says."""
        seen, last = self._roles[role], state.last
        is_full = state.exhausted > seen.exhausted
        seen.exhausted = state.exhausted
        if last is None or _of(last) == seen.turn:
            return []
        seen.turn = _of(last)
        ended = {"outcome": last.outcome, "detail": last.error, "started": last.started_s, "class": last.error_class}
        found = [self._sighting("turn.ended", role, **ended), *self._limits(role, last)]
        if is_full or (last.error_class == CONTEXT_FULL and last.turn == state.turn):
            # First what the full context means for what was asked of it: the turn's error would end that as failed.
            fresh = [self._sighting("role.idle", role), self._sighting("context.fresh", role)]
            return [self._sighting("context.exhausted", role), *found, *fresh]
        return found

    def _limits(self, role: str, last: Last) -> list[Sighting]:
        """A rate limit holds the role until the time that the program named; one that names none is only an error."""
        seen = self._roles[role]
        if last.error_class == RATE_LIMIT and last.until_s is not None and last.until_s > time.time():
            seen.limited = True
            until = last.until_s - time.time() + boot_s()
            return [self._sighting("gate.raised", role, gate=RATE_LIMITED, until=until)]
        if seen.limited and last.outcome == "ok":
            seen.limited = False
            return [self._sighting("gate.cleared", role, gate=RATE_LIMITED)]
        return []

    def _say(self, role: str, status: str, evidence: str, **more: object) -> list[Sighting]:
        seen = self._roles[role]
        if seen.told == status:
            return []
        seen.told = status
        return [Sighting(self.spec.session, f"role.{status}", {"role": role, **more}, evidence)]

    def _sighting(self, name: str, role: str, **fields: object) -> Sighting:
        return Sighting(self.spec.session, name, {"role": role, **fields}, BY_RECORD)

    def _revive(self) -> None:
        """Have a worker that has died started again, unless it keeps dying or its environment is lost."""
        now_s = time.monotonic()
        if self._asked is not None and not process.has_failed(self.places, self._asked.starts):
            if now_s - self._since_s < process.STARTS_WITHIN_S:
                return
        elif self._asked is None and not keeper.lock_path(self.places.root).exists():
            # Somebody has cleaned the folder away: its keeper is about to take it anew.
            self._cleaned_s = now_s if self._cleaned_s is None else self._cleaned_s
            if now_s - self._cleaned_s < process.STARTS_WITHIN_S:
                return
        self._deaths.append(now_s)
        while now_s - self._deaths[0] > WITHIN_S:
            self._deaths.popleft()
        if len(self._deaths) >= TOO_MANY:
            self.gone = CRASH_LOOP
        else:
            self._ask(now_s)
        if self.gone is not None:
            log.error("%s: its worker is not started again: %s", self.spec.session, self.gone)

    def _ask(self, now_s: float) -> None:
        try:
            if not record.job_path(self.places).exists():
                record.write(record.job_path(self.places), self.job())
            self._asked, self._since_s = process.ask(self.places), now_s
        except Unavailable as error:
            self.gone = f"its worker has died; {error}"
        except (OSError, MatError) as error:
            log.error("%s: no worker could be started: %s", self.spec.session, error)  # noqa: TRY400


def _of(last: Last | None) -> tuple[int, float] | None:
    return (last.turn, last.started_s) if last is not None else None


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns
