"""From a decision, or a relay that waits, to the text for a seat: what is typed, and the mark by which it is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matcore.engine import letters
from matcore.engine.book import Book
from matcore.engine.ledger import Relay
from matcore.rules import decisions as d
from matcore.rules import view
from matcore.words import marks, messages
from matcore.words.figures import clock


@dataclass(frozen=True, slots=True)
class Job:
    """One text for one role. `id` is its name in the journal; `mark` a part of the text that no other text has.

    `kind`: `relay`, `wrapup` (both wait until the role is idle), `nudge`, `final_check`, `recovery` (now or never).
    """

    id: str
    kind: str
    role: str
    text: str
    mark: str
    relay: str | None = None
    decision: int | None = None
    pointed: bool = False

    @property
    def patient(self) -> bool:
        """Whether it waits until the role is idle; the others are for now or never."""
        return self.kind in ("relay", "wrapup")


class Scribe:
    """Writes the jobs of one session from its ledger. Reads only."""

    def __init__(self, book: Book, wall_of: Callable[[float], float]) -> None:
        self._book = book
        self._wall_of = wall_of

    def relay(self, relay: Relay) -> Job:
        """The delivery of a relay, as the letter that goes with it says, where there is one."""
        letter = self._book.ledger.tally.letters.get(relay.id)
        if letter is not None:
            text = letters.said_in(letter, relay, self._book.ledger)
        elif relay.sender == "human":
            text = messages.human(message_id=relay.id, body=relay.body, path=relay.path)
        else:
            text = messages.relay(
                message_id=relay.id,
                sender=relay.sender,
                path=relay.path or "",
                kind=relay.kind,
                body=_content(relay.path),
                command=self._book.ledger.command,
            )
        return Job(self._next("relay"), "relay", relay.to, text, marks.relay(message_id=relay.id), relay=relay.id)

    def nudge(self, nudge: d.Nudge) -> Job:
        """A nudge, or the redelivery of the relay that it names."""
        job = self._next("nudge")
        debt = view.debt(self._book.state)
        relay = self._book.ledger.relays.get(nudge.redelivers) if nudge.redelivers else None
        attempt = nudge.number
        if relay is not None:
            text = messages.redelivery(
                message_id=relay.id,
                sender=relay.sender,
                path=relay.path or "",
                owed=nudge.role,
                since=self.when(relay.at),
                episode=nudge.episode,
                attempt=attempt,
                command=self._book.ledger.command,
            )
        else:
            text = messages.nudge(
                role=nudge.role,
                owed=debt.role if debt else None,
                since=self.when(debt.since if debt else self._book.ledger.progress_at),
                episode=nudge.episode,
                attempt=attempt,
                command=self._book.ledger.command,
                peers=[role for role in self._book.ledger.config.get("roles", {}) if role != nudge.role],
            )
        mark = marks.nudge(episode=nudge.episode, attempt=attempt)
        return Job(job, "nudge", nudge.role, text, mark, relay=nudge.redelivers, decision=nudge.number)

    def final_check(self, check: d.FinalCheck) -> Job:
        """The question about deliveries that got no reply."""
        rows = list(view.checked(self._book.state, check.number).items())
        text = messages.final_check(rows=rows, command=self._book.ledger.command)
        return Job(self._next("final"), "final_check", check.role, text, marks.final_check(), decision=check.number)

    def recovery(self, recovery: d.RecoveryDelivered) -> Job:
        """The reminder in a fresh context of whoever still waits for a reply."""
        seq = int(recovery.message.rpartition("-")[2])
        last = next((r for r in self._book.ledger.relays.values() if r.seq == seq), None)
        text = messages.recovery(
            message_id=recovery.message,
            target=recovery.target,
            seq=seq,
            path=last.path if last else None,
            command=self._book.ledger.command,
        )
        mark = marks.recovery(message_id=recovery.message)
        return Job(self._next("recovery"), "recovery", recovery.role, text, mark, decision=recovery.number)

    def wrapup(self, wrapup: dict[str, Any]) -> Job:
        """The instruction to close a cycle, from its record in the ledger."""
        outcome = str(wrapup["outcome"])
        text = messages.wrapup(cycle=str(wrapup["cycle"]), goal=wrapup.get("goal"), outcome=outcome)
        mark = marks.wrapup(outcome=outcome)
        return Job(self._next("wrapup"), "wrapup", str(wrapup["role"]), text, mark, decision=int(wrapup["number"]))

    def pointed(self, job: Job) -> Job:
        """The job as it is typed: the first text of a seat that was not handed its role's prompt points to it."""
        seat = self._book.ledger.seats.get(job.role)
        if seat is None or not seat.needs_prompt:
            return job
        prompt = self._book.ledger.places.prompts / f"{job.role}.md"
        return replace(job, text=messages.pointed(prompt_path=str(prompt), text=job.text), pointed=True)

    def when(self, at: float) -> str:
        """A journal time as people read it: local time with its offset."""
        return clock(self._wall_of(at))

    def _next(self, kind: str) -> str:
        return f"{kind}-{self._book.ledger.injected + 1}"


def _content(path: str | None) -> str | None:
    """The handoff as it was sent, to see whether it already names the tool and target."""
    if path is None:
        return None
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
