"""What an agent session remembers from turn to turn and from launch to launch: which rules were used, and its limits.

Kept in `<folder>/<session>.json`, replaced as a whole at the start of each turn. Without a folder nothing is kept.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from matcore.scripted.script import Script
from matcore.scripted.stage import Ending
from matcore.scripted.steps import EXHAUSTED, Step, limit_ending

_LEGAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class SessionError(Exception):
    """A session that can't be opened or resumed."""


def folder(given: str | None) -> Path | None:
    """`--state`, else `$MAT_DIR/scripted`, else none."""
    if given:
        return Path(given)
    mat_dir = os.environ.get("MAT_DIR")
    return Path(mat_dir) / "scripted" if mat_dir else None


@dataclass(slots=True)
class Memory:
    """`used`: how often each rule was used, by its number. `limited_until`: Unix time, 0 without a limit."""

    session: str
    file: Path | None = None
    turns: int = 0
    used: dict[int, int] = field(default_factory=dict)
    is_exhausted: bool = False
    limited_until: float = 0.0

    @classmethod
    def opened(cls, kept_in: Path | None, session: str | None) -> Memory:
        """A new session, by default with a new id. Raises SessionError when the id is illegal or in use."""
        session = _legal(session or str(uuid.uuid4()))
        file = None if kept_in is None else kept_in / f"{session}.json"
        if file is not None and file.exists():
            message = f"Session ID {session} is already in use. Use --resume {session} to go on with it."
            raise SessionError(message)
        memory = cls(session, file)
        memory.save()
        return memory

    @classmethod
    def resumed(cls, kept_in: Path | None, session: str) -> Memory:
        """Raises SessionError when it is not known; where nothing is kept, it begins anew under the same id."""
        session = _legal(session)
        if kept_in is None:
            return cls(session)
        file = kept_in / f"{session}.json"
        try:
            kept = json.loads(file.read_text(encoding="utf-8"))
            used = {int(rule): int(times) for rule, times in kept["used"].items()}
            return cls(session, file, int(kept["turns"]), used, bool(kept["exhausted"]), float(kept["limited_until"]))
        except FileNotFoundError as error:
            message = f"No conversation found with session ID {session}. Start without --resume."
            raise SessionError(message) from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"The file of session {session} can't be read ({error}). Remove {file}, start without --resume."
            raise SessionError(message) from error

    def pick(self, script: Script, text: str) -> tuple[int | None, tuple[Step, ...]]:
        """The first rule that matches and has budget left, and its steps; the use is counted."""
        for number, rule in enumerate(script.rules):
            used = self.used.get(number, 0)
            if (rule.times is None or used < rule.times) and rule.when.search(text):
                self.used[number] = used + 1
                return number, rule.steps
        return None, script.default

    def refusal(self, wall: float) -> Ending | None:
        """Why no turn can be had now."""
        if self.is_exhausted:
            return EXHAUSTED
        return limit_ending(self.limited_until) if wall < self.limited_until else None

    def save(self) -> None:
        """Raises OSError."""
        if self.file is None:
            return
        kept = {
            "v": 1,
            "session": self.session,
            "turns": self.turns,
            "used": self.used,
            "exhausted": self.is_exhausted,
            "limited_until": self.limited_until,
        }
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        new.write_text(json.dumps(kept), encoding="utf-8")
        new.replace(self.file)


def _legal(session: str) -> str:
    if not _LEGAL.fullmatch(session):
        message = f"{session!r} is no session id: letters, digits, dots, underscores and dashes only."
        raise SessionError(message)
    return session
