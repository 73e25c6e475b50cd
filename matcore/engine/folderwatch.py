"""Says at once in which of some folders something has changed, and costs nothing while nothing does.

By inotify where the system has it. `watchfiles`, which is used elsewhere, looks a hundred times a second to be as quick
as a tenth of that: with it a headless turn started 30 ms later, and waiting for one took more than watching 50 panes.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import logging
import os
import select
import struct
from collections.abc import Iterable, Iterator

_CREATE, _MOVED_TO, _DELETE_SELF, _MOVE_SELF, _ONLY_FOLDERS = 0x100, 0x80, 0x400, 0x800, 0x0100_0000
_MASK = _CREATE | _MOVED_TO | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS
_OVERFLOW = 0x4000
_HEAD = struct.Struct("iIII")
_BYTES = 64 * 1024
_LIMITS = {errno.ENOSPC: "fs.inotify.max_user_watches", errno.EMFILE: "fs.inotify.max_user_instances"}
STEP_MS = 10

_libc = ctypes.CDLL(None, use_errno=True)


class Bell:
    """As `threading.Event`, but it can be waited for together with folders, and rung in a signal's handler."""

    def __init__(self) -> None:
        self._heard, self._rung = os.pipe()
        os.set_blocking(self._heard, False)
        os.set_blocking(self._rung, False)

    def __del__(self) -> None:
        os.close(self._heard)
        os.close(self._rung)

    def fileno(self) -> int:
        return self._heard

    def set(self) -> None:
        with contextlib.suppress(BlockingIOError):  # it rings already
            os.write(self._rung, b".")

    def clear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._heard, _BYTES):
                pass

    def is_set(self) -> bool:
        return self.wait(0)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Whether it rings, now or within that time."""
        return bool(_poll_of(self).poll(None if timeout_s is None else timeout_s * 1000))


def watch(folders: Iterable[str], *, timeout_s: float, stop: Bell) -> Iterator[set[str]]:
    """The folders in which something was made or moved, or that are gone; none where nothing came for `timeout_s`.

    Ends when `stop` rings. Raises `OSError`: a folder is not there, or the host gives no watch.
    """
    return (_heard if hasattr(_libc, "inotify_init1") else _looked)(list(folders), timeout_s, stop)


def _heard(folders: list[str], timeout_s: float, stop: Bell) -> Iterator[set[str]]:
    handle = _called(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), "inotify")
    try:
        names: dict[int, set[str]] = {}
        for folder in folders:
            number = _called(_libc.inotify_add_watch(handle, os.fsencode(folder), _MASK), folder)
            names.setdefault(number, set()).add(folder)
        poll = _poll_of(stop)
        poll.register(handle, select.POLLIN)
        while True:
            ready = poll.poll(timeout_s * 1000)
            if stop.is_set():
                return
            yield _named(os.read(handle, _BYTES), names, folders) if ready else set()
    finally:
        os.close(handle)


def _named(events: bytes, names: dict[int, set[str]], folders: list[str]) -> set[str]:
    found: set[str] = set()
    at = 0
    while at < len(events):
        number, mask, _, length = _HEAD.unpack_from(events, at)
        at += _HEAD.size + length
        found |= set(folders) if mask & _OVERFLOW else names.get(number, set())
    return found


def _looked(folders: list[str], timeout_s: float, stop: Bell) -> Iterator[set[str]]:
    """Where there is no inotify."""
    import watchfiles  # in here: it brings an event loop of its own

    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    try:
        for changes in watchfiles.watch(
            *folders, step=STEP_MS, debounce=STEP_MS, stop_event=stop, recursive=False,
            rust_timeout=int(timeout_s * 1000), yield_on_timeout=True, watch_filter=None, raise_interrupt=False,
        ):  # fmt: skip
            places = {place for _, path in changes for place in (path, os.path.dirname(path))}  # noqa: PTH120
            yield places & set(folders)
    except RuntimeError as error:
        raise OSError(str(error)) from error


def _poll_of(bell: Bell) -> select.poll:
    poll = select.poll()
    poll.register(bell.fileno(), select.POLLIN)
    return poll


def _called(answer: int, what: str) -> int:
    if answer >= 0:
        return answer
    number = ctypes.get_errno()
    if number in _LIMITS:
        raise OSError(number, f"the host's limit is reached; a higher one: sysctl {_LIMITS[number]}")
    raise OSError(number, os.strerror(number), what)
