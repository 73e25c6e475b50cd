"""A role's inbox: `pending → claimed → done`, each step one rename. Look into it with `ls` and `jq`.

Names begin with the time of sending, so that the order of names is the order of sending. What is no envelope goes to
`aside/` with its reason. Files are written under `tmp/` and renamed; temporary and hidden names are nobody's.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from baton.envelope import MAX_BYTES, Envelope, EnvelopeError, decode
from matcore.places import SessionPlaces
from matcore.spoolfile import sync_folder, write_new

PARTS = ("tmp", "pending", "claimed", "done", "aside")
KEPT = 1000
KEPT_S = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Claim:
    """A message that was taken out of `pending`. `again`: it had been claimed before by a worker that died."""

    name: str
    envelope: Envelope
    again: bool = False


class Mailbox:
    """One role's. Any number of processes may put; one worker takes."""

    def __init__(self, places: SessionPlaces, role: str) -> None:
        self.role = role
        self.root = places.root / "mailbox" / role
        self.inbox = self.root / "inbox"

    def make(self) -> None:
        for part in PARTS:
            (self.inbox / part).mkdir(mode=0o700, parents=True, exist_ok=True)

    def put(self, envelope: Envelope) -> str:
        """Deliver: whole or not at all, durable when this returns. Returns the name of the file."""
        name = f"{time.time_ns():020d}-{envelope.delivery or envelope.message_id}.json"
        staged = self.inbox / "tmp" / name
        write_new(str(staged), envelope.encode())
        staged.rename(self.inbox / "pending" / name)
        sync_folder(str(self.inbox / "pending"))
        return name

    def withdraw(self, name: str) -> bool:
        """Take a delivery back that nobody has claimed. False: it is too late for that."""
        try:
            (self.inbox / "pending" / name).rename(self.inbox / "tmp" / name)
        except FileNotFoundError:
            return False
        (self.inbox / "tmp" / name).unlink(missing_ok=True)
        return True

    def is_pending(self, name: str) -> bool:
        return (self.inbox / "pending" / name).exists()

    def pending(self) -> list[str]:
        """Names in the order of sending."""
        return _names(self.inbox / "pending")

    def abandoned(self) -> Iterator[Claim]:
        """What a worker that died had claimed, oldest first."""
        for name in _names(self.inbox / "claimed"):
            claim = self._read("claimed", name, again=True)
            if claim is not None:
                yield claim

    def claim(self) -> Claim | None:
        """The oldest message, now claimed; None without one. What is no envelope is set aside on the way."""
        for name in self.pending():
            claim = self._read("pending", name, again=False)
            if claim is None:
                continue
            try:
                (self.inbox / "pending" / name).rename(self.inbox / "claimed" / name)
            except FileNotFoundError:
                continue
            if claim.envelope.is_ours or not self._was_done(claim.envelope.message_id):
                return claim
            self.finish(name)
        return None

    def finish(self, name: str) -> None:
        """It was dealt with. Again is nothing."""
        with contextlib.suppress(FileNotFoundError):
            (self.inbox / "claimed" / name).rename(self.inbox / "done" / name)

    def tidy(self) -> None:
        """Forget what was done long ago, or is more than a mailbox needs to hold."""
        done = self.inbox / "done"
        names = _names(done)
        oldest_ns = time.time_ns() - int(KEPT_S * 1e9)
        for name in names[: max(0, len(names) - KEPT)] + [n for n in names[-KEPT:] if _sent_ns(n) < oldest_ns]:
            (done / name).unlink(missing_ok=True)

    def _was_done(self, message_id: str) -> bool:
        """Whether a message of that id, put here by somebody else, was taken up before."""
        for name in _names(self.inbox / "done"):
            with contextlib.suppress(EnvelopeError, OSError):
                known = decode((self.inbox / "done" / name).read_bytes())
                if not known.is_ours and known.message_id == message_id:
                    return True
        return False

    def _read(self, part: str, name: str, *, again: bool) -> Claim | None:
        path = self.inbox / part / name
        try:
            return Claim(name, decode(_content(path)), again)
        except FileNotFoundError:
            return None
        except (EnvelopeError, OSError) as error:
            self._set_aside(path, str(error))
            return None

    def _set_aside(self, path: Path, reason: str) -> None:
        target = self.inbox / "aside" / f"{time.time_ns():020d}"
        with contextlib.suppress(OSError):
            path.rename(target)
            target.with_name(f"{target.name}.reason").write_text(f"{reason}\n", encoding="utf-8")


def _content(path: Path) -> bytes:
    """A regular file of ours, of a bearable size; never a link, a pipe or somebody else's. Raises `EnvelopeError`."""
    about = path.lstat()
    if not stat.S_ISREG(about.st_mode):
        raise EnvelopeError("it is no regular file")
    if about.st_uid != os.getuid():
        raise EnvelopeError("it belongs to another user")
    if about.st_size > MAX_BYTES:
        raise EnvelopeError(f"it has {about.st_size} bytes, {MAX_BYTES} at most")
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        return file.read(MAX_BYTES + 1)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208 - names, not paths
    except FileNotFoundError:
        return []


def _sent_ns(name: str) -> int:
    head = name.partition("-")[0]
    return int(head) if head.isdecimal() else time.time_ns()
