"""Cycles and the relays in them, from their sending to their delivery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matcore.engine.ledger import DELIVERED, PENDING, UNCONFIRMED, UNDELIVERABLE, Fold, Ledger, Relay


def _cycle_opened(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.progress_at = at
    ledger.cycles += 1
    ledger.cycle = data["cycle"]
    ledger.goal = data.get("goal")
    _forget_settled(ledger)


def _cycle_ended(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    if data["cycle"] == ledger.cycle:
        ledger.progress_at = at
        about = {"by": data["by"], "reason": data.get("reason"), "goal": ledger.goal}
        ledger.last_cycle = {key: str(value) for key, value in about.items() if value}
        ledger.cycle = None
        _forget_settled(ledger)


def _forget_settled(ledger: Ledger) -> None:
    """A boundary clears all debts: what was delivered before it is never redelivered."""
    ledger.relays = {r.id: r for r in ledger.relays.values() if r.status == PENDING or r.comes_again}


def _relay_sent(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    seq = int(data.get("seq") or ledger.seq + 1)
    ledger.not_seen = [n for n in ledger.not_seen if n != seq] + list(range(ledger.seq + 1, seq))
    ledger.seq = max(ledger.seq, seq)
    ledger.relays[data["id"]] = Relay(
        id=data["id"], sender=data["from"], to=data["to"], kind=data.get("kind", "request"), seq=seq, at=at,
        path=data.get("path"), body=data.get("body"), changed_at=at,
    )  # fmt: skip
    if data["from"] != "human" and data.get("kind", "request") == "request":
        ledger.progress_at = at
        _forget_answered(ledger, data["from"])


def _forget_answered(ledger: Ledger, role: str) -> None:
    """A handoff of `role` clears what it owed. Of those that it got, the last one from each peer is kept: a recovery
    may have to name it."""
    last = {relay.sender: relay.id for relay in ledger.relays.values() if relay.to == role}
    kept = set(last.values())
    ledger.relays = {
        relay.id: relay
        for relay in ledger.relays.values()
        if relay.to != role or relay.status != DELIVERED or relay.id in kept
    }


def _relay_delivered(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    settle(ledger, at, data["id"], DELIVERED if data.get("confirmed", True) else UNCONFIRMED)


def _relay_undeliverable(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    settle(ledger, at, data["id"], UNDELIVERABLE)


def _put_back(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    """It was never typed: it waits again where it stood, among those that were sent before and after it."""
    relay = ledger.relays.get(data["relay"])
    if relay is not None and relay.comes_again:
        relay.status, relay.changed_at = PENDING, at


def settle(ledger: Ledger, at: float, relay_id: str, status: str) -> None:
    """The relay has `status` from now on. What was delivered, known or not, moves the receiver's frontier."""
    relay = ledger.relays.get(relay_id)
    if relay is None:
        return
    relay.status, relay.changed_at = status, at
    if status != UNDELIVERABLE:
        seen = ledger.frontier.setdefault(relay.to, {})
        seen[relay.sender] = max(seen.get(relay.sender, 0), relay.seq)


HANDLERS: dict[str, Fold] = {
    "cycle.opened": _cycle_opened,
    "cycle.completed": _cycle_ended,
    "cycle.blocked": _cycle_ended,
    "relay.sent": _relay_sent,
    "relay.delivered": _relay_delivered,
    "relay.undeliverable": _relay_undeliverable,
    "engine.put_back": _put_back,
}
