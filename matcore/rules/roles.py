"""What is known of each role: its status, when it was active last, what it was given.

Seeing a status again changes nothing; only a role that stays `unknown` from one moment on becomes settled (rule 1).
After a gap that moment is its end, for a role too that had been unknown before: nobody looked meanwhile.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import replace

from matcore.rules import gates, texts, wakes
from matcore.rules.state import Role, Status
from matcore.rules.work import Work


class Seen(enum.StrEnum):
    BUSY = "role.busy"
    IDLE = "role.idle"
    GONE = "role.gone"
    UNKNOWN = "role.unknown"
    UNWATCHED = "watch.resumed"


_ALWAYS = {
    Seen.BUSY: Status.BUSY,
    Seen.IDLE: Status.IDLE,
    Seen.GONE: Status.GONE,
    Seen.UNKNOWN: Status.UNKNOWN,
    Seen.UNWATCHED: Status.UNKNOWN,
}
TABLE: Mapping[Status, Mapping[Seen, Status]] = {
    Status.UNKNOWN: _ALWAYS,
    Status.BUSY: _ALWAYS,
    Status.IDLE: _ALWAYS,
    Status.GONE: _ALWAYS,
}
"""The last sighting counts, whatever was known before: a gone agent may come back."""


def saw(work: Work, name: str, seen: Seen) -> None:
    role = work.role(name)
    if role is None:
        return
    now = work.now_us
    status = TABLE[role.status][seen]
    since = role.since_us if status is role.status and seen is not Seen.UNWATCHED else now
    if seen is Seen.BUSY:
        work.put(Role(name, since, status, now, role.heard))
        texts.taken_up(work, name)
    elif since != role.since_us or status is not role.status:
        work.put(replace(role, status=status, since_us=since))
    if role.status is Status.UNKNOWN and (status is not Status.UNKNOWN or seen is Seen.UNWATCHED):
        gates.ended(work, gates.named(gates.UNKNOWN, name))
    if status is Status.GONE:
        wakes.end_all(work, name, wakes.Event.GONE)


def was_active(work: Work, name: str) -> None:
    """A turn's end or an own relay; `role.busy` counts by itself."""
    role = work.role(name)
    if role is not None:
        work.put(Role(name, role.since_us, role.status, work.now_us, role.heard))


def active_last(roles: tuple[Role, ...]) -> Role:
    """The role active last, a living one where there is one; of several the one configured first."""
    living = tuple(role for role in roles if role.status is not Status.GONE)
    latest = living or roles
    return max(latest, key=_activity)


def _activity(role: Role) -> tuple[bool, int]:
    return (role.active_us is not None, role.active_us or 0)
