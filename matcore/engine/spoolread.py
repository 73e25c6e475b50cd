"""Reading one file of a spool, which may be anything: a record, or the reason why it is none.

Agents can write to their spool whatever they like. A file is opened without following a link and without waiting (a
FIFO blocks for ever), and is looked at by its descriptor, so that it can't be changed for another one meanwhile.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from typing import NoReturn

from matcore.spoolfile import MAX_BYTES

MAX_DEPTH = 32
_NOT_TO_BE_OPENED = {
    errno.ELOOP: "it is a link",
    errno.EACCES: "there is no permission to read it",
    errno.EPERM: "there is no permission to read it",
    errno.ENXIO: "it is no regular file",
    errno.ENODEV: "it is no regular file",
}
_NAME = re.compile(r"\d{20}-(?P<id>[0-9a-f]{32})\.json")
_SESSION = re.compile(r"[a-z][a-z0-9-]{0,31}")

Record = dict[str, object]


class Unfit(Exception):
    """What lies in a spool can't be taken up, for what it is or for what it says. Its text is the reason."""


def read(folder: int, name: str, owner_uid: int, session: str | None) -> Record:
    """The record in the file `name` of the open directory `folder`.

    Raises `Unfit`, `FileNotFoundError` when it is gone, and `OSError` when the disk or the folder fails.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise Unfit("its name is not that of a record")
    record = _parsed(_content(folder, name, owner_uid))
    if record.get("v") != 1 or isinstance(record.get("v"), bool):
        raise Unfit("it is of another version (v is not 1)")
    if record.get("id") != match["id"]:
        raise Unfit("its id is not that of its name")
    if not isinstance(record.get("ts_ms"), int):
        raise Unfit("it does not say when it was written (ts_ms)")
    said = record.get("session")
    if session is not None and said != session:
        raise Unfit(f"it is of another session, not of {session}")
    if said is not None and not (isinstance(said, str) and _SESSION.fullmatch(said)):
        raise Unfit("its session is no name")
    if sum(isinstance(record.get(sort), str) for sort in ("fact", "request", "record")) != 1:
        raise Unfit("it is not one fact, request or record")
    return record


def _content(folder: int, name: str, owner_uid: int) -> bytes:
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno in _NOT_TO_BE_OPENED:
            raise Unfit(_NOT_TO_BE_OPENED[error.errno]) from error
        raise
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise Unfit("it is no regular file")
        if about.st_uid != owner_uid:
            raise Unfit("it is owned by another user")
        if about.st_nlink > 1:
            raise Unfit("it is a second name of another file")
        if about.st_size > MAX_BYTES:
            raise Unfit(f"it has {about.st_size} bytes, {MAX_BYTES} at most")
        with os.fdopen(os.dup(handle), "rb") as file:
            data = file.read(MAX_BYTES + 1)
    finally:
        os.close(handle)
    if len(data) > MAX_BYTES:
        raise Unfit(f"it has more than {MAX_BYTES} bytes")
    return data


def _parsed(data: bytes) -> Record:
    try:
        record = json.loads(data.decode("utf-8"), parse_constant=_no_number)
        # What can't be written again could not be journalled: infinities (1e999), half a surrogate pair.
        json.dumps(record, allow_nan=False, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise Unfit("it is not UTF-8") from error
    except UnicodeEncodeError as error:
        raise Unfit("it holds half a character") from error
    except RecursionError as error:
        raise Unfit("it is nested too deep") from error
    except ValueError as error:
        raise Unfit(f"it is not JSON ({str(error)[:100]})") from error
    if not isinstance(record, dict):
        raise Unfit("it is not a JSON object")
    if _deeper_than(record, MAX_DEPTH):
        raise Unfit("it is nested too deep")
    return record


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _deeper_than(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels < 0 or any(_deeper_than(item, levels - 1) for item in inner)
