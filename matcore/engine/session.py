"""One session as the supervisor runs it: facts in, decisions carried out, outcomes back in. Loop thread only.

What waits and what is in flight is read from the ledger, never remembered beside it, so that a restarted supervisor
goes on where the journal ends. The few things held here in memory (postponed sightings, the next try of a relay that
was refused) may be lost without harm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from matcore.engine.book import CHECKPOINT_EVERY, Book
from matcore.engine.clock import Clock, Gap, JournalClock
from matcore.engine.driver import Driver, Outcome, Sighting, Verdict
from matcore.engine.jobs import Job, Scribe, places_of
from matcore.engine.lanes import Lane
from matcore.engine.ledger import Notice
from matcore.engine.notify import Told
from matcore.places import SessionPlaces
from matcore.rules import decisions as d
from matcore.words.notices import notice as notice_text

FIRST_RETRY_S, LAST_RETRY_S = 1.0, 60.0
_LATER = frozenset({"role.busy", "role.idle", "role.gone", "role.unknown", "turn.ended", "human.acted"})
_ABOUT = frozenset({"cycle.opened", "cycle.completed", "cycle.blocked", "relay.delivered", "effect.ended"})
_VERDICT_FACT = {
    Verdict.SUBMITTED: ("relay.delivered", {"confirmed": True}),
    Verdict.UNCONFIRMED: ("relay.delivered", {"confirmed": False}),
    Verdict.GONE: ("relay.undeliverable", {}),
}


class Town(Protocol):
    """What a session needs of the supervisor around it."""

    def deliver(self, session: Session, job: Job) -> None:
        """Hand a text to its seat, on the seat's lane; the outcome comes back as an event."""

    def tell(self, session: Session, notice: Notice) -> None:
        """Hand a notification to the channels; the answer comes back as an event."""

    def withdraw(self, session: Session, notice_id: str) -> None:
        """The cause of a notification has ended: try it no more."""


@dataclass(slots=True)
class _Retry:
    at_s: float
    wait_s: float


