"""The session as a whole: what it was begun with, whether it is watched or has ended, what is wrong around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matcore.engine.folds import seats
from matcore.engine.ledger import Fold, Ledger, RoleSeen, SetAside

_LAST_SET_ASIDE = 16


def _up(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.session = data["session"]
    ledger.workdir = data["workdir"]
    ledger.path = data["path"]
    ledger.command = data["command"]
    ledger.size = (data["size"][0], data["size"][1])
    ledger.config = data["config"]
    ledger.opened_at = ledger.opened_at or at
    for role, identity in data["seats"].items():
        if identity.get("started"):
            seats.forget_ends(ledger, at, role)
        seats.take_seat(ledger, at, role, identity)


def _ending(ledger: Ledger, _at: float, _data: Mapping[str, Any]) -> None:
    ledger.ending = True


def _end_failed(ledger: Ledger, _at: float, _data: Mapping[str, Any]) -> None:
    ledger.ending = False


def _down(ledger: Ledger, at: float, _data: Mapping[str, Any]) -> None:
    ledger.ended_at = at


def _watch_stopped(ledger: Ledger, at: float, _data: Mapping[str, Any]) -> None:
    ledger.watching, ledger.watched_at = False, at


def _watch_resumed(ledger: Ledger, at: float, _data: Mapping[str, Any]) -> None:
    ledger.watching, ledger.watched_at = True, at
    ledger.mistake = None
    for role in ledger.roles:
        ledger.roles[role] = RoleSeen("unknown", at, "nobody watched")


def _lost(ledger: Ledger, _at: float, _data: Mapping[str, Any]) -> None:
    ledger.lost = True


def _trouble(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.troubles[data["what"]] = str(data.get("reason", ""))


def _mended(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.troubles.pop(data["what"], None)


def _aside(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.set_aside_total += 1
    ledger.set_aside = [*ledger.set_aside, SetAside(data["name"], data["reason"], at)][-_LAST_SET_ASIDE:]


def _mistake(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.mistake = data["text"]


HANDLERS: dict[str, Fold] = {
    "engine.up": _up,
    "engine.ending": _ending,
    "engine.end_failed": _end_failed,
    "engine.down": _down,
    "engine.lost": _lost,
    "engine.trouble": _trouble,
    "engine.mended": _mended,
    "engine.set_aside": _aside,
    "engine.mistake": _mistake,
    "watch.stopped": _watch_stopped,
    "watch.resumed": _watch_resumed,
}
