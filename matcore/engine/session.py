"""One session as the supervisor runs it: facts in, decisions carried out, outcomes back in. Loop thread only.

What waits and what is in flight is read from the ledger, never remembered beside it, so that a restarted supervisor
goes on where the journal ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from matcore.engine.book import CHECKPOINT_EVERY, Book, Fact, Item, Note
from matcore.engine.clock import Clock, JournalClock
from matcore.engine.driver import Driver, Outcome, Sighting
from matcore.engine.herald import Herald
from matcore.engine.jobs import Job, Scribe
from matcore.engine.journal import JournalUnusable
from matcore.engine.lanes import Lane
from matcore.engine.ledger import Notice
from matcore.engine.notify import Told
from matcore.engine.post import Post
from matcore.engine.seen import Seen
from matcore.errors import OurMistake
from matcore.places import SessionPlaces
from matcore.rules import decisions as d

_ABOUT = frozenset(
    {"cycle.opened", "cycle.completed", "cycle.blocked", "relay.sent", "relay.delivered", "effect.ended"}
)
_ACTS_AT_ONE_INSTANT = 1000


class Effector(Protocol):
    """Carries out what a session asks for, outside of the loop. No call waits for what becomes of it."""

    def deliver(self, session: Session, job: Job) -> None:
        """Hand a text to its seat, on the seat's lane; the outcome comes back as an event."""

    def restart(self, session: Session, role: str, *, fresh: bool = False) -> None:
        """Start a seat's agent anew (`fresh`: with a new agent session), on the seat's lane; the new seat comes back
        as an event."""

    def end(self, session: Session) -> None:
        """End the session's agents, on the session's lane; that comes back as an event."""

    def tell(self, session: Session, notice: Notice) -> None:
        """Hand a notification to the channels; the answer comes back as an event."""

    def withdraw(self, session: Session, notice_id: str) -> None:
        """The cause of a notification has ended: try it no more."""


