"""States of the rules, kept beside the entries so that nobody has to fold a million of them.

A checkpoint may always be lost: the entries tell the same. So it is replaced freely, and one that is damaged, or was
made of other entries, is passed over (its digest covers the entry's).
"""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass

KEPT = 3
ENTRIES_A_CHECKPOINT = 10_000
"""Older ones are thinned to one in so many entries, so that the state of any time is folded from near."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of the rules (version `rules`) after the entry `seq`, as bytes that the caller reads."""

    seq: int
    at: float
    rules: str
    state: bytes


def keep(db: sqlite3.Connection, checkpoint: Checkpoint) -> bool:
    """Within the caller's transaction. False if there is no such entry."""
    digest = _digest(db, checkpoint)
    if digest is None:
        return False
    row = (checkpoint.seq, checkpoint.at, checkpoint.rules, checkpoint.state, digest)
    db.execute("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?)", row)
    db.execute(
        "DELETE FROM checkpoints WHERE seq NOT IN (SELECT seq FROM checkpoints ORDER BY seq DESC LIMIT ?)"
        " AND seq NOT IN (SELECT max(seq) FROM checkpoints GROUP BY seq / ?)",
        (KEPT, ENTRIES_A_CHECKPOINT),
    )
    return True


def newest(db: sqlite3.Connection, *, rules: str, before: int) -> Checkpoint | None:
    """The newest whole one with that version of the rules and `seq < before`."""
    numbers = db.execute(
        "SELECT seq FROM checkpoints WHERE rules = ? AND seq < ? ORDER BY seq DESC", (rules, before)
    ).fetchall()
    for (seq,) in numbers:
        at, state, digest = db.execute("SELECT at, state, digest FROM checkpoints WHERE seq = ?", (seq,)).fetchone()
        checkpoint = Checkpoint(seq, at, rules, state)
        if _digest(db, checkpoint) == digest:
            return checkpoint
    return None


def _digest(db: sqlite3.Connection, checkpoint: Checkpoint) -> bytes | None:
    row = db.execute("SELECT digest FROM entries WHERE seq = ?", (checkpoint.seq,)).fetchone()
    if row is None:
        return None
    return hashlib.sha256(row[0] + f"{checkpoint.at!r} {checkpoint.rules}\0".encode() + checkpoint.state).digest()
