"""A relay from the human that came by another way than `mat send`: a file that somebody put into a mailbox."""

from __future__ import annotations

from pathlib import Path

from matcore.errors import MatError, Unavailable
from matcore.places import SessionPlaces
from matcore.said_relay import check_text, human_relay


def relay(places: SessionPlaces, state_spool: Path, role: str, text: str, *, again: bool) -> str:
    """Say it as `mat send` would. Returns the relay's id.

    `again` False: the same words, if nothing has come back since, are not said a second time; for whoever can't know
    whether they were. Raises `Unavailable` or `OSError` where it may be said later, `Refused` where it never can be;
    nothing was sent then.
    """
    check_text(text)
    session = places.root.name
    try:
        return human_relay(str(places.root), str(state_spool), session, role, text, again=again)[0]
    except MatError as error:
        raise Unavailable(str(error)) from error
