"""The journal for people, one line an entry; facts, decisions and the engine's own notes told apart at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matcore.engine.journal import Entry, Journal
from matcore.show.text import clock, plain

SIGNS = {"fact": "·", "decision": "▶", "engine": "~"}
STYLES = {"fact": "", "decision": "bold", "engine": "dim"}
_HIDDEN = frozenset({"number", "config", "text", "seats", "digest", "path", "configured", "body", "warnings"})
_LONGEST_VALUE = 100


def line(session: str, entry: Entry) -> str:
    """`2026-11-30 02:11:09+0100 shop-duo ▶ nudge rung=1 role=review redelivers=r-000012`."""
    return f"{clock(entry.wall)} {plain(session)} {SIGNS[entry.kind]} {plain(entry.name)}{_values(entry.data)}"


def record(session: str, entry: Entry, ended: Mapping[int, bool] | None = None) -> dict[str, Any]:
    """The entry for `--json`. A decision's name is its `event`, a fact's its `fact`, the engine's its `engine`.

    A decision that is carried out has `ok` where `ended`, by its number, knows the outcome.
    """
    key = "event" if entry.kind == "decision" else entry.kind
    shown = {**entry.data, "seq": entry.seq, "at": entry.at, "wall": entry.wall, "session": session, key: entry.name}
    ok = (ended or {}).get(int(str(entry.data["number"]))) if entry.kind == "decision" else None
    if ok is not None:
        shown["ok"] = ok
    return shown


def outcomes(journal: Journal, after: int = 0) -> dict[int, bool]:
    """What became of the decisions that were carried out since entry `after`, by their numbers."""
    ended: dict[int, bool] = {}
    for entry in journal.entries(after=after, names=["effect.ended", "engine.told"]):
        told = str(entry.data.get("notice", "")).removeprefix("n")
        number = int(told) if told.isdecimal() else entry.data.get("decision")
        if isinstance(number, int):
            ended[number] = bool(entry.data["ok"])
    return ended


def _values(data: Mapping[str, Any]) -> str:
    shown = [(key, value) for key, value in data.items() if key not in _HIDDEN and value not in (None, [], {})]
    return "".join(f" {plain(key)}={_short(value)}" for key, value in shown)


def _short(value: object) -> str:
    text = ",".join(str(v) for v in value) if isinstance(value, list) else str(value)
    text = plain(text)
    shown = text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
    return f'"{shown}"' if " " in shown else shown
