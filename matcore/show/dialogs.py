"""A dialog on a role's screen, as it is shown: once, as what it is, and not again by what follows from it.

An agent at a dialog is neither idle nor at work. To the core its role is `unknown`, and after a window the gate
`unknown/<role>` holds beside the dialog's own gate or question; but it is known what stands there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matcore.engine.dialogs import GATES
from matcore.rules.gates import AWAITING_HUMAN, UNKNOWN
from matcore.show import phrases
from matcore.show.shapes import GateView, RoleView, Snapshot


def see(shot: Snapshot) -> None:
    """Fill in `dialog` and `dialog_since` of the roles that are at one."""
    asked = {question.role: question.since for question in shot.questions if question.dialog}
    gates = {gate.gate: gate.since for gate in shot.gates if gate.cleared is None}
    for role in shot.roles:
        login, other = gates.get(f"login/{role.role}"), gates.get(f"dialog/{role.role}")
        since = [each for each in (asked.get(role.role), login, other) if each is not None]
        if since:
            first = "permission" if role.role in asked else "login" if login is not None else "other"
            seen = phrases.dialog_in(role.evidence)
            role.dialog, role.dialog_since = seen or first, role.since if seen else min(since)


def explains(shot: Snapshot, gate: GateView) -> bool:
    """Whether a gate says no more than that a dialog stands on its role's screen, which is shown already: the role is
    unknown to the core, and the dialog's own gate only settles once the dialog is put as a question."""
    kind, role = _at_dialog(shot, gate.gate)
    return role is not None and (kind == UNKNOWN or (kind in GATES and gate.cleared is not None))


def as_told(shot: Snapshot, decision: Mapping[str, Any], at_s: float) -> Mapping[str, Any]:
    """The decision of that time (Unix), its gates named as the human was told of them: for `unknown/<role>` the dialog
    that stood there, each once."""
    told = dict(decision)
    if isinstance(decision.get("gates"), list | tuple):
        told["gates"] = list(dict.fromkeys(_reason(shot, gate, at_s) for gate in decision["gates"]))
    if isinstance(decision.get("gate"), str):
        told["gate"] = _reason(shot, decision["gate"], at_s)
    return told


def _reason(shot: Snapshot, gate: str, at_s: float) -> str:
    kind, role = _at_dialog(shot, gate)
    if kind != UNKNOWN or role is None or (role.dialog_since or role.since) > at_s:
        return gate
    standing = {each.gate for each in shot.gates}
    held = next((f"{name}/{role.role}" for name in GATES if f"{name}/{role.role}" in standing), gate)
    return AWAITING_HUMAN if any(each.dialog and each.role == role.role for each in shot.questions) else held


def _at_dialog(shot: Snapshot, gate: str) -> tuple[str, RoleView | None]:
    """A gate's kind, and its role if that is at a dialog."""
    kind, _, name = gate.partition("/")
    return kind, next((role for role in shot.roles if role.role == name and role.dialog is not None), None)
