"""A role's inbox: `pending → claimed → done`, each step one rename. Look into it with `ls` and `jq`.

Names begin with the time of sending, so that the order of names is the order of sending: a new one is above each of
ours that waits, wherever the clock has gone meanwhile. A name in the future that is not ours, by its content too, is
passed over there. One that was forged whole has ours stand behind it while any of them waits, and no longer.

What is no envelope goes to `aside/` with its reason. Files are written under `tmp/` and renamed; hidden names are
nobody's.

Anybody may put an envelope into `pending/`. It is ours when it is to this role and its name is the one that `put` gives
to its delivery; a copy of ours under another name, or from another role's mailbox, is somebody's own word.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from baton import retention
from baton.envelope import MAX_BYTES, Envelope, EnvelopeError, decode
from matcore.places import SessionPlaces
from matcore.spoolfile import make_folder, sync_folder, write_new

PARTS = ("tmp", "pending", "claimed", "done", "aside")
_NO_LATER_NS = 9 * 10**19
"""A name beyond this was not made by us: no clock shows it, and above it the digits of a name would run out."""
_OURS = re.compile(r"(\d{20})-([0-9a-f]{32})\.json")
_TIMED = re.compile(r"(\d{16,20})-")


@dataclass(frozen=True, slots=True)
class Claim:
    """A message that was taken out of `pending`.

    `ours`: mat delivered it. `again`: a worker that died had claimed it before.
    """

    name: str
    envelope: Envelope
    ours: bool
    again: bool = False

    @property
    def id(self) -> str:
        """What no other message has: one that is met twice was copied."""
        return str(self.envelope.delivery) if self.ours else f"by-hand {self.envelope.message_id}"


class Mailbox:
    """One role's. Any number of processes may put; one worker takes."""

    def __init__(
        self, places: SessionPlaces, role: str, on_aside: Callable[[str, str], None] = lambda _name, _reason: None
    ) -> None:
        """`on_aside` is told the name of each file that is set aside, and why."""
        self.role = role
        self._on_aside = on_aside
        self.root = places.root / "mailbox" / role
        self.inbox = self.root / "inbox"
        self._done: dict[str, None] | None = None

    def make(self) -> None:
        for part in PARTS:
            make_folder(str(self.inbox / part))

    def put(self, envelope: Envelope) -> str:
        """Deliver: whole or not at all, durable when this returns. Returns the name of the file.

        Raises `OSError`; it is not delivered then.
        """
        self.make()
        name = f"{self._next_ns():020d}-{envelope.delivery or uuid.uuid4().hex}.json"
        staged = self.inbox / "tmp" / name
        write_new(str(staged), envelope.encode())
        staged.rename(self.inbox / "pending" / name)
        try:
            sync_folder(str(self.inbox / "pending"))
        except OSError:
            if self.withdraw(name):
                raise
            # A worker has claimed it already: it is delivered.
        return name

    def withdraw(self, name: str) -> bool:
        """Take a delivery back that nobody has claimed. False: it is too late for that."""
        try:
            (self.inbox / "pending" / name).rename(self.inbox / "tmp" / name)
        except FileNotFoundError:
            return False
        (self.inbox / "tmp" / name).unlink(missing_ok=True)
        return True

    def was_claimed(self, name: str) -> bool:
        """Whether a worker has taken that delivery, as far as what it has done is still kept."""
        return any((self.inbox / part / name).exists() for part in ("claimed", "done"))

    def pending(self) -> list[str]:
        """Names in the order of sending; where a name doesn't tell, by the age of the file."""
        folder = self.inbox / "pending"
        return sorted(_names(folder), key=lambda name: (_age_ns(folder, name), name))

    def abandoned(self) -> list[Claim]:
        """What a worker that died had claimed, oldest first."""
        claims = (self._read("claimed", name, again=True) for name in _names(self.inbox / "claimed"))
        return [claim for claim in claims if claim is not None]

    def claim(self) -> Claim | None:
        """The oldest message, now claimed; None without one. What is no envelope is set aside on the way, and what
        was dealt with before is done."""
        for name in self.pending():
            found = self._read("pending", name, again=False)
            claim = None if found is None else self._claimed(found)
            if claim is None:
                continue
            if not self.is_done(claim):
                return claim
            self.finish(claim)
        return None

    def is_done(self, claim: Claim) -> bool:
        """Whether a message of its id was dealt with before."""
        return claim.id in self._known()

    def finish(self, claim: Claim) -> None:
        """It was dealt with. Again is nothing.

        Raises `OSError` where it can't be moved to `done`. It is set aside then, for nobody may deal with it again.
        """
        self._known()[claim.id] = None
        path = self.inbox / "claimed" / claim.name
        try:
            self._move(path, self.inbox / "done" / claim.name)
        except OSError as error:
            self.put_aside(path, f"it was dealt with, but could not be moved to done: {error.strerror}")
            raise

    def set_aside(self, claim: Claim, reason: str) -> None:
        """Nobody can deal with it. Its id is not done: another message of that id may be better."""
        self.put_aside(self.inbox / "claimed" / claim.name, reason)

    def put_aside(self, path: Path, reason: str) -> None:
        """Take a file out of the way, and say why. One that can't be moved stays."""
        target = self.inbox / "aside" / f"{time.time_ns():020d}"
        with contextlib.suppress(OSError):
            if self._move(path, target):
                self._on_aside(path.name, reason)
                write_new(str(retention.reason_of(target)), f"{reason}\n".encode())

    def empty(self, reason: str) -> None:
        """Nobody will deal with what waits or was claimed: it is set aside."""
        for part in ("claimed", "pending"):
            for name in _names(self.inbox / part):
                self.put_aside(self.inbox / part / name, reason)

    def tidy(self) -> None:
        """Forget what was done or set aside long ago, or is more than a mailbox needs to hold."""
        retention.tidy(self.inbox / part for part in ("done", "aside"))
        known = self._known()
        while len(known) > 2 * retention.KEPT:
            del known[next(iter(known))]

    def _next_ns(self) -> int:
        """Now, or right above the highest name of ours that waits."""
        now_ns = time.time_ns()
        for name in reversed(_names(self.inbox / "pending")):
            match = _OURS.fullmatch(name)
            if match is None or int(match[1]) > _NO_LATER_NS:
                continue
            if int(match[1]) < now_ns:
                break
            with contextlib.suppress(EnvelopeError, OSError):
                if self._as_claim(name, _content(self.inbox / "pending" / name), again=False).ours:
                    return int(match[1]) + 1
        return now_ns

    def _known(self) -> dict[str, None]:
        """The ids of what was done, as far as it is still kept, oldest first."""
        if self._done is None:
            self._done = {}
            for name in _names(self.inbox / "done"):
                with contextlib.suppress(EnvelopeError, OSError):
                    self._done[self._as_claim(name, _content(self.inbox / "done" / name), again=False).id] = None
        return self._done

    def _claimed(self, found: Claim) -> Claim | None:
        """Moved to `claimed`; what somebody put here gets a name of ours, for theirs may be any."""
        pending, name = self.inbox / "pending", found.name
        if not found.ours:
            name = f"{_age_ns(pending, name):020d}-by-hand-{uuid.uuid4().hex[:8]}.json"
        if not self._move(pending / found.name, self.inbox / "claimed" / name):
            return None
        if not found.ours:
            with contextlib.suppress(OSError):  # it is kept from now on, however old it was when it was put here
                os.utime(self.inbox / "claimed" / name)
        return Claim(name, found.envelope, found.ours)

    def _read(self, part: str, name: str, *, again: bool) -> Claim | None:
        path = self.inbox / part / name
        try:
            return self._as_claim(name, _content(path), again=again)
        except FileNotFoundError:
            return None
        except (EnvelopeError, OSError) as error:
            self.put_aside(path, str(error))
            return None

    def _move(self, path: Path, target: Path) -> bool:
        """Where somebody has removed the folder, it is made again. False: the file is not there any more."""
        for make in (self.make, lambda: None):
            try:
                path.rename(target)
            except FileNotFoundError:
                make()
            else:
                return True
        return False

    def _as_claim(self, name: str, raw: bytes, *, again: bool) -> Claim:
        envelope = decode(raw)
        match = _OURS.fullmatch(name)
        ours = match is not None and match[2] == envelope.delivery and envelope.to == self.role
        return Claim(name, envelope, ours, again)


def _content(path: Path) -> bytes:
    """A regular file of ours, of a bearable size; never a link, a pipe or somebody else's.

    Raises `EnvelopeError`, `OSError`.
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        raise EnvelopeError("it is no regular file")
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise EnvelopeError("it is no regular file")
        if about.st_uid != os.getuid():
            raise EnvelopeError("it belongs to another user")
        return file.read(MAX_BYTES + 1)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208 - names, not paths
    except (FileNotFoundError, NotADirectoryError):
        return []


def _sent_ns(name: str) -> int | None:
    """The time of sending that a name tells."""
    match = _TIMED.match(name)
    return int(match[1]) if match else None


def _age_ns(folder: Path, name: str) -> int:
    sent_ns = _sent_ns(name)
    if sent_ns is not None:
        return sent_ns
    try:
        return (folder / name).lstat().st_mtime_ns
    except OSError:
        return time.time_ns()
