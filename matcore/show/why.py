"""In sentences: who owes what since when, why nothing is done now, what happens next, and what was decided last.

For somebody who is tired and has been called: the answer first, one idea a sentence, and what to type.
"""

from __future__ import annotations

from collections.abc import Iterator

from matcore.show import phrases
from matcore.show.phrases import LAST_RUNG
from matcore.show.snapshot import Snapshot
from matcore.show.text import duration, moment, plain


def sentences(shot: Snapshot) -> list[str]:
    """One idea a sentence, the answer first."""
    if shot.fault is not None:
        return [plain(shot.fault)]
    if shot.state == "ended":
        return [f"{plain(shot.session)} has ended; nothing is watched.", *_last(shot)]
    if shot.cycle is None and shot.state == "watched":
        return [*_waits(shot), *_idle(shot), *_last(shot), *_sessions(shot)]
    return [*_waits(shot), _baton(shot), *_now(shot), *_last(shot), *_next(shot), *_sessions(shot)]


def _waits(shot: Snapshot) -> Iterator[str]:
    """What waits for the reader."""
    for question in shot.questions:
        how = f"mat attach {shot.session} {question.role}" if question.dialog else _answer(shot, question.id)
        yield (
            f"{plain(question.role)} has been waiting for your answer for {_for(shot, question.since)}: "
            f'"{plain(question.text)}". Answer: {plain(how)}'
        )
    for notice in shot.not_delivered:
        when = moment(notice.at, shot.now)
        yield f"A notification ({plain(notice.kind)}) of {when} has not reached you: {plain(notice.said)}."


def _answer(shot: Snapshot, question: str) -> str:
    """Names the question where there are several."""
    several = sum(not each.dialog for each in shot.questions) > 1
    return f'mat answer {shot.session}{f" --question {question}" if several else ""} "TEXT"'


def _sessions(shot: Snapshot) -> Iterator[str]:
    """Which agent session each role is on: one for all rounds, until a verdict asked for another."""
    for role in shot.roles:
        if role.agent_session is not None and role.agent_session_since is not None:
            since = moment(role.agent_session_since, shot.now)
            yield f"{plain(role.role)} is on the agent session {plain(role.agent_session)} since {since}."


def _idle(shot: Snapshot) -> Iterator[str]:
    before = "the last one has ended" if shot.last_decision is not None else "none was opened yet"
    yield f"No cycle is open ({before}), so idle agents are left alone and nobody is woken."
    yield f'Open one: mat cycle open --session {plain(shot.session)} --goal "TEXT"'


def _baton(shot: Snapshot) -> str:
    baton = shot.baton
    if baton is None:
        return "Nobody owes a handoff."
    role, relay, sender = plain(baton.role), plain(baton.relay), plain(baton.sender)
    since = f"{_for(shot, baton.since)} (since {moment(baton.since, shot.now)})"
    if not baton.delivered:
        return f"{role} is next: {relay} from {sender} has been on its way to it for {since} and is not delivered yet."
    return f"{role} holds the baton: it has had {relay} from {sender} for {since} and has handed nothing over since."


def _now(shot: Snapshot) -> Iterator[str]:
    if shot.state == "failed":
        name = plain(shot.session)
        yield f"mat itself failed in this session and no longer watches it; see: mat log {name} --kind engine.mistake"
    elif shot.state == "unwatched":
        yield "Nobody watches this session, so nothing is noticed and nobody is woken. Start the supervisor: mat up"
    elif shot.state == "hangs":
        age = duration(shot.supervisor.heartbeat_age_s or 0.0)
        yield f"The supervisor hangs: its last heartbeat was {age} ago. What is said here may be old; see: mat doctor"
    else:
        yield from _moving(shot)
        yield from _held(shot)


def _moving(shot: Snapshot) -> Iterator[str]:
    busy = [role for role in shot.roles if role.status == "busy"]
    lost = [role for role in shot.roles if role.status == "unknown"]
    for role in busy:
        seen = f" ({phrases.evidence(role.evidence)})" if role.evidence else ""
        yield f"{plain(role.role)} has been working for {_for(shot, role.since)}{seen}."
    for role in lost:
        seen = f" ({phrases.evidence(role.evidence)})" if role.evidence else ""
        yield f"What {plain(role.role)} does could not be made out for {_for(shot, role.since)}{seen}."
    if busy:
        yield "Nobody is woken while somebody works."
    if busy or lost:
        return
    gone = [plain(role.role) for role in shot.roles if role.status == "gone"]
    end = f" ({', '.join(gone)} ended; start again: mat restart {plain(shot.session)} {gone[0]})" if gone else ""
    told = shot.episode is not None and shot.episode.rung >= LAST_RUNG
    yield f"Nobody works{end}." if told else f"Nobody works{end}: it has been quiet for {duration(shot.quiet_s)}."


def _held(shot: Snapshot) -> Iterator[str]:
    for gate in shot.gates:
        means = phrases.gate(gate.gate, shot.session)
        reason = f" [{plain(gate.reason)}]" if gate.reason else ""
        end = f" It ends at {moment(gate.until, shot.now)}." if gate.until is not None else ""
        told = " You were told." if gate.escalated else ""
        what = f": {means}" if means else ""
        yield f"Waking is held back by {plain(gate.gate)} for {_for(shot, gate.since)}{what}{reason}.{end}{told}"


def _last(shot: Snapshot) -> Iterator[str]:
    decision = shot.last_decision
    if decision is None:
        yield "Nothing has been decided yet."
    else:
        when = f"{_for(shot, decision['wall'])} ago ({moment(decision['wall'], shot.now)})"
        yield f"Last decided, {when}: {phrases.done(decision)}."


def _next(shot: Snapshot) -> Iterator[str]:
    if shot.state != "watched":
        return
    if shot.episode is not None and shot.episode.rung >= LAST_RUNG:
        name = plain(shot.session)
        told = "you were told, and nothing more is tried until somebody acts"
        yield f"Episode {shot.episode.episode} has used its last rung: {told}."
        who = plain(shot.baton.role) if shot.baton is not None else "ROLE"
        yield f'Act: mat attach {name} {who}, or mat send {name} {who} "TEXT".'
    elif shot.next is None:
        yield "If nothing moves, nothing more is decided."
    else:
        when = f"in {duration(max(0.0, shot.next.at - shot.now))}, at {moment(shot.next.at, shot.now)}"
        yield f"If nothing moves, {phrases.coming(shot.next.decision)} {when}."


def _for(shot: Snapshot, since: float) -> str:
    return duration(max(0.0, shot.now - since))
