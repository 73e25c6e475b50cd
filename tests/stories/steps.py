"""The steps at which a supervisor can be killed, each before and after: every append to a journal, every text, every
notification, every file that goes or is written anew, every start and end of agents.

Killed means: nothing that is not on disk survives, nor does any event that stood on the queue.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from matcore.engine import spool, wholefile
from matcore.engine.journal import Journal
from tests.fakes import FakeDriver
from tests.stories.world import InlineEffects

PLACES: tuple[tuple[Any, str, str], ...] = (
    (Journal, "append", "append to the journal"),
    (Journal, "checkpoint", "checkpoint"),
    (Journal, "create", "create the journal"),
    (Journal, "add_mark", "note the boot"),
    (FakeDriver, "deliver", "type a text"),
    (FakeDriver, "restart", "start an agent anew"),
    (FakeDriver, "stop", "stop the agents"),
    (FakeDriver, "adopt", "adopt the seats"),
    (InlineEffects, "notify", "notify"),
    (spool, "done", "remove a record"),
    (spool, "set_aside", "set a record aside"),
    (wholefile, "write", "write a small file: session.json, the index, a copy, the heartbeat"),
)


class Killed(BaseException):
    """SIGKILL, as far as one process can play it: no barrier catches it."""


class Steps:
    """Counts steps; at step number `fatal` the supervisor is killed."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.passed: list[str] = []
        self.fatal: int | None = None
        self.counts = False
        for owner, name, label in PLACES:
            patch.setattr(owner, name, self._around(getattr(owner, name), label))

    @property
    def died_at(self) -> str:
        return self.passed[-1] if self.passed else "nothing"

    def begin(self, fatal: int | None) -> None:
        self.passed, self.fatal, self.counts = [], fatal, True

    def _step(self, name: str) -> None:
        if self.counts:
            self.passed.append(name)
            if self.fatal is not None and len(self.passed) > self.fatal:
                self.counts = False
                raise Killed(name)

    def _around(self, do: Callable[..., Any], label: str) -> Callable[..., Any]:
        def stepped(*args: Any, **kwargs: Any) -> Any:
            self._step(f"before: {label}")
            result = do(*args, **kwargs)
            self._step(f"after: {label}")
            return result

        return stepped
