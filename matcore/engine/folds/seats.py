"""Who sits in each role and what was seen of it: agents that are started, named, lost, started again and renewed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matcore.engine.ledger import DUE, RENEWED, RENEWING, Fold, Ledger, RoleSeen, Seat

_LAST_ENDS = 8
_LONGEST_SAID = 600


def _seat_taken(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    take_seat(ledger, at, data["role"], data["seat"])
    ledger.left.pop(data["role"], None)
    if ledger.exhausted.get(data["role"]) == RENEWING:
        ledger.exhausted[data["role"]] = RENEWED
    _restart_over(ledger, at, data)


def take_seat(ledger: Ledger, at: float, role: str, identity: Mapping[str, Any]) -> None:
    """`identity` is the driver's of what sits there now. One that was found running keeps what is known of it."""
    before = ledger.seats.get(role)
    agent_session = identity.get("agent_session")
    if before is not None and not identity.get("started"):
        agent_session = before.agent_session  # what was heard since is newer than what it was launched with
    same = before is not None and before.agent_session == agent_session
    since = before.since if same and before else at
    started_at = at if identity.get("started") else before.started_at if before else None
    needs_prompt = _needs_prompt(before, identity)
    is_open = before is not None and same and before.is_open
    ledger.seats[role] = Seat(
        dict(identity), agent_session, since, needs_prompt, started_at=started_at, is_open=is_open
    )


def _needs_prompt(before: Seat | None, identity: Mapping[str, Any]) -> bool:
    """An agent that runs on, and an agent session that is taken up, need it if they did."""
    if before is not None and not identity.get("started"):
        return before.needs_prompt
    agent_session = identity.get("agent_session")
    taken_up = before is not None and agent_session is not None and before.agent_session == agent_session
    return bool(identity.get("needs_prompt")) or (taken_up and before is not None and before.needs_prompt)


def _on_session(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    """The program said which agent session it is on."""
    seat = ledger.seats.get(data["role"])
    if seat is not None:
        seat.agent_session, seat.since = data["agent_session"], at
        seat.seen_alive(after_a_turn=True)


def _role_seen(status: str) -> Fold:
    def seen(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
        before = ledger.roles.get(data["role"])
        since = before.since if before is not None and before.status == status else at
        ledger.roles[data["role"]] = RoleSeen(status, since, str(data.get("evidence", "")))
        if status in ("busy", "idle"):
            ledger.lost = False
            _seen_alive(ledger, data["role"], after_a_turn=False)

    return seen


def _seen_alive(ledger: Ledger, role: str, *, after_a_turn: bool) -> None:
    seat = ledger.seats.get(role)
    if seat is not None:
        seat.seen_alive(after_a_turn=after_a_turn)


def _turn_ended(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    _seen_alive(ledger, data["role"], after_a_turn=data.get("outcome", "ok") == "ok")


def _gone(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    """An agent ends once, however often it is seen gone."""
    _role_seen("gone")(ledger, at, data)
    seat = ledger.seats.get(data["role"])
    if seat is None:
        return
    if not seat.is_lost and data["role"] not in ledger.restarting:
        _ended_itself(ledger, at, data)
    if not seat.is_lost:
        seat.lived_s = None if seat.started_at is None else at - seat.started_at
    seat.is_lost, seat.resumable = True, bool(data.get("resumable"))
    seat.said = str(data.get("said") or seat.said)[:_LONGEST_SAID]


def _ended_itself(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.ends[data["role"]] = [*ledger.ends.get(data["role"], []), at][-_LAST_ENDS:]


def forget_ends(ledger: Ledger, at: float, role: str) -> None:
    """A person has seen to it: they are counted anew from now on."""
    if ledger.ends.pop(role, None):
        ledger.counted_from[role] = at
    ledger.crash_loops = [each for each in ledger.crash_loops if each != role]


def _crash_loop(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.crash_loops.append(data["role"])


def _restarting(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    if data.get("by") != "mat":
        forget_ends(ledger, at, data["role"])
    if data["role"] not in ledger.restarting:
        ledger.restarting.append(data["role"])


def _restart_failed(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    _restart_over(ledger, at, data)
    if ledger.status(data["role"]) == "gone":
        _ended_itself(ledger, at, data)


def _restart_over(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.restarting = [role for role in ledger.restarting if role != data["role"]]


def _exhausted(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.exhausted[data["role"]] = DUE


def _renewing(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    if data["role"] in ledger.exhausted:
        ledger.exhausted[data["role"]] = RENEWING


def _renewed(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.exhausted.pop(data["role"], None)


HANDLERS: dict[str, Fold] = {
    "engine.seat": _seat_taken,
    "engine.on_session": _on_session,
    "engine.restarting": _restarting,
    "engine.restart_failed": _restart_failed,
    "engine.renewing": _renewing,
    "engine.crash_loop": _crash_loop,
    "role.busy": _role_seen("busy"),
    "role.idle": _role_seen("idle"),
    "role.unknown": _role_seen("unknown"),
    "role.gone": _gone,
    "turn.ended": _turn_ended,
    "context.exhausted": _exhausted,
    "context.fresh": _renewed,
    "agent.renewed": _renewed,
}