class Session:
    """See the module's text."""

    def __init__(self, book: Book, host: Clock, clock: JournalClock, driver: Driver, town: Town) -> None:
        self.book = book
        self.host = host
        self.clock = clock
        self.driver = driver
        self.town = town
        self.ledger = book.ledger
        self.scribe = Scribe(book, self.wall_of)
        self.lanes: dict[str, Lane] = {}
        self.flying: dict[str, Job] = {}
        self._urgent: dict[str, list[Job]] = {}
        self._postponed: dict[str, list[Sighting]] = {}
        self._retry: dict[str, _Retry] = {}
        self._landed: dict[str, tuple[float, float]] = {}

        self.about_changed = True
        self.index_stale = False

    @property
    def places(self) -> SessionPlaces:
        return places_of(self.ledger)

    @property
    def name(self) -> str:
        return self.ledger.session

    @property
    def roles(self) -> Sequence[str]:
        return list(self.ledger.config.get("roles", {}))

    def wall_of(self, at: float) -> float:
        """The wall clock's time (Unix) of a time of the journal, as far as the clock has not been set since."""
        return self.host.wall_s() - (self.clock.now() - at)

    # facts in

    def take(self, name: str, fields: Mapping[str, Any], *, source: str | None = None) -> None:
        """Journal a fact, decide, journal the decisions, carry them out."""
        decided = self.book.take(self.clock.stamp(), self.host.wall_s(), name, fields, source=source)
        self.about_changed = self.about_changed or name in _ABOUT
        self._carry_out(decided)

    def note(self, name: str, data: Mapping[str, Any], *, source: str | None = None) -> None:
        self.book.note(self.clock.stamp(), self.host.wall_s(), name, data, source=source)

    def tick(self) -> None:
        """Let the core act where its time has come, then hand out what may go now."""
        now = self.clock.now()
        while (due := self.book.deadline()) is not None and due <= now:
            decided = self.book.reach(max(due, self.book.at), self.host.wall_s())
            self._carry_out(decided)
        self.blind()
        for role in self.roles:
            self._hand_out(role)
        self.book.checkpoint(at_least=CHECKPOINT_EVERY)

    def sighted(self, sightings: Sequence[Sighting]) -> None:
        """What the driver saw. While a text is on its way into a seat, what happens there waits for its outcome: a
        turn that ends before we know that it was ours must not be taken for one that never saw our text."""
        for sighting in sightings:
            role = str(sighting.fields.get("role", ""))
            if role in self.flying and sighting.name in _LATER:
                self._postponed.setdefault(role, []).append(sighting)
            else:
                self._see(sighting)

    def _see(self, sighting: Sighting) -> None:
        fields = dict(sighting.fields)
        role = str(fields.get("role", ""))
        if fields.get("until") is not None:
            fields["until"] = self.clock.at(float(str(fields["until"])))
        if fields.get("started") is not None:
            fields["started"] = self._after_landing(role, float(str(fields["started"])))
        if sighting.name in ("role.idle", "gate.cleared"):
            self._retry.pop(role, None)
        if sighting.name.startswith("role.") and self.ledger.status(role) == sighting.name.removeprefix("role."):
            return
        self.take(sighting.name, {**fields, "evidence": sighting.evidence})

    def _after_landing(self, role: str, started_s: float) -> float:
        """A turn that began after our Enter has seen our text, though its outcome was journalled a moment later."""
        started_at = self.clock.at(started_s)
        entered_s, landed_at = self._landed.get(role, (float("inf"), 0.0))
        return max(started_at, landed_at) if started_s >= entered_s else started_at

    # decisions out

    def _carry_out(self, decided: Sequence[d.Decision]) -> None:
        for decision in decided:
            match decision:
                case d.Nudge():
                    self._soon(self.scribe.nudge(decision))
                case d.FinalCheck():
                    self._soon(self.scribe.final_check(decision))
                case d.RecoveryDelivered():
                    self._soon(self.scribe.recovery(decision))
                case d.Notify():
                    about = self.scribe.notice_facts(decision)
                    self.tell_of(decision.kind, action=decision.action, decision=decision.number, **about)
                case _:
                    pass

    def _soon(self, job: Job) -> None:
        self._urgent.setdefault(job.role, []).append(job)

    def _hand_out(self, role: str) -> None:
        if role in self.flying:
            return
        urgent = self._urgent.get(role)
        if urgent:
            self._fly(urgent.pop(0))
        elif self.ledger.status(role) == "gone":
            for relay in self.ledger.pending(role):
                self.take("relay.undeliverable", {"id": relay.id, "reason": "gone"})
        elif self._may_type(role) and (job := self._waiting(role)) is not None:
            self._fly(job)

    def _may_type(self, role: str) -> bool:
        retry = self._retry.get(role)
        if self.ledger.status(role) != "idle" or self.ledger.held(role, self.clock.now()):
            return False
        return retry is None or retry.at_s <= self.host.boot_s()

    def _waiting(self, role: str) -> Job | None:
        for number in self.ledger.wrapups:
            wrapup = self.ledger.wrapup_of[str(number)]
            if wrapup["role"] == role:
                return self.scribe.wrapup(wrapup)
        relays = self.ledger.pending(role)
        return self.scribe.relay(relays[0]) if relays else None

    def _fly(self, job: Job) -> None:
        """Intent before effect: once this is journalled, only an outcome ends it."""
        self.note(
            "engine.inject",
            {"job": job.id, "kind": job.kind, "role": job.role, "text": job.text,
             "relay": job.relay, "decision": job.decision},
        )  # fmt: skip
        self.flying[job.role] = job
        self.town.deliver(self, job)

    def job_ended(self, job_id: str, outcome: Outcome) -> None:
        """The outcome of a text: journalled, told to the core, then what was seen meanwhile."""
        job = next((j for j in self.flying.values() if j.id == job_id), None)
        if job is None:
            return
        self.note(
            "engine.injected",
            {"job": job.id, "kind": job.kind, "role": job.role, "verdict": str(outcome.verdict),
             "gate": outcome.gate, "evidence": outcome.evidence, "relay": job.relay},
        )  # fmt: skip
        del self.flying[job.role]
        if outcome.verdict is Verdict.REFUSED and job.patient:
            self._wait_longer(job.role)
        elif job.kind == "relay":
            name, fields = _VERDICT_FACT[outcome.verdict]
            self.take(name, {"id": job.relay, **fields, "evidence": outcome.evidence})
        elif job.decision is not None and job.kind != "wrapup":
            self._effect_ended(job.decision, outcome)
        if outcome.verdict is Verdict.SUBMITTED:
            self._landed[job.role] = (outcome.entered_s or self.host.boot_s(), self.book.at)
            if self.ledger.status(job.role) != "busy":
                self.take("role.busy", {"role": job.role, "evidence": "submitted"})
        for sighting in self._postponed.pop(job.role, []):
            self._see(sighting)

    def _effect_ended(self, decision: int, outcome: Outcome) -> None:
        ok = outcome.verdict is Verdict.SUBMITTED
        detail = None if ok else outcome.gate or str(outcome.verdict)
        self.take("effect.ended", {"decision": decision, "ok": ok, "detail": detail, "evidence": outcome.evidence})

    def _wait_longer(self, role: str) -> None:
        """The driver names the gate by itself; the next try follows its end, or this timer should that be missed."""
        wait_s = min(2 * self._retry[role].wait_s, LAST_RETRY_S) if role in self._retry else FIRST_RETRY_S
        self._retry[role] = _Retry(self.host.boot_s() + wait_s, wait_s)

    # telling the human

    def tell_of(self, kind: str, *, action: bool, decision: int | None = None, **facts: Any) -> None:
        """Journal that the human is to be told, then hand it to the channels."""
        notice = f"n{decision}" if decision is not None else f"e{self.book.seq + 1}"
        text = notice_text(kind, session=self.name, **facts)
        data = {"notice": notice, "kind": kind, "action": action, "text": text, "decision": decision}
        self.note("engine.telling", data)
        self.town.tell(self, self.ledger.notices[notice])

    def told(self, notice_id: str, told: Told) -> None:
        notice = self.ledger.notices.get(notice_id)
        if notice is None or (notice.ok is not None and notice.ok == told.ok):
            return
        awaited = notice.decision is not None and str(notice.decision) in self.ledger.awaited
        self.note("engine.told", {"notice": notice_id, "ok": told.ok, "by": told.by, "said": told.said})
        if awaited:
            detail = None if told.ok else told.said
            self.take("effect.ended", {"decision": notice.decision, "ok": told.ok, "detail": detail})
        if awaited and not told.ok:
            self.town.withdraw(self, notice_id)

    # life

    def due_in_s(self) -> float:
        """Seconds until the core, or a text that was refused, wants another look."""
        due = self.book.deadline()
        soonest = float("inf") if due is None else due - self.clock.now()
        now_s = self.host.boot_s()
        return max(0.0, min([soonest, *(retry.at_s - now_s for retry in self._retry.values() if retry.at_s > now_s)]))

    def resume(self, stopped_at: float | None) -> None:
        """Take up the watch: say how long nobody watched, and end what was in flight when that began.

        What was typed, or not, just before a crash can't be known: it is `unconfirmed`, and never typed again.
        """
        if self.ledger.watching:
            at = max(self.book.at, min(stopped_at or self.book.at, self.clock.now()))
            self._carry_out(self.book.take(at, self.host.wall_s(), "watch.stopped", {}))
        self.take("watch.resumed", {})
        self._forget_gates()
        for flight in list(self.ledger.flights.values()):
            self._lost(flight.job, flight.kind, flight.role, flight.relay)
        for awaited in list(self.ledger.awaited.values()):
            self.take("effect.ended", {"decision": awaited.number, "ok": False, "detail": "unconfirmed"})
        for notice in [n for n in self.ledger.notices.values() if not n.ok and n.kind != "idle-recovery"]:
            self.town.tell(self, notice)

    def nobody_watched(self, gap: Gap) -> None:
        """The machine slept, or the loop stood still: say so, and trust nothing that was seen before."""
        at = max(self.book.at, self.clock.at(gap.since_s))
        self._carry_out(self.book.take(at, self.host.wall_s(), "watch.stopped", {}))
        self.take("watch.resumed", {"slept": gap.slept_s} if gap.slept_s else {})
        self._forget_gates()

    def _forget_gates(self) -> None:
        """The driver raises anew what still holds, before it has settled: the same hold goes on."""
        for gate in [g for g, raised in self.ledger.gates.items() if raised.until is None]:
            name, _, role = gate.partition("/")
            self.take("gate.cleared", {"gate": name, **({"role": role} if role else {}), "evidence": "nobody watched"})

    def _lost(self, job: str, kind: str, role: str, relay: str | None) -> None:
        data = {"job": job, "kind": kind, "role": role, "verdict": "unconfirmed", "gate": None, "relay": relay}
        self.note("engine.injected", {**data, "evidence": "the supervisor ended before the outcome was known"})
        if kind == "relay" and relay is not None:
            self.take("relay.delivered", {"id": relay, "confirmed": False, "evidence": "restart"})

    def polled(self, sightings: Sequence[Sighting], fault: str | None) -> None:
        """One look of the driver. One that fails is a gate, not a gap; after a window of them nobody is made out."""
        held = "driver-failed" in self.ledger.gates
        if fault is None:
            if held:
                self.take("gate.cleared", {"gate": "driver-failed"})
            self.sighted(sightings)
        elif not held:
            self.take("gate.raised", {"gate": "driver-failed", "evidence": fault[:400]})

    def blind(self) -> None:
        """What has not been seen for a window is unknown."""
        for name in ("driver-failed", "tmux-unreachable"):
            raised = self.ledger.gates.get(name)
            if raised is not None and self.clock.now() - raised.since >= self.ledger.window_s:
                for role in self.roles:
                    if self.ledger.status(role) not in ("unknown", "gone"):
                        self.take("role.unknown", {"role": role, "evidence": name})

    def set_aside(self, role: str, name: str, reason: str) -> None:
        self.note("engine.set_aside", {"role": role, "name": name, "reason": reason})

    def mistake(self, text: str) -> None:
        """Our own mistake: on record, and told, as far as that still goes."""
        self.note("engine.mistake", {"text": text[-4000:]})

    def disk_full(self) -> None:
        """With the ballast let go there is room to write this down and to tell it once."""
        if not any(n.kind == "disk-full" and not n.ok for n in self.ledger.notices.values()):
            self.tell_of("disk-full", action=True)

    def stop_watching(self) -> None:
        """A clean end: the journal says until when somebody watched."""
        if self.ledger.watching:
            self.take("watch.stopped", {})
        self.book.checkpoint()

    def close(self) -> None:
        for lane in self.lanes.values():
            lane.close()
        self.book.close()

    def lane(self, role: str) -> Lane:
        if role not in self.lanes:
            self.lanes[role] = Lane(f"{self.name}/{role}")
        return self.lanes[role]
