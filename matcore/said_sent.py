"""Gives each relay its number and hands it over, so that a kill at any point loses nothing and repeats nothing.

In this order, each step durable before the next begins; all but the first under the lock of `sent.index`:

1. `keep`: the content goes to `handoffs/<sha256>.md`. Killed after it: a file that nothing names.
2. `stage`: the whole record goes to `tmp/` of the sender's spool. Killed after it: a file that nothing names.
3. `note`: the relay's line, with the name of the staged file, is appended to `sent.index`. **This is the sending**: a
   line counts once its newline is there. A torn line is cut off by the next sender; the number was never used.
4. `publish`: the staged file is renamed into `new/`. Killed before it: the line names a file that is still in `tmp/`,
   and whoever holds the lock next renames it (`finish`), the same sender's second try before anything else; that try
   then says `already sent`.

The other order (spool before index) would give one number to two relays; the index alone before the spool would answer
`already sent` for a relay that nobody ever gets. A step that fails (a full disk) has the line taken back, then the
staged file, and nothing was sent.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable

from matcore import spoolfile
from matcore.said_index import Index, Lock, index_path, message_id, read

LONGEST_BODY = 1024 * 1024
"""Characters that a record carries beside its file. Only an answer of the human may be longer."""


class Draft:
    """A relay that has no number yet. `spool` is the sender's; `source` the path as the sender named it; `answers` the
    id of the question that it answers."""

    __slots__ = ("answers", "cycle", "kind", "seen", "sender", "session", "source", "spool", "text", "to", "warnings")

    def __init__(
        self,
        *,
        session: str,
        spool: str,
        sender: str,
        to: str,
        text: str,
        kind: str = "request",
        cycle: str | None = None,
        seen: int | None = None,
    ) -> None:
        self.session = session
        self.spool = spool
        self.sender = sender
        self.to = to
        self.text = text
        self.kind = kind
        self.cycle = cycle
        self.seen = seen
        self.source: str | None = None
        self.answers: str | None = None
        self.warnings: list[str] = []

    @property
    def digest(self) -> str:
        """The SHA-256 of its text, in hex: with `.md` the name of its copy among the handoffs."""
        return hashlib.sha256(self.text.encode()).hexdigest()


class Sent:
    """What became of a draft: its number, and whether it is new or was sent before."""

    __slots__ = ("fresh", "message_id", "seq")

    def __init__(self, message_id: str, seq: int, *, fresh: bool) -> None:
        self.message_id = message_id
        self.seq = seq
        self.fresh = fresh


def send(root: str, draft: Draft, *, again: bool) -> Sent:
    """Number and hand over one relay. Raises `Refused` and `OSError`; nothing was sent then.

    `again`: also where the same content was sent before and nothing has come back since.
    """
    digest = draft.digest
    path = keep(root, digest, draft.text)
    with Lock(root), read(root, draft.session) as index:
        finish(root, index, [draft.spool])
        before = None if again else _already(index, draft)
        if before is not None:
            return Sent(str(before["id"]), int(str(before["seq"])), fresh=False)
        return _hand_over(root, draft, index.highest + 1, digest, path)


def _hand_over(root: str, draft: Draft, seq: int, digest: str, path: str) -> Sent:
    record = _record(draft, seq, digest, path)
    name = stage(draft.spool, record)
    before = os.stat(index_path(root)).st_size
    try:
        note(root, _line(draft, seq, digest, name))
        publish(draft.spool, name)
    except OSError:
        if not _staged(draft.spool, name):  # It is in `new/`; only the last sync failed.
            return Sent(message_id(seq), seq, fresh=True)
        os.truncate(index_path(root), before)
        spoolfile.discard(draft.spool, name)
        raise
    return Sent(message_id(seq), seq, fresh=True)


def keep(root: str, digest: str, text: str) -> str:
    """Step 1. Returns the absolute path of the copy. A copy that is already there is used again when it is whole."""
    path = os.path.join(root, "handoffs", f"{digest}.md")
    data = text.encode()
    try:
        with open(path, "rb") as file:
            whole = file.read(len(data) + 1) == data
    except FileNotFoundError:
        whole = False
    if not whole:
        spoolfile.replace(path, data)
    return path


def stage(spool: str, record: dict[str, object]) -> str:
    """Step 2. Returns the name of the staged file."""
    name = spoolfile.stage(spool, record)
    spoolfile.settle(spool)
    return name


def note(root: str, line: bytes) -> None:
    """Step 3."""
    handle = os.open(index_path(root), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        spoolfile.write_all(handle, line)
        os.fsync(handle)
    finally:
        os.close(handle)


def publish(spool: str, name: str) -> None:
    """Step 4."""
    spoolfile.publish(spool, name)


def finish(root: str, index: Index, spools: Iterable[str] = ()) -> None:
    """Publish what an earlier sender, killed before step 4, has left in `tmp/` of any role's spool or of `spools`.

    The lock is held.
    """
    for spool in {*_spools(root), *spools}:
        try:
            names = os.listdir(os.path.join(spool, "tmp"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        for name in sorted(names):
            if index.names(name):
                publish(spool, name)


def _staged(spool: str, name: str) -> bool:
    return os.path.exists(os.path.join(spool, "tmp", name))


def _already(index: Index, draft: Draft) -> dict[str, object] | None:
    """The line of the same content to the same role, while that role has handed nothing back since."""
    same = (draft.sender, draft.to, draft.digest, draft.kind, draft.cycle)
    for entry in index.entries(draft.digest, f'"from":"{draft.to}"'):
        if (entry.get("from"), entry.get("to"), entry.get("kind")) == (draft.to, draft.sender, "request"):
            return None
        if tuple(entry.get(key) for key in ("from", "to", "digest", "kind", "cycle")) == same:
            return entry
    return None


def _record(draft: Draft, seq: int, digest: str, path: str) -> dict[str, object]:
    """The envelope `baton.message/v1` with our keys beside it."""
    return spoolfile.completed(
        {
            "session": draft.session,
            "fact": "relay.sent",
            "schema": "baton.message/v1",
            "message_id": message_id(seq),
            "conversation_id": draft.cycle,
            "from": draft.sender,
            "to": draft.to,
            "in_reply_to": message_id(draft.seen) if draft.seen else None,
            "kind": draft.kind,
            "seq": seq,
            "seen": draft.seen,
            "digest": digest,
            "path": path,
            "source": draft.source,
            "warnings": draft.warnings,
            "body": draft.text if len(draft.text) <= LONGEST_BODY else None,
            **({"answers": draft.answers} if draft.answers else {}),
        }
    )


def _line(draft: Draft, seq: int, digest: str, name: str) -> bytes:
    entry = {
        "seq": seq,
        "id": message_id(seq),
        "from": draft.sender,
        "to": draft.to,
        "kind": draft.kind,
        "digest": digest,
        "cycle": draft.cycle,
        "spool": name,
    }
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"


def _spools(root: str) -> list[str]:
    base = os.path.join(root, "spool")
    try:
        return [os.path.join(base, role) for role in os.listdir(base)]
    except FileNotFoundError:
        return []
