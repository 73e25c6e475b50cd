"""What holds a role although its agent may be idle: gates, dialogs and their questions, limits, compactions. Pure.

A permission dialog that stands for `DIALOG_ASKED_S` is put to the human as a question, in place of its gate. The caller
holds the seat's lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from matcore.engine.driver import DIALOG_ASKED_S, Sighting
from tmuxdriver.limits import Limit

_LIMITED = "rate-limited"


@dataclass(slots=True)
class Held:
    """Of one seat. Each method returns what is to be reported."""

    session: str
    role: str
    gates: dict[str, str] = field(default_factory=dict)
    dialog_s: float | None = None
    dialog_kind: str = "other"
    question: str | None = None
    asked_by_hook: bool = False
    limit: Limit = field(default_factory=Limit)
    failed_by_hook: bool = False
    """The last turn failed, and the screen has not named a limit as its cause yet."""
    compacts: bool = False
    """A hook said that a compaction began; what the agent does next ends it."""
    was_full: bool = False
    """That the context is full was told; another turn may tell it again."""
    wall_s: Callable[[], float] = time.time

    def gate(self, name: str, holds: bool, evidence: str) -> list[Sighting]:
        """Raise or clear a gate of this role; nothing when it stands so already."""
        if holds == (name in self.gates):
            return []
        if holds:
            self.gates[name] = evidence
            return [self._sighting("gate.raised", evidence, gate=name, role=self.role)]
        del self.gates[name]
        return [self._sighting("gate.cleared", evidence, gate=name, role=self.role)]

    def _dialog_stands(self, now_s: float, kind: str) -> list[Sighting]:
        if self.dialog_s is None:
            self.dialog_s = now_s
        self.dialog_kind = kind
        if self.question is not None:
            return []
        if kind != "permission" or now_s - self.dialog_s < DIALOG_ASKED_S:
            is_login = kind == "login"
            return [*self.gate("login", is_login, "screen"), *self.gate("dialog", not is_login, "screen")]
        self.question = f"dialog-{self.role}-{self.dialog_s:.3f}"
        asked = self._sighting("question.asked", "screen", question=self.question, role=self.role, dialog=True)
        return [asked, *self.gate("dialog", False, "question"), *self.gate("login", False, "question")]

    def _dialog_gone(self, evidence: str) -> list[Sighting]:
        self.dialog_s, self.asked_by_hook = None, False
        if self.question is None:
            return [*self.gate("dialog", False, evidence), *self.gate("login", False, evidence)]
        answered = self._sighting("question.answered", evidence, question=self.question)
        self.question = None
        return [answered]

    def _limited(self, notice: str, now_s: float, evidence: str, *, live: bool) -> list[Sighting]:
        if not self.limit.met(notice, now_s, self.wall_s(), live=live):
            return []
        until = {} if self.limit.until_s is None else {"until": self.limit.until_s}
        self.gates[_LIMITED] = evidence
        return [self._sighting("gate.raised", evidence, gate=_LIMITED, role=self.role, **until)]

    def _unlimited(self, evidence: str) -> list[Sighting]:
        self.limit.end()
        return self.gate(_LIMITED, False, evidence)

    def passed(self, now_s: float) -> list[Sighting]:
        """What ends by time alone."""
        return self._unlimited("its time is over") if self.limit.is_over(now_s) else []

    def _full(self, evidence: str) -> list[Sighting]:
        """The context is full, told once for each turn and, where that is known by then, before its end."""
        told, self.was_full = self.was_full, True
        return [] if told else [self._sighting("context.exhausted", evidence, role=self.role)]

    def _compacted(self, _at_s: float, _data: Mapping[str, object]) -> list[Sighting]:
        self.compacts = False
        return self.gate("compacting", False, "hook")

    def _cleared(self, gates: tuple[str, ...], evidence: str) -> list[Sighting]:
        found = [sighting for gate in gates for sighting in self.gate(gate, False, evidence)]
        if self.question is not None:
            found += self._dialog_gone(evidence)
        self.dialog_s, self.asked_by_hook, self.compacts = None, False, False
        self.limit.end()
        return found

    def _sighting(self, name: str, evidence: str, **fields: object) -> Sighting:
        return Sighting(self.session, name, fields, evidence)
