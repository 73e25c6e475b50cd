"""The desk where spools are emptied: each record becomes a fact of its session, a request, or is set aside visibly."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from matcore.engine import intake, letters, spool
from matcore.engine.book import Fact, Item, Note
from matcore.engine.session import Session
from matcore.engine.spoolread import Unfit
from matcore.places import SessionPlaces

log = logging.getLogger("mat.desk")
Take = Callable[[Mapping[str, Any]], None]


class NotNow(Exception):
    """A record that stays where it is, to be taken up later."""


def empty(folder: Path, take: Take, aside: Callable[[str, str], None], *, session: str | None = None) -> None:
    """Hand each record of `folder/new` to `take`, oldest first. What it refuses (`Unfit`), and what is no record at
    all, is moved aside and reported to `aside(name, reason)`. What can't be taken up now (`NotNow`) stays."""
    for item in spool.take(folder, os.getuid(), session=session):
        if isinstance(item, spool.SetAside):
            aside(item.name, item.reason)
            continue
        try:
            take(item.record)
        except NotNow:
            continue
        except Unfit as e:
            _put_aside(item, str(e), aside)
        else:
            _done(item)


def _put_aside(item: spool.Item, reason: str, aside: Callable[[str, str], None]) -> None:
    try:
        spool.set_aside(item, reason)
    except OSError as e:  # tried again at the next look
        log.error("%s can't be moved aside: %s", item.name, e)  # noqa: TRY400 - expected
        return
    aside(item.name, reason)


def _done(item: spool.Item) -> None:
    """A file that can't be removed is taken up once all the same: its id is in the journal."""
    try:
        spool.done(item)
    except OSError as e:
        log.error("%s can't be removed: %s", item.name, e)  # noqa: TRY400 - expected


def empty_role(session: Session, role: str, folder: Path) -> None:
    """Empty one role's spool."""
    empty(
        folder,
        lambda record: intake.from_role(session, role, record),
        lambda name, reason: session.set_aside(role, name, reason),
        session=session.name,
    )


def first_entries(record: Mapping[str, Any], up: Mapping[str, Any]) -> list[Item]:
    """What a session begins with, as one: its numbers, its seats, its first cycle and, from the human, each role's
    kick."""
    cycle = {"cycle": "c1", "by": "human", "goal": record.get("goal")}
    kicks = [(role, str(config["kick"])) for role, config in record["config"]["roles"].items() if config.get("kick")]
    places = SessionPlaces.of(Path(up["workdir"]), up["session"])
    return [
        Fact("session.configured", record["configured"]),
        Note("engine.up", up, record["id"]),
        Fact("watch.resumed"),
        Fact("cycle.opened", cycle),
        *(
            Fact("relay.sent", letters.numbered(places, seq, text, to=role))
            for seq, (role, text) in enumerate(kicks, 1)
        ),
    ]
