"""Where things live on disk: one function or property for each place, and no other module joins such paths.

Standard library only, for `send-relay` and the hooks start hundreds of times a day. Nothing here creates anything.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

CONFIG_FILE = "duo.yaml"
"""In a session's working directory: `mat init` writes it, `mat up` reads it."""


def state_dir() -> Path:
    """`$XDG_STATE_HOME/mat`, by default `~/.local/state/mat`: one for each user and host, 0700.

    One that is not absolute is ignored, as the XDG specification asks for: it would be another in each directory.
    """
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state") / "mat"  # noqa: PTH117 - one look


@dataclass(frozen=True, slots=True)
class StatePlaces:
    """The user's state folder. Agents can't reach it from inside their sandboxes."""

    root: Path

    @property
    def lock(self) -> Path:
        return self.root / "supervisor.lock"

    @property
    def heartbeat(self) -> Path:
        return self.root / "supervisor.json"

    @property
    def log(self) -> Path:
        return self.root / "supervisor.log"

    @property
    def guard_lock(self) -> Path:
        return self.root / "guard.lock"

    @property
    def channels(self) -> Path:
        """The notification channels of all sessions, for the guard."""
        return self.root / "channels.json"

    @property
    def told(self) -> Path:
        """What was told of the host as a whole, so that it is told once."""
        return self.root / "told.json"

    @property
    def ballast(self) -> Path:
        return self.root / "ballast"

    @property
    def spool(self) -> Path:
        """What humans and hooks say: `tmp/`, `new/`, `aside/` below it."""
        return self.root / "spool"

    @property
    def sessions(self) -> Path:
        return self.root / "sessions"

    def session(self, session: str) -> Path:
        return self.sessions / session

    def journal(self, session: str) -> Path:
        return self.session(session) / "journal.db"


@dataclass(frozen=True, slots=True)
class SessionPlaces:
    """`<workdir>/.mat/<session>/`: all that an agent can write to."""

    root: Path

    @classmethod
    def of(cls, workdir: Path, session: str) -> SessionPlaces:
        return cls(workdir / ".mat" / session)

    def spool(self, role: str) -> Path:
        """`tmp/`, `new/`, `aside/` below it."""
        return self.root / "spool" / role

    @property
    def handoffs(self) -> Path:
        """The content of each relay as it was sent, `<sha256>.md`."""
        return self.root / "handoffs"

    @property
    def prompts(self) -> Path:
        return self.root / "prompts"

    @property
    def about(self) -> Path:
        """`session.json`: what `send-relay` must know. Rewritten whole by the loop only."""
        return self.root / "session.json"

    @property
    def sent_index(self) -> Path:
        return self.root / "sent.index"
