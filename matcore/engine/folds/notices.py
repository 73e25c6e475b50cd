"""What the human is to be told: decided, handed to the channels, taken by one or withdrawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matcore.engine.folds import texts
from matcore.engine.ledger import Fold, Ledger, Notice
from matcore.rules.decisions import NotifyKind

_LAST_NOTICES = 64


def _notify(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    """The core waits for the outcome of rung 3; every other one is handed over once."""
    ledger.untold[str(data["number"])] = {**data, "at": at}
    if data["kind"] == NotifyKind.IDLE_RECOVERY:
        texts.awaits("notify")(ledger, at, data)


def _telling(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    if data["kind"] == NotifyKind.IDLE_RECOVERY:  # a new attempt takes the place of one that reached nobody
        ledger.notices = {n.id: n for n in ledger.notices.values() if n.kind != NotifyKind.IDLE_RECOVERY or n.ok}
    ledger.notices[data["notice"]] = Notice(
        data["notice"], data["kind"], at, data["action"], data["text"],
        decision=data.get("decision"), cause=dict(data.get("cause") or {}),
    )  # fmt: skip
    ledger.untold.pop(str(data.get("decision")), None)
    told = [n.id for n in ledger.notices.values() if n.ok]
    for notice_id in told[: max(0, len(ledger.notices) - _LAST_NOTICES)]:
        del ledger.notices[notice_id]


def _withdrawn(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.notices.pop(data["notice"], None)
    ledger.untold.pop(str(data.get("decision")), None)


def _told(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    notice = ledger.notices.get(data["notice"])
    if notice is not None:
        notice.ok, notice.said = data["ok"], str(data.get("said", ""))


HANDLERS: dict[str, Fold] = {
    "engine.telling": _telling,
    "engine.told": _told,
    "engine.withdrawn": _withdrawn,
    "notify": _notify,
}
