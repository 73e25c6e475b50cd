"""Writes a file whole or not at all: beside its place, then renamed into it.

Not for spools and handoffs, where `matcore.spoolfile` promises more: nothing that was handed over may be lost.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

from matcore import spoolfile


def write(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Write `path` (0600), whatever it held before. `durable`: a power cut does not tear it either.

    Raises `OSError`; what was there is there then, and nothing is left beside it.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_native_id()}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            spoolfile.write_all(handle, data)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        draft.rename(path)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