class Session:
    """See the module's text."""

    def __init__(self, book: Book, host: Clock, clock: JournalClock, driver: Driver, effects: Effector) -> None:
        self.book = book
        self.host = host
        self.clock = clock
        self.driver = driver
        self.effects = effects
        self.ledger = book.ledger
        self.scribe = Scribe(book, self.wall_of)
        self.lanes: dict[str, Lane] = {}
        self.post = Post(self)
        self.herald = Herald(self)
        self.seen = Seen(self)
        self.about_changed = True
        self.index_stale = False
        self._decided: deque[d.Decision] = deque()
        self._carrying = False

    @property
    def places(self) -> SessionPlaces:
        """Its folder below the working directory."""
        return self.ledger.places

    @property
    def name(self) -> str:
        """Its name, also before anything is journalled."""
        return self.ledger.session or self.book.journal.session

    @property
    def roles(self) -> Sequence[str]:
        """Their names, in the order of the configuration."""
        return list(self.ledger.config.get("roles", {}))

    def wall_of(self, at: float) -> float:
        """The wall clock's time (Unix) of a time of the journal, as far as the clock has not been set since."""
        return self.host.wall_s() - (self.clock.now() - at)

    # facts in

    def commit(self, items: Sequence[Item], *, at: float | None = None) -> None:
        """Journal all of it or nothing, decide upon it, journal the decisions, carry them out."""
        decided = self.book.write(self.clock.stamp() if at is None else at, self.host.wall_s(), items)
        self.about_changed = self.about_changed or any(item.name in _ABOUT for item in items)
        self._decided += decided
        try:
            self._carry_out()
        except JournalUnusable:  # what is left is carried out by the next tick, before anything else
            return

    def take(self, name: str, fields: Mapping[str, Any], *, source: str | None = None) -> None:
        """`commit` for one fact."""
        self.commit([Fact(name, fields, source)])

    def note(self, name: str, data: Mapping[str, Any], *, source: str | None = None) -> None:
        """`commit` for one note."""
        self.commit([Note(name, data, source)])

    def sighted(self, sightings: Sequence[Sighting]) -> None:
        """What the driver saw."""
        for sighting in sightings:
            self.seen.take(sighting)

    def tick(self) -> None:
        """Let the core act where its time has come, then hand out what may go now."""
        self._carry_out()
        now = self.clock.now()
        for _ in range(_ACTS_AT_ONE_INSTANT):
            due = self.book.deadline()
            if due is None or due > now:
                break
            self._decided += self.book.reach(due, self.host.wall_s())
            self._carry_out()
        else:
            raise OurMistake(f"{self.name}: the rules want to act at {now} for ever")
        self.seen.blind()
        self.post.hand_out()
        self.herald.look_again()
        self.book.checkpoint(at_least=CHECKPOINT_EVERY)

    def due_in_s(self) -> float:
        """Seconds until the core, or a text that was refused, wants another look."""
        due = self.book.deadline()
        soonest = float("inf") if due is None else due - self.clock.now()
        now_s = self.host.boot_s()
        return max(0.0, min([soonest, *(at_s - now_s for at_s in self.post.due_s())]))

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing but an event, or the moment that `due_in_s` names, can give it something to do."""
        at_work = self.post.flying or self.post.renewing or self.post.reviving
        return not (at_work or self.ledger.gates or any(not notice.ok for notice in self.ledger.notices.values()))

    # decisions out

    def _carry_out(self) -> None:
        """In order. What can't be journalled now stays, and raises `JournalUnusable`."""
        if self._carrying:
            return
        self._carrying = True
        try:
            while self._decided:
                self._carry(self._decided[0])
                self._decided.popleft()
        finally:
            self._carrying = False

    def _carry(self, decision: d.Decision) -> None:
        match decision:
            case d.Nudge():
                self.post.soon(self.scribe.nudge(decision))
            case d.FinalCheck():
                self.post.soon(self.scribe.final_check(decision))
            case d.RecoveryDelivered():
                self.post.soon(self.scribe.recovery(decision))
            case d.Notify():
                self.herald.decided(decision)
            case _:
                pass

    # outcomes back

    def job_ended(self, job_id: str, outcome: Outcome) -> None:
        """The outcome of a text that was handed to a seat."""
        self.post.ended(job_id, outcome)

    def told(self, notice_id: str, told: Told) -> None:
        """What became of a notification."""
        self.herald.told(notice_id, told)

    def set_aside(self, role: str, name: str, reason: str) -> None:
        """A file of a role's spool was set aside: on record."""
        self.note("engine.set_aside", {"role": role, "name": name, "reason": reason})

    def mistake(self, text: str) -> None:
        """Our own mistake: on record, and told once."""
        reason = text.strip().rpartition("\n")[2]
        before = [n for n in self.ledger.notices.values() if n.kind == "session-failed"]
        self.note("engine.mistake", {"text": text[-4000:]})
        if not any(n.cause.get("reason") == reason for n in before):
            self.herald.tell("session-failed", action=True, cause={"reason": reason}, reason=reason)

    def trouble(self, what: str, reason: str) -> None:
        """Something around the session is wrong: on record, and told once until it is `mended`."""
        if what not in self.ledger.troubles:
            note = Note("engine.trouble", {"what": what, "reason": reason})
            self.herald.tell(what, action=True, first=[note], reason=reason)

    def mended(self, what: str) -> None:
        """A `trouble` is over, and is told again should it come back."""
        if what in self.ledger.troubles:
            self.note("engine.mended", {"what": what})

    # the end

    def stop_watching(self) -> None:
        """A clean end: the journal says until when somebody watched."""
        if self.ledger.watching:
            self.take("watch.stopped", {})
        self.book.checkpoint()

    def close(self) -> None:
        """Let the lanes end and close the journal. Does not wait for an effect that hangs."""
        for lane in self.lanes.values():
            lane.close()
        self.book.close()

    def lane(self, role: str) -> Lane:
        """The lane of a seat, or of the session itself (`role` empty)."""
        if role not in self.lanes:
            self.lanes[role] = Lane(f"{self.name}/{role}")
        return self.lanes[role]
