"""An agent that has ended, in words: how soon after its start, what it left, and whether mat starts it again."""

from __future__ import annotations

from math import ceil

from matcore.show import phrases
from matcore.show.shapes import RoleView, Snapshot
from matcore.show.text import due, duration, lasted, plain, short
from matcore.words.worknotices import SOON_S, last_line

_MOST_SAID = 160


def told(shot: Snapshot, role: RoleView) -> str:
    """All of it, as a sentence without its point."""
    said, comes = left(role), then(shot, role)
    return how(shot, role) + (f': "{said}"' if said else "") + (f"; {comes}" if comes else "")


def how(shot: Snapshot, role: RoleView) -> str:
    """`review's agent (claude) ended within 2s of its start, 8s ago`, or for how long it has been gone."""
    name, since = plain(role.role), lasted(role.since, shot.now)
    seen = phrases.evidence(role.evidence)
    why = f" ({seen})" if seen else ""
    if role.lived_s is None or role.lived_s > SOON_S:
        return f"{name}'s agent has been gone for {since}{why}"
    lived = duration(max(1, ceil(role.lived_s)))
    return f"{name}'s agent ({plain(role.backend)}) ended within {lived} of its start, {since} ago{why}"


def left(role: RoleView) -> str:
    """The last line that it left, harmless; empty where there is none."""
    return short(last_line(role.said), _MOST_SAID)


def then(shot: Snapshot, role: RoleView) -> str:
    """What mat does about it by itself; empty where it does nothing."""
    if role.restarts_at is not None:
        return f"mat starts it again {due(role.restarts_at, shot.now)}"
    return "mat starts it no more, for it ended again and again" if role.crash_loop else ""
