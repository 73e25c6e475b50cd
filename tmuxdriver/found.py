"""The agent session that a text of ours landed in, for a program that tells its id to nobody: read where the program
keeps what it was told.

The file is the program's and may be large, locked, of another version, out of reach, or not there: then nothing is
found, and an agent that ends is begun anew. It is opened for reading only.
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

    None when there is none, or several. Raises nothing.
    """
    ids = {name for file in finds.file for name in _asked(file, finds.query, text, since_s)}
    return ids.pop() if len(ids) == 1 else None


def _asked(file: str, query: str, text: str, since_s: float) -> list[str]:
    values = {"text": text, "since_ms": int(since_s * 1000)}
    try:
        path = Path(os.path.expandvars(file)).expanduser()
        if not path.is_absolute() or not path.is_file():
            return []
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_LOCKED_S)) as store:
            return [str(row[0]) for row in store.execute(query, values)]
    except Exception:  # noqa: BLE001 - whatever is the matter with it, it is another program's, and nothing is found
        return []
