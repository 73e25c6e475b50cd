"""Texts on their way into seats, and the decisions that wait for what became of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matcore.engine.driver import Verdict
from matcore.engine.folds import relays
from matcore.engine.ledger import DELIVERED, PENDING, UNDELIVERABLE, Awaited, Flight, Fold, Ledger

_LAST_TYPED = 8


def _inject(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.injected += 1
    ledger.typed[data["role"]] = [*ledger.typed.get(data["role"], []), data["text"]][-_LAST_TYPED:]
    ledger.flights[data["job"]] = Flight(
        data["job"], data["kind"], data["role"], at, data.get("relay"), data.get("decision"), bool(data.get("pointed"))
    )


def _injected(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    flight = ledger.flights.pop(data["job"], None)
    if flight is None:
        return
    verdict = Verdict(data["verdict"])
    if verdict is Verdict.UNCONFIRMED:
        ledger.left[flight.role] = ledger.typed[flight.role][-1]
    elif verdict is Verdict.SUBMITTED:
        ledger.left.pop(flight.role, None)
        if flight.pointed and flight.role in ledger.seats:
            ledger.seats[flight.role].needs_prompt = False
    if flight.kind == "wrapup" and flight.decision is not None and verdict is not Verdict.REFUSED:
        ledger.wrapups = [n for n in ledger.wrapups if n != flight.decision]
        ledger.wrapup_of.pop(str(flight.decision), None)


def _wrapup(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.wrapups.append(data["number"])
    ledger.wrapup_of[str(data["number"])] = {**data, "goal": ledger.goal}


def awaits(event: str) -> Fold:
    """A decision of that name was made; `effect.ended` says what became of it."""

    def decided(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
        number = data["number"]
        ledger.awaited[str(number)] = Awaited(number, event, data.get("role"), at, data.get("redelivers"))

    return decided


def _effect_ended(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    awaited = ledger.awaited.pop(str(data["decision"]), None)
    ledger.untold.pop(str(data["decision"]), None)
    relay = ledger.relays.get(awaited.redelivers) if awaited is not None and awaited.redelivers else None
    if data["ok"] and relay is not None and relay.status in (PENDING, UNDELIVERABLE):
        relays.settle(ledger, at, relay.id, DELIVERED)


HANDLERS: dict[str, Fold] = {
    "engine.inject": _inject,
    "engine.injected": _injected,
    "effect.ended": _effect_ended,
    "nudge": awaits("nudge"),
    "final_check": awaits("final_check"),
    "recovery.delivered": awaits("recovery.delivered"),
    "goal.wrapup": _wrapup,
}
