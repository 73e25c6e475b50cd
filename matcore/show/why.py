"""In sentences: who owes what since when, why nothing is done now, what happens next, and what was decided last.

For somebody who is tired and has been called: the answer first, one idea a sentence, and what to type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from matcore.show import dialogs, endings, failures, phrases, waits
from matcore.show.phrases import LAST_RUNG
from matcore.show.shapes import GateView, Next, RelayView, RoleView, Snapshot
from matcore.show.text import clock, due, duration, lasted, moment, plain

_UNDELIVERED = {
    "unconfirmed": "was typed and not seen to arrive; it is not typed again, the ladder brings it if nothing moves",
    "undeliverable": "could not be delivered, for {to}'s agent was gone; the ladder brings it when {to} is back",
    "comes_again": "could not be delivered, for {to}'s agent was gone; it is typed when {to} is back",
}


def sentences(shot: Snapshot) -> list[str]:
    """One idea a sentence, the answer first."""
    if shot.fault is not None:
        return [plain(shot.fault)]
    if shot.state == "ended":
        when = "" if shot.ended is None else f" at {moment(shot.ended, shot.now)}, {lasted(shot.ended, shot.now)} ago"
        return [f"{plain(shot.session)} has ended{when}; nothing is watched.", *_last(shot)]
    if shot.cycle is None and shot.state == "watched":
        return [*_waits(shot), *_no_cycle(shot), *_moving(shot), *_relays(shot), *_last(shot), *_sessions(shot)]
    said = [*_waits(shot), _baton(shot), *_relays(shot)]
    if shot.state == "watched":
        said += [*_moving(shot), *_held(shot), *_next(shot)]
    elif shot.roles:
        said.append(f"Last seen: {', '.join(f'{plain(role.role)} {role.status}' for role in shot.roles)}.")
    return [*said, *_last(shot), *_sessions(shot)]


def at_that_time(shot: Snapshot, now_s: float) -> str:
    """The sentence that goes before those about a time that is over."""
    return f"As of {clock(shot.now)}, {duration(now_s - shot.now)} ago; what came later is not told here."


def _waits(shot: Snapshot) -> Iterator[str]:
    """What waits for the reader."""
    for wait in waits.of(shot):
        said = f': "{wait.text}"' if wait.text else ""
        yield f"{wait.what}{said}. {wait.verb}: {wait.command}"


def _no_cycle(shot: Snapshot) -> Iterator[str]:
    ended = shot.last_cycle
    before = "none was opened yet"
    if ended is not None:
        by = f" by {plain(ended.by)}" if ended.by else ""
        before = f"{plain(ended.cycle)} was {ended.outcome}{by} at {moment(ended.ended, shot.now)}"
    yield f"No cycle is open ({before}), so idle agents are left alone and nobody is woken."
    yield f'Open one: mat cycle open --session {plain(shot.session)} --goal "TEXT"'


def _baton(shot: Snapshot) -> str:
    baton = shot.baton
    if baton is None:
        return "Nobody owes a handoff."
    role, relay, sender = plain(baton.role), plain(baton.relay), plain(baton.sender)
    since = f"{lasted(baton.since, shot.now)} (since {moment(baton.since, shot.now)})"
    if not baton.delivered:
        return f"{role} is next: {relay} from {sender} has been on its way to it for {since} and is not delivered yet."
    said = f"{role} holds the baton: it has had {relay} from {sender} for {since} and has handed nothing over since."
    failed = next((each for each in shot.failed if each.relay == baton.relay), None)
    if failed is None:
        return said
    return f"{said} It did not work on it, {failures.how(failed)}; it still owes it, and is woken if nothing moves."


def _relays(shot: Snapshot) -> Iterator[str]:
    """Those that did not arrive, or may not have."""
    for relay in shot.relays:
        way = f"{plain(relay.id)} from {plain(relay.sender)} to {plain(relay.to)}"
        if relay.status == "pending":
            reason = held_by(relay, shot.now)
            yield f"{way} has waited for {lasted(relay.since, shot.now)}{f': {reason}' if reason else ''}."
        elif relay.status in _UNDELIVERED:
            words = _UNDELIVERED["comes_again" if relay.comes_again else relay.status]
            yield f"{way} {words.format(to=plain(relay.to))} ({lasted(relay.since, shot.now)} ago)."


def held_by(relay: RelayView, now: float) -> str:
    """Why a relay that waits is not typed now; empty where it is about to be."""
    to = plain(relay.to)
    match relay.held_by:
        case None:
            return ""
        case "busy":
            return f"{to} works, and nobody is interrupted"
        case "gone":
            return f"{to}'s agent is gone"
        case "unknown":
            return f"what {to} does can't be made out"
        case "rounds":
            return "mat asks you about the rounds first"
        case gate:
            until = "" if relay.held_until is None else f" until {moment(relay.held_until, now)}"
            return f"{plain(gate)} holds it{until}"


def _moving(shot: Snapshot) -> Iterator[str]:
    busy = [role for role in shot.roles if role.status == "busy" and role.dialog is None]
    lost = [role for role in shot.roles if role.status == "unknown" and role.dialog is None]
    for role in busy:
        yield f"{plain(role.role)} has been working for {lasted(role.since, shot.now)}{_seen(role)}."
    for role in lost:
        if role.evidence:
            yield f"What {plain(role.role)} does could not be made out for {lasted(role.since, shot.now)}{_seen(role)}."
        else:
            yield f"Nothing has been seen of {plain(role.role)} yet, for {lasted(role.since, shot.now)}."
    yield from (_ended(shot, role) for role in shot.roles if role.status == "gone" and role.restarts_at is not None)
    if shot.cycle is None:
        return
    if busy:
        yield f"Nobody is woken while somebody works. That begins after {duration(shot.window_s)} of quiet."
    elif not lost and not any(role.dialog for role in shot.roles):
        told = shot.episode is not None and shot.episode.rung >= LAST_RUNG
        yield "Nobody works." if told else f"Nobody works: it has been quiet for {duration(shot.quiet_s)}."


def _ended(shot: Snapshot, role: RoleView) -> str:
    return f"{endings.told(shot, role)}."


def _seen(role: RoleView) -> str:
    seen = phrases.evidence(role.evidence)
    return f" ({seen})" if seen else ""


def _held(shot: Snapshot) -> Iterator[str]:
    """What keeps the ladder from acting. After the last rung it never acts, whatever holds."""
    if shot.episode is None or shot.episode.rung < LAST_RUNG:
        yield from (_gate(shot, gate) for gate in shot.gates if not dialogs.explains(shot, gate))


def _gate(shot: Snapshot, gate: GateView) -> str:
    name = plain(gate.gate)
    if gate.cleared is not None:
        until = "" if gate.until is None else f" until {moment(gate.until, shot.now)}"
        over = f"{name} is over since {moment(gate.cleared, shot.now)}, {lasted(gate.cleared, shot.now)} ago"
        return f"{over}; waking stays held{until}, in case it comes back."
    means = phrases.gate(gate.gate, shot.session)
    reason = phrases.gate_reason(gate.reason)
    end = f" It ends at {moment(gate.until, shot.now)}." if gate.until is not None else ""
    told = " You were told." if gate.escalated else ""
    held = "is held back" if shot.is_due else "would be held back"
    said = f"Waking {held} by {name}, for {lasted(gate.since, shot.now)} now{f': {means}' if means else ''}"
    return f"{said}{f' [{reason}]' if reason else ''}.{end}{told}"


def _next(shot: Snapshot) -> Iterator[str]:
    for each in shot.awaits:
        what = phrases.on_its_way(each.event, each.role or "")
        yield f"{what} has been on its way for {lasted(each.since, shot.now)}; what follows holds if it arrives."
    if shot.next is None:
        if shot.episode is None or shot.episode.rung < LAST_RUNG:
            yield "If nothing moves, nothing more is decided."
        return
    yield f"If nothing moves, {phrases.coming(_told(shot, shot.next))} {due(shot.next.at, shot.now)}."
    if shot.then is not None:
        said = phrases.coming_then(shot.next.decision, _told(shot, shot.then))
        yield f"Then, if still nothing moves, {said} {due(shot.then.at, shot.now)}."


def _told(shot: Snapshot, coming: Next) -> Mapping[str, Any]:
    return dialogs.as_told(shot, coming.decision, coming.at)


def _last(shot: Snapshot) -> Iterator[str]:
    decision = shot.last_decision
    if decision is None:
        yield "Nothing has been decided yet."
    else:
        when = f"{lasted(decision['wall'], shot.now)} ago ({moment(decision['wall'], shot.now)})"
        yield f"Last decided, {when}: {phrases.done(dialogs.as_told(shot, decision, decision['wall']))}."


def _sessions(shot: Snapshot) -> Iterator[str]:
    """Which agent session each role is on: one for all rounds, until a verdict asked for another."""
    for role in shot.roles:
        if role.agent_session is not None and role.agent_session_since is not None:
            since = moment(role.agent_session_since, shot.now)
            yield f"{plain(role.role)} is on the agent session {plain(role.agent_session)} since {since}."
