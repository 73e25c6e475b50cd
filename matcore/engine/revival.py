"""Agents that end by themselves, and agents whose context is full: started anew without a person.

Full context: `context.exhausted`, `engine.renewing` (the intent), `engine.seat` (a fresh agent session), and when
the new agent is idle `context.fresh`, which takes up one recovery marker. Ended by itself: `role.gone`, which ends its
wakes as failed; after `RESUME_AFTER_S`, time for a person to do otherwise, `engine.restarting` and `engine.seat` on
the same agent session, or on a fresh one where no agent was ever seen alive on it. That is for drivers that say they
can (`resumable`); `recovery: {restart: never}` leaves it to `mat restart`. The third end within ten minutes is told
once (`crash-loop`); then nothing is started until a person does. A supervisor that ends in the middle begins again from
the journal: the driver first ends what runs in the seat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from matcore.engine import starting
from matcore.engine.book import Note
from matcore.engine.ledger import DUE, RENEWED, RENEWING

if TYPE_CHECKING:
    from matcore.engine.ledger import Ledger
    from matcore.engine.session import Session

RESUME_AFTER_S = 10.0
WITHIN_S = 600.0
TOO_MANY = 3
CRASH_LOOP = "crash-loop"
"""The notification; also the reason of a `role.gone` whose agent the driver has given up starting."""


def mind(session: Session, role: str) -> bool:
    """Start what has to be started anew and may be now. Whether the seat is taken by that."""
    ledger = session.ledger
    if ledger.ending or role in ledger.restarting:
        return False
    if ledger.exhausted.get(role) in (DUE, RENEWING):
        if session.post.rests(role):
            return True
        return _begin(session, role, Note("engine.renewing", {"role": role, "reason": "context-exhausted"}), fresh=True)
    at = resumes_at(ledger, role)
    if at is None:
        return False
    if len(_ends(ledger, role, session.clock.now())) >= TOO_MANY:
        times, minutes = TOO_MANY, int(WITHIN_S // 60)
        note = Note("engine.crash_loop", {"role": role, "times": times, "minutes": minutes})
        first = [note, *starting.over(session, role, CRASH_LOOP)]
        about = how_it_ended(ledger, role) | _counted(session, role)
        session.herald.tell(CRASH_LOOP, action=True, first=first, role=role, times=times, minutes=minutes, **about)
    elif session.clock.now() >= at and not session.post.rests(role):
        note = Note("engine.restarting", {"role": role, "by": "mat", "reason": "gone"})
        return _begin(session, role, note, fresh=False)
    return False


def comes_back(session: Session, role: str, ended: Mapping[str, Any]) -> bool:
    """Whether an agent that is seen gone now (`ended`: the fact's fields) is going to be started again by itself."""
    ledger = session.ledger
    seat = ledger.seats.get(role)
    if seat is None or seat.agent_session is None or not ended.get("resumable") or not _is_minded(ledger, role):
        return False
    before = len(_ends(ledger, role, session.clock.now()))
    return role not in ledger.crash_loops and before + (not seat.is_lost) < TOO_MANY


def resumes_at(ledger: Ledger, role: str) -> float | None:
    """When an agent that ended by itself is to be started again, None where it is not."""
    seat, seen = ledger.seats.get(role), ledger.roles.get(role)
    if seat is None or seen is None or not _is_minded(ledger, role):
        return None
    knows_session = seat.resumable and seat.agent_session is not None
    is_lost = seen.status == "gone" and knows_session and role not in ledger.crash_loops
    return seen.since + RESUME_AFTER_S if is_lost else None


def how_it_ended(ledger: Ledger, role: str) -> dict[str, Any]:
    """What a notification says of an agent that is gone: its program, for how long it ran, its last lines."""
    seat = ledger.seats.get(role)
    program = str(ledger.config.get("roles", {}).get(role, {}).get("backend", ""))
    return {"program": program, "lived_s": seat.lived_s if seat else None, "said": seat.said if seat else ""}


def _counted(session: Session, role: str) -> dict[str, str]:
    """Since when its ends are counted, where a person started it so lately that the log shows more of them."""
    since = session.ledger.counted_from.get(role)
    is_recent = since is not None and session.clock.now() - since < WITHIN_S
    return {"since": session.scribe.when(since)} if since is not None and is_recent else {}


def is_fresh(ledger: Ledger, role: str) -> bool:
    """Whether the role, idle now, is one whose context was full and whose agent has been replaced."""
    return ledger.exhausted.get(role) == RENEWED


def _is_minded(ledger: Ledger, role: str) -> bool:
    wanted = (ledger.config.get("recovery") or {}).get("restart", "auto") != "never"
    return wanted and not ledger.ending and role not in ledger.restarting


def _begin(session: Session, role: str, intent: Note, *, fresh: bool) -> bool:
    session.commit([intent, starting.waits(session, role)])
    session.post.reviving.add(role)
    session.effects.restart(session, role, fresh=fresh)
    return True


def _ends(ledger: Ledger, role: str, now: float) -> list[float]:
    return [at for at in ledger.ends.get(role, []) if now - at < WITHIN_S]
