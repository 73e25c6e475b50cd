"""In sentences: who owes what since when, what was decided last, why nothing is done now, and what happens next."""

from __future__ import annotations

from matcore.show.snapshot import Snapshot
from matcore.show.status import what_next
from matcore.show.text import clock, duration, plain


def sentences(shot: Snapshot) -> list[str]:
    """One idea a sentence, the answer first."""
    return [_baton(shot), *_last(shot), *_now(shot), _next(shot)]


def _baton(shot: Snapshot) -> str:
    if shot.baton is None:
        return "Nobody owes a handoff."
    since = f"since {clock(shot.baton.since)} ({duration(shot.now - shot.baton.since)})"
    arrived = "" if shot.baton.delivered else "; it has not arrived there yet"
    return f"{shot.baton.role} owes an answer to {shot.baton.relay} of {shot.baton.sender} {since}{arrived}."


def _last(shot: Snapshot) -> list[str]:
    decision = shot.last_decision
    if decision is None:
        return ["Nothing has been decided yet."]
    keys = ("rung", "role", "kind", "gates", "gate", "message", "status", "reason", "redelivers", "by")
    about = ", ".join(f"{key} {plain(decision[key])}" for key in keys if decision.get(key) not in (None, []))
    return [f"Last decided: {decision['event']}{f' ({about})' if about else ''} at {clock(decision['wall'])}."]


def _now(shot: Snapshot) -> list[str]:
    if shot.state == "ended":
        return ["The session has ended."]
    if shot.state == "failed":
        return ["mat itself failed in this session and watches it no longer; see: mat log --kind engine.mistake"]
    if shot.state == "unwatched":
        return ["Nobody watches: the supervisor is not running, and no time adds up. Start it: mat up."]
    if shot.cycle is None:
        return ["No cycle is open: an idle session without a cycle is left alone."]
    return [*_moving(shot), *_held(shot), *_told(shot)]


def _moving(shot: Snapshot) -> list[str]:
    busy = [role for role in shot.roles if role.status == "busy"]
    lost = [role for role in shot.roles if role.status == "unknown"]
    said = [f"{role.role} works since {clock(role.since)} (by {plain(role.evidence)})." for role in busy]
    said += [f"{role.role} can't be made out since {clock(role.since)}." for role in lost]
    if said:
        return [*said, "Nothing is due while anybody works."] if busy else said
    gone = [role.role for role in shot.roles if role.status == "gone"]
    end = f" ({', '.join(gone)} gone)" if gone else ""
    return [f"All are quiet{end}; {duration(shot.quiet_s)} of quiet have added up."]


def _held(shot: Snapshot) -> list[str]:
    said = []
    for gate in shot.gates:
        end = f", it ends at {clock(gate.until)}" if gate.until is not None else ""
        reason = f" ({plain(gate.reason)})" if gate.reason else ""
        said.append(f"The ladder is held by {gate.gate}{reason} since {clock(gate.since)}{end}.")
    return said


def _told(shot: Snapshot) -> list[str]:
    if shot.episode is not None and shot.episode.rung >= 3:
        return [f"Episode {shot.episode.episode} has used its last rung: you were told, and nothing more is tried."]
    return []


def _next(shot: Snapshot) -> str:
    if shot.next is None:
        return "If nothing moves, nothing is decided any more."
    return f"If nothing moves: {plain(what_next(shot.next, shot.now))}, at {clock(shot.next.at)}."
