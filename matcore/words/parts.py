"""Parts that the notifications have in common: how a name, a time, an actor and a field are written in them."""

from __future__ import annotations

from collections.abc import Sequence

from matcore.words.shape import line

NAMES_BYTES = 200
PATH_BYTES = 240
SINCE_BYTES = 64
_NAME_BYTES = 40
_FIELD_BYTES = 240


def name(of: object) -> str:
    """The name of a session, a role, a relay or a cycle."""
    return line(str(of), _NAME_BYTES)


def since_then(since: str) -> str:
    """` since 2026-11-30 02:11:09+0100`, or nothing."""
    return f" since {line(since, SINCE_BYTES)}" if since else ""


def by_whom(who: str) -> str:
    """` by dev`, or nothing."""
    return f" by {name(who)}" if who else ""


def labelled(label: str, text: str) -> Sequence[str]:
    """A line `Reason: …`, or none where there is no text."""
    return (f"{label}: {line(text, _FIELD_BYTES)}",) if text else ()
