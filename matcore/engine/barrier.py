"""The barrier around each session: what goes wrong in one stops no other.

A disk in trouble is expected: what could not be journalled waits, in order, until it can be. Anything else that escapes
from a session is our mistake, or a damaged journal: it ends that session's watch, loudly.
"""

from __future__ import annotations

import contextlib
import logging
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from matcore.engine.ballast import Ballast
from matcore.engine.driver import Driver
from matcore.engine.journal import JournalFull, JournalUnusable
from matcore.engine.session import Session

log = logging.getLogger("mat.barrier")
BACKLOG = 100_000
Do = Callable[[], object]


@dataclass(slots=True)
class Watched:
    """A session under watch. `fault`: the error that has ended that; `stuck`: its journal takes nothing now.

    `stirred`: something was done with it since it last looked at the clock. Boot times: `due_s`, when it has to look
    again, whatever happens; `nap_ends_s`, when it is to look as soon as the loop turns.
    """

    session: Session
    driver_key: str
    driver: Driver
    fault: str | None = None
    stuck: bool = False
    stirred: bool = True
    due_s: float = 0.0
    nap_ends_s: float = 0.0
    backlog: deque[Do] = field(default_factory=deque)

    @property
    def goes(self) -> bool:
        """Whether it can act now."""
        return self.fault is None and not self.stuck and not self.backlog


class Barrier:
    """`tell(kind, reason)` is called each time that a journal can't be written."""

    def __init__(self, ballast: Ballast, tell: Callable[[str, str], None]) -> None:
        self._ballast = ballast
        self._tell = tell
        self.disk_was_full = False

    def guard(self, session: Session) -> None:
        """On a full disk the session's journal may have the ballast's room."""
        session.book.make_room = self._make_room

    def run(self, watched: Watched, do: Do, *, keep: bool = True) -> bool:
        """Do a session's part of the work. False if it was not done; with `keep` it is done later, when its journal can
        be written. What is not kept must come again by itself.
        """
        if watched.fault is not None:
            return False
        watched.stirred = True
        if watched.backlog:  # in order: nothing is decided before what has happened is in
            if keep:
                watched.backlog.append(do)
            return False
        done = self._try(watched, do)
        if watched.stuck and keep and not done:
            watched.backlog.append(do)
        if len(watched.backlog) > BACKLOG:
            self.fail(watched, RuntimeError(f"more than {BACKLOG} events wait for a journal that can't be written"))
        return done

    def catch_up(self, watched: Watched) -> None:
        """Do what waits, as far as that goes now."""
        while watched.backlog and self._try(watched, watched.backlog[0]):
            watched.backlog.popleft()

    def fail(self, watched: Watched, error: Exception) -> None:
        """End the watch of this session, because of `error`."""
        text = "".join(traceback.format_exception(error))
        log.error("%s: this session is watched no longer\n%s", watched.session.name, text)
        watched.fault = text
        watched.backlog.clear()
        with contextlib.suppress(Exception):
            watched.session.mistake(text)

    def _try(self, watched: Watched, do: Do) -> bool:
        try:
            do()
        except JournalUnusable as e:
            if not watched.stuck:
                log.error("%s: its journal can't be written, so events wait: %s", watched.session.name, e)  # noqa: TRY400 - expected
            watched.stuck = True
            self._tell("disk-full" if isinstance(e, JournalFull) else "state-unwritable", str(e))
        except Exception as e:  # noqa: BLE001 - the barrier: an error in one session stops no other, and is told
            self.fail(watched, e)
        else:
            watched.stuck = False
            return True
        return False

    def _make_room(self) -> bool:
        self.disk_was_full = True
        return self._ballast.free()
