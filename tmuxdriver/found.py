"""The agent session that a text of ours landed in, for a program that tells its id to nobody: read where the program
keeps what it was told.

The file is the program's and may be large, locked, of another version, or not there: then nothing is found, and an
agent that ends is begun anew. It is opened for reading only.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from tmuxdriver.profile import Finds

_LOCKED_S = 0.2


def agent_session(finds: Finds, text: str, since_s: float) -> str | None:
    """The id of the one agent session in which `text` was submitted after `since_s` (Unix time).

    None when there is none, or several.
    """
    ids = {name for path in _files(finds) for name in _asked(path, finds.query, text, since_s)}
    return ids.pop() if len(ids) == 1 else None


def _files(finds: Finds) -> list[Path]:
    paths = [Path(os.path.expandvars(text)).expanduser() for text in finds.file]
    return list(dict.fromkeys(path for path in paths if path.is_absolute() and path.is_file()))


def _asked(path: Path, query: str, text: str, since_s: float) -> list[str]:
    values = {"text": text, "since_ms": int(since_s * 1000)}
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_LOCKED_S)) as store:
            return [str(row[0]) for row in store.execute(query, values)]
    except sqlite3.Error:
        return []
