"""Whether somebody watches, and how sure that is: the supervisor's lock, its heartbeat, and what the journal says."""

from __future__ import annotations

from matcore.engine import heartbeat
from matcore.engine.book import Book
from matcore.engine.clock import SystemClock
from matcore.engine.heartbeat import Beat
from matcore.engine.ledger import Ledger
from matcore.places import StatePlaces
from matcore.show.shapes import Supervisor

JUST_NOW_S = 3.0
"""A session that began so shortly before the last heartbeat may not be named in it yet."""


def supervisor_of(state: StatePlaces, boot_s: float) -> Supervisor:
    """`boot_s`: CLOCK_BOOTTIME now. A heartbeat of before a reboot says nothing of the supervisor that runs now."""
    beat = heartbeat.read(state)
    alive = heartbeat.alive(state)
    guarded = heartbeat.guarded(state)
    aside = sum(1 for path in (state.spool / "aside").glob("*") if path.suffix != ".reason")
    if beat is None or (alive and _of_another_boot(beat, boot_s)):
        return Supervisor(alive, stale=False, pid=None, heartbeat_age_s=None, set_aside=aside, guarded=guarded)
    age_s = _age_s(beat, boot_s)
    return Supervisor(
        alive=alive,
        stale=alive and age_s > heartbeat.STALE_S,
        pid=beat.pid if alive else None,
        heartbeat_age_s=age_s,
        sessions=beat.sessions if alive else None,
        failed=beat.failed if alive else {},
        set_aside=aside,
        guarded=guarded,
    )


def at_that_time(state: StatePlaces, book: Book, wall_s: float) -> Supervisor:
    """As of a time that is over, after which nothing is folded in `book`.

    That a supervisor was killed is only written when the next one starts, or never: a stop that lies before that time
    and was written after it counts, and where nothing was written after it, so does a heartbeat that had ended by then.
    """
    known = Supervisor(alive=True, stale=False, pid=None, heartbeat_age_s=None)
    last = next(book.journal.entries(before=book.seq + 1, newest_first=True), None)
    at = wall_s - (last.wall - last.at) if last is not None else wall_s
    if book.journal.last_seq > book.seq:
        turns = book.journal.entries(after=book.seq, names=["watch.stopped", "watch.resumed"])
        turn = next(turns, None)
        known.alive = turn is None or turn.name != "watch.stopped" or turn.at > at
    elif not heartbeat.alive(state):
        beat = heartbeat.read(state)
        known.alive = beat is not None and beat.wall_s >= wall_s
    return known


def state_of(book: Book, supervisor: Supervisor, now: float) -> str:
    """`now` is the journal's time."""
    ledger = book.ledger
    if ledger.ended:
        return "ended"
    if ledger.mistake is not None:
        return "failed"
    if not (supervisor.alive and ledger.watching and _listed(ledger, supervisor, now)):
        return "unwatched"
    return "hangs" if supervisor.stale else "watched"


def _listed(ledger: Ledger, supervisor: Supervisor, now: float) -> bool:
    """Whether the last heartbeat names this session, or is too old to know of it."""
    if supervisor.sessions is None or ledger.session in supervisor.sessions:
        return True
    return now - ledger.watched_at < JUST_NOW_S + (supervisor.heartbeat_age_s or 0.0)


def _of_another_boot(beat: Beat, boot_s: float) -> bool:
    return beat.boot_id != SystemClock().boot_id() or beat.boot_s > boot_s


def _age_s(beat: Beat, boot_s: float) -> float:
    """By the calendar where the boot is another one."""
    if _of_another_boot(beat, boot_s):
        return max(0.0, SystemClock().wall_s() - beat.wall_s)
    return boot_s - beat.boot_s
