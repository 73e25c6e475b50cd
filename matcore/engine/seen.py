"""From sightings to facts: a driver's times become the journal's, what is known already is not written again, and what
has not been seen for a window is unknown.

A question that a dialog put to the human outlives the supervisor. The driver of the next one knows nothing of it: where
the dialog still stands its new question is the old one, and where the seat is seen without it, it was answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matcore.engine import naming, revival, spool, starting
from matcore.engine.book import Fact, Item
from matcore.engine.driver import AGENT_NAMED, SET_ASIDE, Sighting
from matcore.rules import gates

if TYPE_CHECKING:
    from matcore.engine.session import Session

FAILED = "driver-failed"
BLIND = (FAILED, "tmux-unreachable")
"""Gates under which nothing can be looked at."""


class Seen:
    """What was seen of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._standing: dict[str, str] = {}
        self._known_as: dict[str, str] = {}

    def take(self, sighting: Sighting) -> None:
        """Journal it as a fact, or later, while a text is on its way into that seat."""
        session = self._session
        fields = dict(sighting.fields)
        role = str(fields.get("role", ""))
        if session.post.postpones(role, sighting):
            return
        if sighting.name == AGENT_NAMED:
            naming.on_session(session, role, fields.get("agent_session"))
            return
        if sighting.name == SET_ASIDE:
            session.set_aside(role, spool.shown(str(fields.get("name"))), spool.shown(str(fields.get("reason"))))
            return
        self._in_journal_time(role, fields)
        if sighting.name in ("role.idle", "gate.cleared"):
            session.post.may_go(role)
        self._dialog_gone(role, sighting.name)
        known = self._is_known(role, sighting.name, fields)
        with_it = self._with_it(role, sighting.name, fields)
        if known and with_it:
            session.commit(with_it)
        elif not known:
            session.commit([Fact(sighting.name, {**fields, "evidence": sighting.evidence}), *with_it])
            self._follows(role, sighting.name, fields)

    def _in_journal_time(self, role: str, fields: dict[str, Any]) -> None:
        """A driver's times are boot times."""
        session = self._session
        if fields.get("until") is not None:
            fields["until"] = session.clock.at(float(str(fields["until"])))
        if fields.get("started") is not None:
            fields["started"] = session.post.started_at(role, float(str(fields["started"])))

    def _follows(self, role: str, name: str, fields: dict[str, Any]) -> None:
        """What the engine makes of something new, once it is journalled."""
        session = self._session
        if name == "role.idle" and revival.is_fresh(session.ledger, role):
            session.take("context.fresh", {"role": role})
        if name == "role.gone" and fields.get("reason") == revival.CRASH_LOOP:
            about: dict[str, Any] = {key: fields[key] for key in ("times", "minutes") if key in fields}
            about |= revival.how_it_ended(session.ledger, role)
            session.herald.tell(revival.CRASH_LOOP, action=True, role=role, **about)

    def _with_it(self, role: str, name: str, fields: dict[str, Any]) -> list[Item]:
        """What a sighting means at the same instant to the ladder's wait for an agent that is started again."""
        session = self._session
        if name == "role.gone" and revival.comes_back(session, role, fields):
            return [starting.waits(session, role, after_s=revival.RESUME_AFTER_S)]
        is_there = name in ("role.idle", "role.busy") and not session.post.starts(role)
        return starting.over(session, role, "it is there") if is_there else []

    def _is_known(self, role: str, name: str, fields: dict[str, Any]) -> bool:
        """Whether it says nothing new. Renames a dialog's question to the name that it was asked under."""
        ledger = self._session.ledger
        match name:
            case "gate.raised":
                raised = ledger.gates.get(gates.named(fields["gate"], fields.get("role")))
                return raised is not None and raised.until == fields.get("until")
            case "gate.cleared":
                return gates.named(fields["gate"], fields.get("role")) not in ledger.gates
            case "question.asked":
                before = self._standing.pop(role, None) if fields.get("dialog") else None
                if before is not None:
                    self._known_as[fields["question"]] = before
                return before is not None
            case "question.answered":
                question = fields["question"]
                fields["question"] = self._known_as.pop(question, question)
                return fields["question"] not in ledger.questions
            case _:
                return name.startswith("role.") and ledger.status(role) == name.removeprefix("role.")

    def _dialog_gone(self, role: str, name: str) -> None:
        """Somebody saw to a dialog while nobody watched."""
        if name in ("role.idle", "role.busy", "role.gone") and (question := self._standing.pop(role, None)):
            fields = {"question": question, "evidence": "the dialog is gone, seen after a restart"}
            self._session.take("question.answered", fields)

    def anew(self) -> None:
        """The driver looks with fresh eyes from now on. It raises anew what still holds, before it has settled: the
        same hold goes on."""
        session = self._session
        for gate in [g for g, raised in session.ledger.gates.items() if raised.until is None]:
            name, _, role = gate.partition("/")
            fields = {"gate": name, **({"role": role} if role else {}), "evidence": "nobody watched"}
            session.take("gate.cleared", fields)
        self._known_as.clear()
        self._standing = {q.role: q.id for q in session.ledger.questions.values() if q.dialog}

    @property
    def is_blind(self) -> bool:
        """Whether the driver's looks fail."""
        return FAILED in self._session.ledger.gates

    def polled(self, sightings: Sequence[Sighting], fault: str | None) -> None:
        """One look of the driver. One that fails is a gate, not a gap; after a window of them nobody is made out."""
        session = self._session
        held = self.is_blind
        if fault is not None and not held:
            session.take("gate.raised", {"gate": FAILED, "evidence": fault[:400]})
        elif fault is None and held:
            session.take("gate.cleared", {"gate": FAILED})
        for sighting in sightings:
            self.take(sighting)

    def blind(self) -> None:
        """What has not been seen for a window is unknown."""
        session = self._session
        for name in BLIND:
            raised = session.ledger.gates.get(name)
            if raised is not None and session.clock.now() - raised.since >= session.ledger.window_s:
                for role in session.roles:
                    if session.ledger.status(role) not in ("unknown", "gone"):
                        session.take("role.unknown", {"role": role, "evidence": name})
