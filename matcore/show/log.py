"""The journal for people, one line an entry; facts, decisions and the engine's own notes told apart at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from matcore.show.text import clock, json_line, plain, short
from matcore.words import marks

if TYPE_CHECKING:
    from matcore.engine.journal import Entry, Journal

SIGNS = {"fact": "·", "decision": "▶", "engine": "~"}
STYLES = {"fact": "", "decision": "bold", "engine": "dim"}
_HIDDEN = frozenset({
    "number", "config", "text", "seats", "digest", "path", "configured", "body", "warnings", "job", "started",
    "command", "size", "pointed",
})  # fmt: skip
_FIRST = (
    "episode",
    "rung",
    "id",
    "message",
    "role",
    "from",
    "to",
    "gate",
    "gates",
    "cycle",
    "kind",
    "status",
    "reason",
)
_LONGEST_VALUE = 100
_REASONS = {
    "signal_only": "nothing to answer",
    "no_reply": "its turn ended without a reply, also after it was asked once",
    "acked": "seen, nothing to add",
    "gone": "its agent ended",
    "error": "its turn failed",
    "context_exhausted": "its context was full; it is reminded in the next",
    "new_session": "its agent session was replaced",
    "boundary": "its cycle ended",
}
"""Why a wake was closed."""


def line(session: str, entry: Entry) -> str:
    """`2026-11-30 02:11:09+0100 shop-duo ▶ nudge episode=1 rung=1 role=review`."""
    said = f"{plain(entry.name)}{_values(entry.data)}{_means(entry)}"
    return f"{clock(entry.wall)} {plain(session)} {SIGNS[entry.kind]} {said}"


def record(session: str, entry: Entry, ended: Mapping[int, bool] | None = None) -> dict[str, Any]:
    """The entry for `--json`. A decision's name is its `event`, a fact's its `fact`, the engine's its `engine`.

    A decision that is carried out has `ok` where `ended`, by its number, knows the outcome.
    """
    key = "event" if entry.kind == "decision" else entry.kind
    shown: dict[str, Any] = {"seq": entry.seq, "at": entry.at, "wall": entry.wall, "session": session, key: entry.name}
    shown.update((name, value) for name, value in entry.data.items() if name not in shown)
    ok = (ended or {}).get(int(str(entry.data["number"]))) if entry.kind == "decision" else None
    if ok is not None:
        shown["ok"] = ok
    return shown


def outcomes(journal: Journal, after: int = 0, before: int | None = None) -> dict[int, bool]:
    """What became of the decisions that were carried out since entry `after` and before `before`, by their numbers."""
    ended: dict[int, bool] = {}
    for entry in journal.entries(after=after, before=before, names=["effect.ended", "engine.told"]):
        told = str(entry.data.get("notice", "")).removeprefix("n")
        number = int(told) if told.isdecimal() else entry.data.get("decision")
        if isinstance(number, int):
            ended[number] = bool(entry.data["ok"])
    return ended


def _means(entry: Entry) -> str:
    """What the fixed words of an entry mean, where they say too little."""
    data = entry.data
    if entry.name == "wake.closed":
        means = _REASONS.get(str(data.get("reason")), "")
    elif entry.name == "engine.inject" and data.get("pointed"):
        means = "it begins with where the role's instructions are"
    elif entry.name == "engine.inject" and data.get("kind") == "nudge":
        means = f"marked in the text as {marks.IDLE_RECOVERY}, by its episode and the number {data.get('decision')}"
    else:
        means = ""
    return f" ({plain(means)})" if means else ""


def _values(data: Mapping[str, Any]) -> str:
    keys = [*(key for key in _FIRST if key in data), *(key for key in data if key not in _FIRST)]
    shown = [(key, data[key]) for key in keys if key not in _HIDDEN and data[key] not in (None, [], {}, "")]
    return "".join(f" {plain(key)}={_short(value)}" for key, value in shown)


def _short(value: object) -> str:
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        text = ",".join(map(str, value))
    else:
        text = value if isinstance(value, str) else json_line(value)
    shown = short(text, _LONGEST_VALUE)
    return f'"{shown}"' if " " in shown else shown
