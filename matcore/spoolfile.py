"""Writes one record into a spool, so that a reader finds it whole or not at all.

A spool is a folder with `tmp/` and `new/`. A record is one JSON object in one file: written and synced under `tmp/`,
renamed into `new/`, and the folder synced. Names sort by time and never repeat.

Standard library only and few imports, for each `send-relay`, `notify-user` and hook pays for them; that is also why
paths are strings here: importing `pathlib` costs as much as the rest of this module.
"""

from __future__ import annotations

import json
import os
import time

MAX_BYTES = 8 * 1024 * 1024
"""Room for a handoff of 1 MiB of which every character has to be escaped."""


def write(folder: str | os.PathLike[str], record: dict[str, object]) -> str:
    """Put `record` into the spool `folder` and return its id; it is durable when this returns.

    `v`, `id` and `ts_ms` are filled in where the record has none. Missing folders are created (0700). Raises
    `OSError` (a full disk, no permission) and `ValueError` (larger than MAX_BYTES); nothing is in `new/` then,
    unless it was the last sync that failed.
    """
    full = completed(record)
    publish(folder, stage(folder, full))
    return str(full["id"])


def completed(record: dict[str, object]) -> dict[str, object]:
    """The record with `v`, `id` and `ts_ms`, its own values kept."""
    return {"v": 1, "id": new_id(), "ts_ms": time.time_ns() // 1_000_000, **record}


def stage(folder: str | os.PathLike[str], record: dict[str, object]) -> str:
    """Write a completed record under `tmp/` and sync it. Returns its file name, for `publish` or `discard`.

    The name itself is not yet durable: `settle` makes it so where a staged file must outlive a crash.
    """
    data = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    if len(data) > MAX_BYTES:
        raise ValueError(f"the record has {len(data)} bytes, {MAX_BYTES} at most")
    for part in ("tmp", "new"):
        make_folder(os.path.join(folder, part))
    name = f"{time.time_ns():020d}-{record['id']}.json"
    write_new(os.path.join(folder, "tmp", name), data)
    return name


def settle(folder: str | os.PathLike[str]) -> None:
    """Make the names under `tmp/` durable."""
    sync_folder(os.path.join(folder, "tmp"))


def publish(folder: str | os.PathLike[str], name: str) -> None:
    """Move a staged record into `new/`, where the reader takes it up, and make that durable."""
    os.rename(os.path.join(folder, "tmp", name), os.path.join(folder, "new", name))
    sync_folder(os.path.join(folder, "new"))


def discard(folder: str | os.PathLike[str], name: str) -> None:
    """Forget a staged record."""
    os.unlink(os.path.join(folder, "tmp", name))


def make_folder(path: str) -> None:
    """Create a folder and what is missing above it, each 0700 (`os.makedirs` gives that mode to the last one only)."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        make_folder(path)


def write_new(path: str, data: bytes) -> None:
    """Create the file `path` (0600) with `data` and sync it; on any failure it is gone again."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError:
        os.unlink(path)
        raise


def replace(path: str, data: bytes) -> None:
    """Write the file `path` (0600) whole, whatever it held before; it is durable when this returns.

    Missing folders are created (0700). Raises `OSError`; what was there is there then.
    """
    folder = os.path.dirname(path)
    make_folder(folder)
    draft = os.path.join(folder, f".{new_id()}")
    write_new(draft, data)
    os.rename(draft, path)
    sync_folder(folder)


def write_all(handle: int, data: bytes) -> None:
    """Write all of `data`; a full disk raises `OSError` however little of it fitted."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def sync_folder(path: str) -> None:
    """Make the names in a folder durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def new_id() -> str:
    """A random UUID of version 4 as 32 hex digits, without the cost of importing `uuid`."""
    raw = bytearray(os.urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    return raw.hex()
