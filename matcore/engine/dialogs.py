"""Which gates stand for a dialog on an agent's screen, so that the human is told of that and of nothing it causes.

An agent at a dialog is neither idle nor at work, so its role is `unknown`, and after a window the core holds
`unknown/<role>` beside the dialog's own gate or question. But it is known what stands there.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcore.engine.ledger import Ledger
from matcore.rules.gates import AWAITING_HUMAN, UNKNOWN

GATES = ("dialog", "login")
"""The gates of a dialog itself, by kind."""


def told_by(ledger: Ledger, gates: Sequence[str]) -> list[str]:
    """The gates as the human is told of them, each once: for `unknown/<role>` the dialog that is its reason."""
    return list(dict.fromkeys(_reason(ledger, gate) or gate for gate in gates))


def _reason(ledger: Ledger, gate: str) -> str | None:
    """The gate of the dialog for which the role of `unknown/<role>` can't be made out; None where there is none."""
    kind, _, role = gate.partition("/")
    if kind != UNKNOWN:
        return None
    held = next((f"{name}/{role}" for name in GATES if f"{name}/{role}" in ledger.gates), None)
    asks = any(question.dialog and question.role == role for question in ledger.questions.values())
    return held or (AWAITING_HUMAN if asks else None)
