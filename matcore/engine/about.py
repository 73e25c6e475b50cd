"""Keeps what agents read and write beside the journal: `session.json`, the index of relays, the folders.

All of it can be made again from the journal, so that somebody who cleans up a working directory costs a notice and
nothing else. While the index is missing, `send-relay` refuses; it is rewritten after the spools have been emptied.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from matcore import said_index, said_sent
from matcore.engine import briefing, copies, spool, wholefile
from matcore.engine.copies import Copies
from matcore.engine.folderstamps import FolderStamps, Stamps
from matcore.engine.session import Session
from matcore.errors import BadConfig
from matcore.places import SessionPlaces, StatePlaces


@dataclass(frozen=True, slots=True)
class Kept:
    """What was missing and had to be made again, in words, and the relays whose text can't be had any more."""

    made: Sequence[str] = ()
    lost: Sequence[str] = ()


class Upkeep:
    """For all sessions; writes only what has changed."""

    def __init__(self, state: StatePlaces) -> None:
        self._state = state
        self._half_said = state.spool / "tmp"
        self._stamps: dict[str, FolderStamps] = {}
        self._copies = Copies()
        self._goals: dict[str, str | None] = {}

    def keep(self, session: Session, *, ended: bool = False) -> Kept | None:
        """Bring a session's folder up to date; None where it is as it was left. Raises `OSError`.

        `ended`: the session is about to end, and its agents' commands say so from now on.
        """
        stamps = self._stamps_of(session)
        seen = stamps.look()
        if not (session.about_changed or ended) and self._is_as_left(session, seen):
            return None
        kept = self._look_through(session, ended=ended)
        if not kept.made and not _half_sent(session, self._state):
            stamps.found_well(seen)
        return kept

    def has_changed(self, session: Session) -> bool:
        """Whether there may be something to do in its folder. False is certain."""
        return not self._is_as_left(session, self._stamps_of(session).look())

    def _is_as_left(self, session: Session, seen: Stamps) -> bool:
        return not session.index_stale and self._stamps_of(session).are_known(seen) and not _has_file(self._half_said)

    def _stamps_of(self, session: Session) -> FolderStamps:
        if session.name not in self._stamps:
            self._stamps[session.name] = FolderStamps(session.places, session.roles)
        return self._stamps[session.name]

    def _look_through(self, session: Session, *, ended: bool) -> Kept:
        places = session.ledger.places
        missing = make_folders(places, session.roles)
        texts = self._copies.keep(session)
        missing += texts.restored
        if ended:
            copies.drop_all(session)
        with contextlib.suppress(BadConfig):  # its source is gone, too: the agent has read it long ago
            missing += [f"prompts/{role}.md" for role in briefing.write(session.ledger, None, only_missing=True)]
            self._brief(session)
        stands = index_stands(places.sent_index, session.name)
        if session.index_stale or not stands:
            session.index_stale = False
            rewrite_index(session, places)
            missing += [] if stands else [places.sent_index.name]
        finish_sending(session, self._state)
        about = msgspec.json.encode(_about(session, self._state, ended=ended))
        if not _holds(places.about, about):
            wholefile.write(places.about, about)
        return Kept(missing, texts.lost)

    def _brief(self, session: Session) -> None:
        """Write a new goal into the prompts. Raises `BadConfig`."""
        goal = session.ledger.goal
        if session.name not in self._goals or self._goals[session.name] != goal:
            self._goals[session.name] = goal
            briefing.write(session.ledger, None)

    def forget(self, session: str) -> None:
        """The session has ended, or failed: it is looked through anew should it come again."""
        self._goals.pop(session, None)
        self._copies.forget(session)
        self._stamps.pop(session, None)


def make_folders(places: SessionPlaces, roles: Sequence[str]) -> list[str]:
    """Create what is missing below `.mat/<session>/`. Returns the names of what was."""
    folders = [places.root, places.handoffs, places.prompts]
    folders += [places.spool(role) / part for role in roles for part in spool.PARTS]
    absent = [folder for folder in folders if not os.path.isdir(folder)]  # noqa: PTH112 - looked at all the time
    for folder in absent:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    missing = [str(folder.relative_to(places.root.parent)) for folder in absent]
    ignore = places.root / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    return missing


def index_stands(index: Path, session: str) -> bool:
    """Whether the index is there and is this session's."""
    try:
        with index.open("rb") as f:
            head = json.loads(f.readline())
    except (OSError, ValueError):
        return False
    return isinstance(head, dict) and head.get("session") == session


def forget_relays(places: SessionPlaces) -> None:
    """Drop the index of a session that begins: what another of its name has sent was never sent in this one.

    Called before anything of it is journalled, so that a crash leaves no index that is not its own. Raises `OSError`.
    """
    places.sent_index.unlink(missing_ok=True)


def rewrite_index(session: Session, places: SessionPlaces) -> None:
    """Write the index of relays anew from the journal, under its lock."""
    lines: list[dict[str, Any]] = [{"v": 1, "session": session.name}]
    cycle = None
    for entry in session.book.journal.entries(names=["relay.sent", "cycle.opened", "cycle.completed", "cycle.blocked"]):
        if entry.name == "cycle.opened":
            cycle = entry.data["cycle"]
        elif entry.name != "relay.sent":
            cycle = None if entry.data["cycle"] == cycle else cycle
        else:
            keys = ("seq", "id", "from", "to", "kind", "digest")
            lines.append({**{key: entry.data.get(key) for key in keys}, "cycle": cycle})
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    with said_index.Lock(str(places.root)):
        wholefile.write(places.sent_index, text.encode())


def finish_sending(session: Session, state: StatePlaces) -> None:
    """Publish what a sender that was killed has numbered and not yet handed over."""
    if _half_sent(session, state):
        root = str(session.places.root)
        with said_index.Lock(root), said_index.read(root, session.name) as index:
            said_sent.finish(root, index, [str(state.spool)])


def _half_sent(session: Session, state: StatePlaces) -> bool:
    """Whether a sender is at work, or was killed at it."""
    folders = [state.spool, *(session.places.spool(role) for role in session.roles)]
    return any(_has_file(folder / "tmp") for folder in folders)


def _holds(file: Path, data: bytes) -> bool:
    try:
        return file.read_bytes() == data
    except OSError:
        return False


def _has_file(folder: Path) -> bool:
    try:
        return bool(os.listdir(folder))  # noqa: PTH208 - looked at all the time
    except OSError:
        return False


def _about(session: Session, state: StatePlaces, *, ended: bool) -> dict[str, Any]:
    ledger = session.ledger
    handoff = ledger.config.get("handoff") or {}
    workdir = Path(ledger.workdir)
    return {
        "v": 1,
        "session": session.name,
        "workdir": ledger.workdir,
        "state_dir": str(state.root),
        "roles": [
            {"name": name, "dir": str(role.get("dir") or workdir)} for name, role in ledger.config["roles"].items()
        ],
        "require": list(handoff.get("require") or []),
        "commands": list(handoff.get("commands") or []),
        "max_blocks": handoff.get("max_blocks", 3),
        "cycle": {"id": ledger.cycle, "goal": ledger.goal} if ledger.cycle else None,
        "frontier": ledger.frontier,
        "ended": ended or ledger.ended,
    }
