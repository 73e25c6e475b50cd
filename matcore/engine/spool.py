"""The reader's side of the spools: `new/` is emptied oldest first, and what is no record is moved to `aside/`.

Whatever lies in a spool is no error of ours and never stops anything: it becomes a `SetAside` with a reason, which the
loop journals. A folder that somebody cleaned away is made again; one that can't be read says so once, and again only
when it has been readable in between.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from matcore.engine.spoolread import Record, Unfit, read
from matcore.spoolfile import MAX_BYTES, make_folder

PARTS = ("tmp", "new", "aside")
KEPT_ASIDE = 100
SHOWN_CHARACTERS = 120

_said: dict[str, str] = {}
"""The faults that were said and still stand, by path: none is said again at every look."""


@dataclass(frozen=True, slots=True)
class Item:
    """A record to be taken up, and then `done`."""

    id: str
    name: str
    record: Record
    path: Path


@dataclass(frozen=True, slots=True)
class SetAside:
    """A file that is no record, or a spool that can't be read. `name` is fit to be shown."""

    name: str
    reason: str


def make(folder: Path) -> None:
    """The spool's folders, 0700. Those that are there stay as they are."""
    for part in PARTS:
        make_folder(str(folder / part))


def take(folder: Path, owner_uid: int, *, session: str | None = None) -> Iterator[Item | SetAside]:
    """What lies in `folder/new` now, in order of name. Items stay there until `done`.

    `session` where the spool is that of one session. Never raises for what it finds.
    """
    try:
        if not all(_is_folder(place) for place in (folder, folder / "new")):
            _make_room(folder)
            yield SetAside(shown(folder.name), "the spool's folder was gone; it was made again")
        handle = os.open(folder / "new", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        yield from _fault(folder, shown(folder.name), f"the spool can't be read ({error.strerror}): {folder}")
        return
    try:
        names = sorted(os.listdir(handle))  # noqa: PTH208 - by descriptor, so that it is the folder that was opened
        _said.pop(str(folder), None)
        for name in names:
            yield from _one(folder, handle, name, owner_uid, session)
    finally:
        os.close(handle)


def done(item: Item) -> None:
    """It has been taken up: its file goes. Done twice, it does no harm."""
    item.path.unlink(missing_ok=True)


def set_aside(item: Item, reason: str) -> None:
    """It can't be taken up after all. Its file goes to `aside/` with the reason. Done twice, it does no harm."""
    _move(item.path.parent.parent, item.name, reason)


def _one(folder: Path, handle: int, name: str, owner_uid: int, session: str | None) -> Iterator[Item | SetAside]:
    path = folder / "new" / name
    try:
        record = read(handle, name, owner_uid, session)
    except FileNotFoundError:
        return
    except OSError as error:
        yield from _fault(path, shown(name), f"it can't be read ({error.strerror})")
        return
    except Unfit as unfit:
        reason = str(unfit)
        try:
            _move(folder, name, reason)
        except OSError as error:
            yield from _fault(path, shown(name), f"{reason}; and it can't be moved aside ({error.strerror})")
            return
        yield SetAside(shown(name), reason)
        return
    yield Item(str(record["id"]), name, record, path)


def _fault(path: Path, name: str, reason: str) -> Iterator[SetAside]:
    if _said.get(str(path)) != reason:
        _said[str(path)] = reason
        yield SetAside(name, reason)


def _is_folder(place: Path) -> bool:
    try:
        return stat.S_ISDIR(place.lstat().st_mode)
    except FileNotFoundError:
        return False


def _make_room(folder: Path) -> None:
    """The spool's folders. A link in the place of one goes; anything else is moved out of the way."""
    for place in (folder, folder / "new", folder / "aside"):
        if place.is_symlink():
            place.unlink()
        elif place.exists() and not place.is_dir():
            place.rename(place.with_name(f".{place.name}-{time.time_ns()}"))
    make(folder)


def _move(folder: Path, name: str, reason: str) -> None:
    """To `aside/` under a harmless name, with its reason beside it. The oldest there make room."""
    _make_room(folder)
    safe = re.sub(r"[^A-Za-z0-9-]+", "_", name)[:SHOWN_CHARACTERS]
    target = folder / "aside" / f"{time.time_ns():020d}-{safe}"
    try:
        (folder / "new" / name).rename(target)
    except FileNotFoundError:
        return
    about = target.lstat()
    if stat.S_ISREG(about.st_mode) and about.st_size > MAX_BYTES and about.st_nlink == 1:
        with contextlib.suppress(OSError):
            os.truncate(target, MAX_BYTES)
    with contextlib.suppress(OSError):  # a full disk: the reason is journalled all the same
        target.with_name(f"{target.name}.reason").write_text(f"{reason}\n", encoding="utf-8")
    kept = sorted(p for p in (folder / "aside").iterdir() if p.suffix != ".reason")
    for old in kept[:-KEPT_ASIDE]:
        old.with_name(f"{old.name}.reason").unlink(missing_ok=True)
        _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def shown(name: str) -> str:
    """What somebody else has named, on one line and of a bearable length."""
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    return plain if len(plain) <= SHOWN_CHARACTERS else f"{plain[:SHOWN_CHARACTERS]}…"
