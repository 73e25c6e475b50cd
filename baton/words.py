"""What somebody puts into a mailbox by hand: the human's word, whatever it says of itself, passed on in order.

What can never be passed on is set aside. What can't be now stays claimed, and so does what came after it, while the
turns of the role go on.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable

from baton.mailbox import Claim, Mailbox
from matcore.errors import MatError, Unavailable

log = logging.getLogger("mat.worker")
_WAITS = "a message by hand waits, it can't be passed on now"


class Faults:
    """What goes wrong with one role: a fault that goes on is said once."""

    def __init__(self, role: str) -> None:
        self._role = role
        self._said: dict[str, str] = {}

    def say(self, what: str, error: Exception) -> None:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        if self._said.get(what) != why:
            self._said[what] = why
            log.warning("%s: %s: %s", self._role, what, error)

    def is_over(self, what: str) -> None:
        self._said.pop(what, None)


class Words:
    """One role's. `say` passes one on: it raises `Unavailable` or `OSError` where that may go later, another `MatError`
    where it never will. `finish` is called with what was dealt with."""

    def __init__(
        self, mailbox: Mailbox, say: Callable[[Claim], object], finish: Callable[[Claim], None], faults: Faults
    ) -> None:
        self._mailbox, self._say, self._finish, self._faults = mailbox, say, finish, faults
        self._waiting: deque[Claim] = deque()
        self._not_before_s = 0.0

    def add(self, claim: Claim) -> None:
        self._waiting.append(claim)

    def pass_on(self, again_in_s: float) -> None:
        """All that can be. After a failure nothing is tried again for so many seconds."""
        while self._waiting and time.monotonic() >= self._not_before_s:
            claim = self._waiting[0]
            try:
                if not self._mailbox.is_done(claim):
                    self._say(claim)
            except (Unavailable, OSError) as error:
                self._not_before_s = time.monotonic() + again_in_s
                self._faults.say(_WAITS, error)
                return
            except MatError as error:
                self._faults.say("a message by hand is set aside", error)
                self._mailbox.set_aside(claim, str(error))
            else:
                self._faults.is_over(_WAITS)
                self._finish(claim)
            self._waiting.popleft()
