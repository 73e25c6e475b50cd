"""Takes a handoff from disk: only a regular, readable text file that lies where this role may hand over from."""

from __future__ import annotations

import os
import stat

from matcore.errors import Refused
from matcore.said_blocks import LONGEST_PATH, shown
from matcore.said_here import Seat

MAX_BYTES = 1024 * 1024


def load(seat: Seat, name: str) -> str:
    """The text of the handoff `name`. Raises `Refused` with what is wrong and how to mend it."""
    if len(os.fsencode(os.path.abspath(name))) > LONGEST_PATH:
        raise _refused(name, "its path is too long: copy it to a shorter one")
    path = os.path.realpath(name)
    allowed = [os.path.realpath(folder) for folder in (seat.roles[seat.role], seat.workdir, seat.root) if folder]
    # What `realpath` led to is looked for, not the name: behind a folder that is missing `..` leads out all the same.
    if os.path.lexists(path) and not any(os.path.commonpath([path, folder]) == folder for folder in allowed):
        led = "is a link that leads to" if os.path.islink(name) else "is"
        raise _refused(
            name, f"{led} {path}, outside of {' and '.join(dict.fromkeys(allowed))}: copy it into one of them"
        )
    return _decoded(name, _content(name, path))


def _content(name: str, path: str) -> bytes:
    try:
        # Without O_NONBLOCK a FIFO would hold the agent for ever.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise _refused(name, f"there is no such file (looked in {os.getcwd()}): write the handoff first") from None
    except OSError as error:
        raise _refused(name, f"it can't be read ({error.strerror}): write the handoff to a file of yours") from error
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
            raise _refused(name, f"it is {what}: name a Markdown file with the handoff")
        with open(handle, "rb", closefd=False) as file:
            data = file.read(MAX_BYTES + 1)
    finally:
        os.close(handle)
    if len(data) > MAX_BYTES:
        raise _refused(name, "it is larger than 1 MiB: send a summary that names the large files by their paths")
    return data


def _decoded(name: str, data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refused(name, f"it is not UTF-8 (byte {error.start + 1}): save it as UTF-8 text") from error
    if "\0" in text:
        raise _refused(name, "it holds NUL bytes: a handoff is text, name other files by their paths")
    return text


def _refused(name: str, why: str) -> Refused:
    return Refused(f"{shown(name)}: {why}")
