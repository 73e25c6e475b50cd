"""How the ledger is folded from the journal: one function for each name of an entry that says something to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from matcore.engine import tally
from matcore.engine.ledger import (
    DELIVERED,
    PENDING,
    UNCONFIRMED,
    UNDELIVERABLE,
    Awaited,
    Flight,
    Ledger,
    Notice,
    Question,
    Raised,
    Relay,
    RoleSeen,
    Seat,
    SetAside,
)

_LAST_NOTICES = 64
_LAST_SET_ASIDE = 16
_LAST_TYPED = 8
_LAST_ENDS = 8
_LONGEST_SAID = 600
RUNG_3 = "idle-recovery"
"""The kind of notification whose outcome the core waits for; every other one is handed over once."""


def apply(ledger: Ledger, name: str, at: float, data: Mapping[str, Any]) -> None:
    """Take in one entry of the journal, whatever its kind."""
    handler = _HANDLERS.get(name)
    if handler is not None:
        handler(ledger, at, data)
    tally.apply(ledger.tally, name, at, data)


_Handler = Callable[[Ledger, float, Mapping[str, Any]], None]


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
            _forget_ends(ledger, role)
        _seat(ledger, at, {"role": role, "seat": identity})


def _seat(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    identity = dict(data["seat"])
    role = data["role"]
    before = ledger.seats.get(role)
    agent_session = identity.get("agent_session")
    if before is not None and not identity.get("started"):
        agent_session = before.agent_session  # what was heard since is newer than what it was launched with
    same = before is not None and before.agent_session == agent_session
    since = before.since if same and before else at
    started_at = at if identity.get("started") else before.started_at if before else None
    ledger.seats[role] = Seat(
        identity, agent_session, since, _needs_prompt(before, identity), started_at=started_at
    )  # fmt: skip


def _on_session(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    """The program said which agent session it is on."""
    seat = ledger.seats.get(data["role"])
    if seat is not None:
        seat.agent_session, seat.since = data["agent_session"], at


def _needs_prompt(before: Seat | None, identity: Mapping[str, Any]) -> bool:
    """An agent that runs on, and an agent session that is taken up, need it if they did."""
    if before is not None and not identity.get("started"):
        return before.needs_prompt
    agent_session = identity.get("agent_session")
    taken_up = before is not None and agent_session is not None and before.agent_session == agent_session
    return bool(identity.get("needs_prompt")) or (taken_up and before is not None and before.needs_prompt)


def _seat_taken(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    _seat(ledger, at, data)
    ledger.left.pop(data["role"], None)
    if ledger.exhausted.get(data["role"]) == "renewing":
        ledger.exhausted[data["role"]] = "renewed"
    _restart_over(ledger, at, data)


def _renewing(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    if data["role"] in ledger.exhausted:
        ledger.exhausted[data["role"]] = "renewing"


def _exhausted(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.exhausted[data["role"]] = "due"


def _fresh(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.exhausted.pop(data["role"], None)


def _lost_agent(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
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


def _forget_ends(ledger: Ledger, role: str) -> None:
    """A person has seen to it."""
    ledger.ends.pop(role, None)
    ledger.crash_loops = [each for each in ledger.crash_loops if each != role]


def _crash_loop(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.crash_loops.append(data["role"])


def _restart_failed(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    _restart_over(ledger, at, data)
    if ledger.status(data["role"]) == "gone":
        _ended_itself(ledger, at, data)


def _restarting(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    if data.get("by") != "mat":
        _forget_ends(ledger, data["role"])
    if data["role"] not in ledger.restarting:
        ledger.restarting.append(data["role"])


def _restart_over(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.restarting = [role for role in ledger.restarting if role != data["role"]]


def _ending(ledger: Ledger, _at: float, _data: Mapping[str, Any]) -> None:
    ledger.ending = True


def _end_failed(ledger: Ledger, _at: float, _data: Mapping[str, Any]) -> None:
    ledger.ending = False


def _down(ledger: Ledger, at: float, _data: Mapping[str, Any]) -> None:
    ledger.ended_at = at


def _cycle_opened(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.progress_at = at
    ledger.cycles += 1
    ledger.cycle = data["cycle"]
    ledger.goal = data.get("goal") or ledger.config.get("goal")
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
    ledger.relays = {r.id: r for r in ledger.relays.values() if r.status == PENDING}


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
    _settle(ledger, at, data["id"], DELIVERED if data.get("confirmed", True) else UNCONFIRMED)


def _relay_undeliverable(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    _settle(ledger, at, data["id"], UNDELIVERABLE)


def _settle(ledger: Ledger, at: float, relay_id: str, status: str) -> None:
    relay = ledger.relays.get(relay_id)
    if relay is None:
        return
    relay.status, relay.changed_at = status, at
    if status != UNDELIVERABLE:
        seen = ledger.frontier.setdefault(relay.to, {})
        seen[relay.sender] = max(seen.get(relay.sender, 0), relay.seq)


def _watch_stopped(ledger: Ledger, at: float, _data: Mapping[str, Any]) -> None:
    ledger.watching, ledger.watched_at = False, at


def _watch_resumed(ledger: Ledger, at: float, _data: Mapping[str, Any]) -> None:
    ledger.watching, ledger.watched_at = True, at
    ledger.mistake = None
    for role in ledger.roles:
        ledger.roles[role] = RoleSeen("unknown", at, "nobody watched")


def _role_seen(status: str) -> _Handler:
    def seen(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
        before = ledger.roles.get(data["role"])
        since = before.since if before is not None and before.status == status else at
        ledger.roles[data["role"]] = RoleSeen(status, since, str(data.get("evidence", "")))
        if status in ("busy", "idle"):
            ledger.lost = False

    return seen


def _asked(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    question = data["question"]
    ledger.questions[question] = Question(
        question, data["role"], str(data.get("text", "")), at, bool(data.get("dialog", False)), data.get("by") == "mat"
    )


def _answered(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.questions.pop(data["question"], None)


def _gate_raised(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    name = gate_name(data)
    before = ledger.gates.get(name)
    since = before.since if before is not None else at
    ledger.gates[name] = Raised(since, data.get("until"), str(data.get("reason") or data.get("evidence") or ""))


def _gate_cleared(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.gates.pop(gate_name(data), None)


def gate_name(data: Mapping[str, Any]) -> str:
    """`copy-mode/dev` or `tmux-unreachable`."""
    role = data.get("role")
    return f"{data['gate']}/{role}" if role else str(data["gate"])


def _inject(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.injected += 1
    ledger.typed[data["role"]] = [*ledger.typed.get(data["role"], []), data["text"]][-_LAST_TYPED:]
    ledger.flights[data["job"]] = Flight(
        data["job"], data["kind"], data["role"], at, data.get("relay"), data.get("decision"), bool(data.get("pointed"))
    )


def _lost(ledger: Ledger, _at: float, _data: Mapping[str, Any]) -> None:
    ledger.lost = True


def _injected(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    flight = ledger.flights.pop(data["job"], None)
    if flight is not None and data["verdict"] == "unconfirmed":
        ledger.left[flight.role] = ledger.typed[flight.role][-1]
    elif flight is not None and data["verdict"] == "submitted":
        ledger.left.pop(flight.role, None)
    if flight is not None and flight.pointed and data["verdict"] == "submitted" and flight.role in ledger.seats:
        ledger.seats[flight.role].needs_prompt = False
    if flight is not None and flight.kind == "wrapup" and data["verdict"] != "refused" and flight.decision is not None:
        ledger.wrapups = [n for n in ledger.wrapups if n != flight.decision]
        ledger.wrapup_of.pop(str(flight.decision), None)


def _effect_ended(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    awaited = ledger.awaited.pop(str(data["decision"]), None)
    ledger.untold.pop(str(data["decision"]), None)
    relay = ledger.relays.get(awaited.redelivers) if awaited is not None and awaited.redelivers else None
    if data["ok"] and relay is not None and relay.status in (PENDING, UNDELIVERABLE):
        _settle(ledger, at, relay.id, DELIVERED)


def _notify(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.untold[str(data["number"])] = {**data, "at": at}
    if data["kind"] == RUNG_3:
        _await("notify")(ledger, at, data)


def _await(event: str) -> _Handler:
    def decided(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
        number = data["number"]
        ledger.awaited[str(number)] = Awaited(number, event, data.get("role"), at, data.get("redelivers"))

    return decided


def _wrapup(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.wrapups.append(data["number"])
    ledger.wrapup_of[str(data["number"])] = {**data, "goal": ledger.goal}


def _telling(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    if data["kind"] == RUNG_3:  # a new attempt takes the place of one that reached nobody
        ledger.notices = {n.id: n for n in ledger.notices.values() if n.kind != RUNG_3 or n.ok}
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


def _aside(ledger: Ledger, at: float, data: Mapping[str, Any]) -> None:
    ledger.set_aside_total += 1
    ledger.set_aside = [*ledger.set_aside, SetAside(data["name"], data["reason"], at)][-_LAST_SET_ASIDE:]


def _trouble(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.troubles[data["what"]] = str(data.get("reason", ""))


def _mended(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.troubles.pop(data["what"], None)


def _mistake(ledger: Ledger, _at: float, data: Mapping[str, Any]) -> None:
    ledger.mistake = data["text"]


_HANDLERS: dict[str, _Handler] = {
    "engine.up": _up,
    "engine.seat": _seat_taken,
    "engine.on_session": _on_session,
    "engine.restarting": _restarting,
    "engine.restart_failed": _restart_failed,
    "engine.renewing": _renewing,
    "engine.crash_loop": _crash_loop,
    "engine.ending": _ending,
    "engine.end_failed": _end_failed,
    "engine.down": _down,
    "engine.lost": _lost,
    "engine.inject": _inject,
    "engine.injected": _injected,
    "engine.telling": _telling,
    "engine.told": _told,
    "engine.withdrawn": _withdrawn,
    "engine.trouble": _trouble,
    "engine.mended": _mended,
    "engine.set_aside": _aside,
    "engine.mistake": _mistake,
    "cycle.opened": _cycle_opened,
    "cycle.completed": _cycle_ended,
    "cycle.blocked": _cycle_ended,
    "relay.sent": _relay_sent,
    "relay.delivered": _relay_delivered,
    "relay.undeliverable": _relay_undeliverable,
    "watch.stopped": _watch_stopped,
    "watch.resumed": _watch_resumed,
    "role.busy": _role_seen("busy"),
    "role.idle": _role_seen("idle"),
    "role.gone": _lost_agent,
    "context.exhausted": _exhausted,
    "context.fresh": _fresh,
    "agent.renewed": _fresh,
    "role.unknown": _role_seen("unknown"),
    "question.asked": _asked,
    "question.answered": _answered,
    "gate.raised": _gate_raised,
    "gate.cleared": _gate_cleared,
    "effect.ended": _effect_ended,
    "nudge": _await("nudge"),
    "notify": _notify,
    "final_check": _await("final_check"),
    "recovery.delivered": _await("recovery.delivered"),
    "goal.wrapup": _wrapup,
}
