"""Texts into seats, one at a time for each: what waits, what is on its way, and what its outcome means.

What waits and what is in flight is read from the ledger. The few things held here in memory (sightings postponed until
an outcome, the next try of a text that was refused) may be lost without harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matcore.engine import renewal, revival, rounds
from matcore.engine.book import Fact, Item, Note
from matcore.engine.driver import Outcome, Sighting, Verdict
from matcore.engine.jobs import Job
from matcore.engine.ledger import Flight
from matcore.rules import view

if TYPE_CHECKING:
    from matcore.engine.session import Session

FIRST_RETRY_S, LAST_RETRY_S = 1.0, 300.0
FIFO = 64
"""How many deliveries may be open for a role; what doesn't fit waits, visibly, as `relay-pending`."""
HANGS_AFTER_S = 60.0
HANGS = "delivery-hangs"
_LATER = frozenset({"role.busy", "role.idle", "role.gone", "role.unknown", "turn.ended", "human.acted"})
_MEANS: dict[Verdict, tuple[str, dict[str, Any]]] = {
    Verdict.SUBMITTED: ("relay.delivered", {"confirmed": True}),
    Verdict.UNCONFIRMED: ("relay.delivered", {"confirmed": False}),
    Verdict.GONE: ("relay.undeliverable", {}),
}


@dataclass(slots=True)
class _Retry:
    at_s: float
    wait_s: float


