"""What the engine will do or say by itself when its time has come, though nobody moves: facts that are sure to come.

A relay that waits for a gate which names its end is typed at that end; after a window in which nothing could be looked
at, each role is said to be unknown; a permission dialog that has stood for half a minute is put as a question.
"""

from __future__ import annotations

from matcore.engine import rounds
from matcore.engine.book import Book
from matcore.engine.driver import DIALOG_ASKED_S
from matcore.engine.ledger import Ledger
from matcore.engine.seen import BLIND
from matcore.rules import gates
from matcore.rules.facts import Fact, GateCleared, QuestionAsked, RelayDelivered, RoleBusy, RoleUnknown
from matcore.show import phrases

_LETS_TYPE = "declared-wait"
_DIALOG = "dialog"


def coming(book: Book, now: float) -> list[Fact]:
    """In order of time, none before `now`."""
    ledger = book.ledger
    return sorted([*_typed(ledger, now), *_unknown(ledger, now), *_asked(ledger, now)], key=lambda fact: fact.at)


def free_at(ledger: Ledger, role: str, now: float) -> float | None:
    """When no gate keeps texts out of that seat any more: `now`, the last end that they name, or None for no end."""
    ends = [now]
    for gate, raised in ledger.gates.items():
        name, _, whose = gate.partition("/")
        if whose in ("", role) and name != _LETS_TYPE:
            if raised.until is None:
                return None
            ends.append(raised.until)
    return max(ends)


def _typed(ledger: Ledger, now: float) -> list[Fact]:
    found: list[Fact] = []
    for role in ledger.config.get("roles", {}):
        at, relay = free_at(ledger, role, now), rounds.next_relay(ledger, role)
        if at is not None and at > now and relay is not None and ledger.status(role) == "idle":
            found += [RelayDelivered(at, relay.id), RoleBusy(at, role)]
    return found


def _asked(ledger: Ledger, now: float) -> list[Fact]:
    found: list[Fact] = []
    put = {question.role for question in ledger.questions.values() if question.dialog}
    for role, seen in ledger.roles.items():
        raised = ledger.gates.get(gates.named(_DIALOG, role))
        if raised is not None and phrases.dialog_in(seen.evidence) == "permission" and role not in put:
            at = max(now, raised.since + DIALOG_ASKED_S)
            found += [QuestionAsked(at, f"dialog-{role}", role), GateCleared(at, _DIALOG, role)]
    return found


def _unknown(ledger: Ledger, now: float) -> list[Fact]:
    since = [ledger.gates[name].since for name in BLIND if name in ledger.gates]
    if not since:
        return []
    at = max(now, min(since) + ledger.window_s)
    return [RoleUnknown(at, role) for role, seen in ledger.roles.items() if seen.status not in ("unknown", "gone")]
