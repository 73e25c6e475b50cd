"""What holds the work up: questions that wait for the human, and gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matcore.engine.ledger import Fold, Ledger, Question, Raised
from matcore.engine.tally import MAT
from matcore.rules import gates


def _asked(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    question = data["question"]
    ledger.questions[question] = Question(
        question, data["role"], str(data.get("text", "")), at, bool(data.get("dialog", False)), data.get("by") == MAT
    )


def _answered(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.questions.pop(data["question"], None)


def _gate_raised(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    name = gates.named(data["gate"], data.get("role"))
    before = ledger.gates.get(name)
    since = before.since if before is not None else at
    ledger.gates[name] = Raised(since, data.get("until"), str(data.get("reason") or data.get("evidence") or ""))


def _gate_cleared(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.gates.pop(gates.named(data["gate"], data.get("role")), None)


HANDLERS: dict[str, Fold] = {
    "question.asked": _asked,
    "question.answered": _answered,
    "gate.raised": _gate_raised,
    "gate.cleared": _gate_cleared,
}