class Post:
    """The texts of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.flying: dict[str, Job] = {}
        self.renewing: dict[str, str] = {}
        self.reviving: set[str] = set()
        self._since_s: dict[str, float] = {}
        self._urgent: dict[str, list[Job]] = {}
        self._postponed: dict[str, list[Sighting]] = {}
        self._retry: dict[str, _Retry] = {}
        self._landed: dict[str, tuple[float, float]] = {}

    # what happens in a seat meanwhile

    def postpones(self, role: str, sighting: Sighting) -> bool:
        """While a text is on its way into a seat, what happens there waits for its outcome: a turn that ends before
        we know that it was ours must not be taken for one that never saw our text."""
        if role not in self.flying or sighting.name not in _LATER:
            return False
        self._postponed.setdefault(role, []).append(sighting)
        return True

    def may_go(self, role: str) -> None:
        """Something has changed in the seat: a text that was refused may be tried at once."""
        self._retry.pop(role, None)

    def started_at(self, role: str, started_s: float) -> float:
        """A turn that began after our Enter has seen our text, though its outcome was journalled a moment later."""
        started_at = self._session.clock.at(started_s)
        entered_s, landed_at = self._landed.get(role, (float("inf"), 0.0))
        return max(started_at, landed_at) if started_s >= entered_s else started_at

    def due_s(self) -> list[float]:
        """The boot times at which a text is tried again or is found to hang."""
        now_s = self._session.host.boot_s()
        times = [retry.at_s for retry in self._retry.values()]
        times += [since_s + HANGS_AFTER_S for since_s in self._since_s.values()]
        at = [revival.resumes_at(self._session.ledger, role) for role in self._session.roles]
        times += [self._session.clock.boot_s(each) for each in at if each is not None]
        return [at_s for at_s in times if at_s > now_s]

    # out

    def soon(self, job: Job) -> None:
        """To be typed as soon as the seat is free of texts, or never."""
        self._urgent.setdefault(job.role, []).append(job)

    def hand_out(self) -> None:
        """Start what may go now."""
        rounds.mind(self._session)
        for role in self._session.roles:
            if role in self.renewing or role in self.reviving:
                continue
            if role in self.flying:
                self._look_for_a_hang(role)
            elif not revival.mind(self._session, role):
                self._next(role)

    def _next(self, role: str) -> None:
        ledger = self._session.ledger
        while (urgent := self._urgent.get(role)) and role not in self.flying:
            job = urgent.pop(0)
            if job.decision in view.awaited(self._session.book.state):
                self._fly(job)
            else:
                fields = {"decision": job.decision, "ok": False, "detail": "too late"}
                self._session.take("effect.ended", fields)
        if role in self.flying:
            return
        if (renews := renewal.due(ledger, role)) is not None:
            if self._may_renew(role):
                renewal.begin(self._session, role, renews)
        elif ledger.status(role) == "gone":
            for relay in ledger.pending(role):
                self._session.take("relay.undeliverable", {"id": relay.id, "reason": "gone"})
            return
        self._put_back(role)
        if self._may_type(role) and (job_ := self._waiting(role)) is not None:
            self._fly(job_)

    def _put_back(self, role: str) -> None:
        """An agent is there again: what found none, and no ladder brings, waits for it as if it had just been sent."""
        ledger = self._session.ledger
        if ledger.status(role) in ("idle", "busy") and (back := ledger.turned_back(role)):
            self._session.commit([Note("engine.put_back", {"relay": relay.id, "role": role}) for relay in back])

    def _may_type(self, role: str) -> bool:
        session = self._session
        if session.ledger.status(role) != "idle" or session.ledger.held(role, session.clock.now()):
            return False
        return not self.rests(role)

    def _may_renew(self, role: str) -> bool:
        """A seat whose agent is gone can be given a new one, and needs it."""
        is_gone = self._session.ledger.status(role) == "gone"
        return (is_gone and not self.rests(role)) or self._may_type(role)

    def starts(self, role: str) -> bool:
        """Whether an agent is being started in that seat: what is seen there until then is of the one before."""
        return role in self.renewing or role in self.reviving or role in self._session.ledger.restarting

    def restarted(self, role: str, *, ok: bool) -> None:
        """A seat's agent was started anew, or could not be: what that means for a text that waited for it."""
        revived = role in self.reviving
        self.reviving.discard(role)
        if revived and ok:
            # What was seen of the seat until now was seen of the agent before.
            self._session.take("role.unknown", {"role": role, "evidence": "started anew"})
        if renewal.ended(self._session, role, ok=ok) or (revived and not ok):
            self._wait_longer(role)

    def rests(self, role: str) -> bool:
        """Whether something was refused in that seat so lately that it is not tried again yet."""
        retry = self._retry.get(role)
        return retry is not None and retry.at_s > self._session.host.boot_s()

    def _waiting(self, role: str) -> Job | None:
        session = self._session
        for number in session.ledger.wrapups:
            wrapup = session.ledger.wrapup_of[str(number)]
            if wrapup["role"] == role:
                return session.scribe.wrapup(wrapup)
        if sum(row.role == role for row in session.book.state.rows) >= FIFO:
            return None
        relay = rounds.next_relay(session.ledger, role)
        return session.scribe.relay(relay) if relay is not None else None

    def _fly(self, job: Job) -> None:
        """Intent before effect: once this is journalled, only an outcome ends it."""
        job = self._session.scribe.pointed(job)
        self._session.note(
            "engine.inject",
            {"job": job.id, "kind": job.kind, "role": job.role, "text": job.text,
             "relay": job.relay, "decision": job.decision, "pointed": job.pointed},
        )  # fmt: skip
        self.flying[job.role] = job
        self._since_s[job.role] = self._session.host.boot_s()
        self._session.effects.deliver(self._session, job)

    def _look_for_a_hang(self, role: str) -> None:
        """A driver that does not come back is named: nothing else can be typed into that seat."""
        session = self._session
        if (
            session.host.boot_s() - self._since_s[role] >= HANGS_AFTER_S
            and f"{HANGS}/{role}" not in session.ledger.gates
        ):
            session.take("gate.raised", {"gate": HANGS, "role": role, "evidence": "no outcome of a text for a minute"})

    # back

    def ended(self, job_id: str, outcome: Outcome) -> None:
        """The outcome of a text, and what it means, as one: no crash can part them."""
        job = next((j for j in self.flying.values() if j.id == job_id), None)
        if job is None:
            return
        session = self._session
        items: list[Item] = [_injected(job.id, job.kind, job.role, job.relay, outcome)]
        refused = outcome.verdict is Verdict.REFUSED
        if not (refused and job.patient):
            items += _means(job.kind, job.relay, job.decision, outcome)
        if f"{HANGS}/{job.role}" in session.ledger.gates:
            items.append(Fact("gate.cleared", {"gate": HANGS, "role": job.role}))
        submitted = outcome.verdict is Verdict.SUBMITTED
        if submitted and session.ledger.status(job.role) != "busy":
            items.append(Fact("role.busy", {"role": job.role, "evidence": "submitted"}))
        session.commit(items)
        del self.flying[job.role], self._since_s[job.role]
        if refused and job.patient:
            self._wait_longer(job.role)
        if submitted:
            self._landed[job.role] = (outcome.entered_s or session.host.boot_s(), session.book.at)
        session.sighted(self._postponed.pop(job.role, []))

    def lost(self, flight: Flight) -> None:
        """A supervisor before this one ended while this was on its way: nobody knows what became of it."""
        outcome = Outcome(Verdict.UNCONFIRMED, "the supervisor ended before the outcome was known")
        note = _injected(flight.job, flight.kind, flight.role, flight.relay, outcome)
        self._session.commit([note, *_means(flight.kind, flight.relay, flight.decision, outcome)])
        # If it was typed, the turn that has begun since is its turn.
        self._landed[flight.role] = (self._session.clock.boot_s(flight.at), self._session.book.at)

    def _wait_longer(self, role: str) -> None:
        """The driver names the gate by itself; the next try follows its end, or this timer should that be missed."""
        wait_s = min(2 * self._retry[role].wait_s, LAST_RETRY_S) if role in self._retry else FIRST_RETRY_S
        self._retry[role] = _Retry(self._session.host.boot_s() + wait_s, wait_s)


def _injected(job: str, kind: str, role: str, relay: str | None, outcome: Outcome) -> Note:
    about = {"job": job, "kind": kind, "role": role, "verdict": str(outcome.verdict)}
    return Note("engine.injected", {**about, "gate": outcome.gate, "evidence": outcome.evidence, "relay": relay})


def _means(kind: str, relay: str | None, decision: int | None, outcome: Outcome) -> list[Item]:
    """What an outcome tells the core."""
    if kind == "relay":
        name, fields = _MEANS[outcome.verdict]
        return [Fact(name, {"id": relay, **fields, "evidence": outcome.evidence})]
    if decision is None or kind == "wrapup":
        return []
    ok = outcome.verdict is Verdict.SUBMITTED
    detail = None if ok else outcome.gate or str(outcome.verdict)
    return [Fact("effect.ended", {"decision": decision, "ok": ok, "detail": detail, "evidence": outcome.evidence})]
