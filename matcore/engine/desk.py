"""The desk where spools are emptied: each record becomes a fact of its session, a request, or is set aside visibly."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from matcore.engine import intake, spool
from matcore.engine.intake import Unfit
from matcore.engine.session import Session

log = logging.getLogger("mat.desk")
Take = Callable[[Mapping[str, Any]], None]


def empty(folder: Path, take: Take, aside: Callable[[str, str], None], *, session: str | None = None) -> None:
    """Hand each record of `folder/new` to `take`, oldest first. What it refuses (`Unfit`), and what is no record at
    all, is moved aside and reported to `aside(name, reason)`."""
    for item in spool.take(folder, os.getuid(), session=session):
        if isinstance(item, spool.SetAside):
            aside(item.name, item.reason)
            continue
        try:
            take(item.record)
        except Unfit as e:
            spool.set_aside(item, str(e))
            aside(item.name, str(e))
        else:
            spool.done(item)


def empty_role(session: Session, role: str, folder: Path) -> None:
    """Empty one role's spool."""
    empty(
        folder,
        lambda record: intake.from_role(session, role, record),
        lambda name, reason: session.set_aside(role, name, reason),
        session=session.name,
    )


def open_first_cycle(session: Session, goal: str | None) -> None:
    """What a session begins with: its first cycle and, from the human, each role's kick."""
    session.take("cycle.opened", {"cycle": f"c{session.ledger.cycles + 1}", "by": "human", "goal": goal})
    for role, config in session.ledger.config["roles"].items():
        if config.get("kick"):
            session.take("relay.sent", _kick(session, role, str(config["kick"])))


def _kick(session: Session, role: str, text: str) -> dict[str, Any]:
    seq = session.ledger.seq + 1
    data = text.encode()
    digest = hashlib.sha256(data).hexdigest()
    path = session.places.handoffs / f"{digest}.md"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(data)
    return {
        "id": f"r-{seq:06d}", "seq": seq, "from": "human", "to": role, "kind": "request",
        "path": str(path), "digest": digest, "body": text if len(text) <= intake.SHORT_BODY else None,
    }  # fmt: skip
