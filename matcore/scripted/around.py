"""What surrounds a running agent: who it is, the log, the hooks, and the clock on the wall."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from matcore.scripted.hooks import Hooks
from matcore.scripted.log import Log, boot_s
from matcore.scripted.memory import Memory


@dataclass(frozen=True, slots=True)
class Around:
    """`wall` is the clock on the wall, Unix time."""

    role: str
    cwd: str
    log: Log
    hooks: Hooks
    wall: Callable[[], float] = time.time

    def tell(self, event: str, memory: Memory, prompt: str, **facts: object) -> None:
        """Fires an event's hooks with what docs/scripted-agent.md promises them."""
        about = {"session_id": memory.session, "role": self.role, "cwd": self.cwd, "turn": memory.turns}
        said = {"boot_s": boot_s(), "prompt": prompt or None, "outcome": None, "error": None}
        self.hooks.fire(event, {**about, **said, **facts})
