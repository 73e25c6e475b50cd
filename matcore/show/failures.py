"""What was delivered and not worked on: the turn that took it up, or its agent, ended wrongly.

A message of the human's is no debt, so no ladder brings it again: it waits for the human until the role ended a later
one well, something newer was sent to it, or a cycle began or ended. A request is a debt, and stays one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from matcore.engine.book import Book
from matcore.rules import view
from matcore.rules.decisions import WakeStatus
from matcore.rules.facts import HUMAN
from matcore.show.shapes import FailedView
from matcore.show.text import plain

_ABOUT = ("wake.closed", "relay.sent", "cycle.opened", "cycle.completed", "cycle.blocked")
_MOST_READ = 200
_BY_HAND = "interrupted"
"""Whoever pressed Escape knows."""
_ENDS = {"gone": "its agent ended meanwhile", "error": "its turn failed"}


def of(book: Book, wall: Callable[[float], float]) -> list[FailedView]:
    """Oldest first. `wall`: from a time of the journal to Unix time."""
    debt, found, settled = view.debt(book.state), list[FailedView](), set[str]()
    newest = book.journal.entries(before=book.seq + 1, names=list(_ABOUT), newest_first=True)
    for entry in islice(newest, _MOST_READ):
        data = entry.data
        if entry.name.startswith("cycle."):
            break
        if entry.name == "relay.sent":
            settled |= {str(data["to"])} if data["from"] == HUMAN else set()
            continue
        role, relay = str(data["role"]), book.ledger.relays.get(str(data["message"]))
        if data["status"] != WakeStatus.FAILED:
            settled.add(role)
        elif relay is not None and role not in settled and data.get("reason") != _BY_HAND:
            is_owed = debt is not None and debt.relay == relay.id
            reason, text = str(data.get("reason") or "error"), relay.body or ""
            if is_owed or relay.sender == HUMAN:
                found.append(FailedView(relay.id, relay.sender, role, reason, wall(entry.at), text))
    return found[::-1]


def how(failed: FailedView) -> str:
    """`its turn ended with exit code -9`."""
    reason = plain(failed.reason)
    return _ENDS.get(failed.reason, f"its turn {'ended with' if reason.startswith('exit ') else 'failed:'} {reason}")
