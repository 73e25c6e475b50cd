"""A relay from the human that came by another way than `mat send`: a file that somebody put into a mailbox."""

from __future__ import annotations

from pathlib import Path

from matcore.places import SessionPlaces
from matcore.said_relay import human_relay


def relay(places: SessionPlaces, state_spool: Path, role: str, text: str, *, again: bool) -> str:
    """Say it as `mat send` would. Returns the relay's id.

    `again` False: the same words, if nothing has come back since, are not said a second time; for whoever can't know
    whether they were. Raises `Refused`, `BadConfig` and `OSError`; nothing was sent then.
    """
    session = places.root.name
    return human_relay(str(places.root), str(state_spool), session, role, text, again=again)[0]
