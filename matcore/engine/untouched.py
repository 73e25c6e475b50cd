"""A launch that is refused leaves the working directory as it was: no prompt, no folder of a session that never was.

An agent has to find its prompt when it starts, so all that is rendered before the driver is asked. What the driver then
refuses has begun nothing, as a rule; but where tmux fails between two roles the first one runs, and reads its prompt.
So the processes are asked, not the kind of error.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator

import psutil

from matcore.errors import MatError
from matcore.places import SessionPlaces


@contextlib.contextmanager
def unless_launched(places: SessionPlaces) -> Iterator[None]:
    """What is made of the session's folder inside of this block is removed again where the block raises `MatError` or
    `OSError`, unless the folder was there before or a process works with it."""
    made = [folder for folder in (places.root, places.root.parent) if not folder.exists()]
    try:
        yield
    except (MatError, OSError):
        if places.root in made and not _is_used(places):
            shutil.rmtree(places.root, ignore_errors=True)
            for folder in made[1:]:
                with contextlib.suppress(OSError):  # another session began there meanwhile
                    folder.rmdir()
        raise


def _is_used(places: SessionPlaces) -> bool:
    """Whether an agent or a worker of this session runs."""
    root = str(places.root)
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("MAT_DIR") == root or root in process.cmdline():
                return True
    return False
