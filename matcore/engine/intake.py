"""From a spool's record to a fact of its session: who may say what, and what it means.

A record of `spool/<role>` is that role's, whatever it says of itself. A record of the user's spool is the human's or a
hook's. What can't be taken up raises `Unfit` with the reason; the file is then set aside, visibly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from matcore import said_index
from matcore.engine import answers, letters, naming, speakers
from matcore.engine.book import Fact, Note
from matcore.engine.driver import Sighting
from matcore.engine.permitted import permitted
from matcore.engine.session import Session
from matcore.engine.spoolread import Unfit
from matcore.rules.records import FactError
from matcore.words import messages

MAX_AHEAD = 1000
"""Numbers come from an index, one after the other; one far beyond is a mistake, and gets the next number."""
Record = Mapping[str, Any]


def from_role(session: Session, role: str, record: Record) -> None:
    """Take up what `role` says. Raises `Unfit`."""
    reason = permitted(record, role)
    if reason is not None:
        raise Unfit(reason)
    _take(session, role, record)


def from_human(session: Session, record: Record) -> None:
    """Take up what the human, or a hook, says of this session; `permitted` was asked. Raises `Unfit`."""
    _take(session, "human", record)


def _take(session: Session, by: str, record: Record) -> None:
    if record["id"] and session.book.journal.has_source(record["id"]):
        return
    name = record.get("fact") or record.get("request") or record.get("record")
    handler = _HANDLERS.get(str(name))
    if handler is None:
        raise Unfit(f"{name!r} is nothing that mat knows")
    try:
        handler(session, by, record)
    except (FactError, KeyError, TypeError, ValueError) as e:
        raise Unfit(f"{name}: {e}") from e


def _relay_sent(session: Session, by: str, record: Record) -> None:
    to = record["to"]
    if to not in session.roles:
        raise Unfit(f"{to!r} is no role of {session.name}")
    if to == by:
        raise Unfit("a relay to oneself")
    message, seq, given_as = _numbered(session, record)
    body = record.get("body")
    fields = {
        "id": message, "from": by, "to": to, "kind": record.get("kind", "request"),
        "seen": record.get("seen"), "seq": seq, "given_as": given_as,
        "path": record.get("path"), "digest": record.get("digest"), "warnings": record.get("warnings") or [],
        "body": letters.short(body) if by == "human" and isinstance(body, str) else None,
    }  # fmt: skip
    if by == "human" and record.get("answers"):
        question = _open(session, record["answers"])
        answers.take(session, question, fields, source=record["id"])
        return
    letter = letters.of_handoff(session.places, body) if by != "human" and isinstance(body, str) else None
    session.take("relay.sent", fields if letter is None else {**fields, "letter": letter}, source=record["id"])


def _open(session: Session, question: object) -> str:
    """The id of a question that can be answered."""
    reason = answers.why_not(session, str(question))
    if reason is not None:
        raise Unfit(reason)
    return str(question)


def _numbered(session: Session, record: Record) -> tuple[str, int, str | None]:
    """The id and number of a relay, and the id that it came with where that had been given twice.

    `sent.index` gives each number once; but it is a file that somebody may clean away, and what an agent handed over
    must not be lost for that.
    """
    message, seq = str(record["message_id"]), record.get("seq")
    if seq is not None and not session.ledger.is_taken(int(seq)) and int(seq) <= session.ledger.seq + MAX_AHEAD:
        return message, int(seq), None
    fresh = session.ledger.seq + 1
    session.index_stale = True
    return said_index.message_id(fresh), fresh, message


def _already_sent(session: Session, by: str, record: Record) -> None:
    fields = {"id": record["message_id"], "from": by, "to": record["to"], "seen": record.get("seen")}
    session.take("relay.already_sent", fields, source=record["id"])


def _acked(session: Session, by: str, record: Record) -> None:
    session.take("relay.acked", {"id": record["message_id"], "role": by}, source=record["id"])


def _cycle_opened(session: Session, by: str, record: Record) -> None:
    cycle = record.get("cycle") or f"c{session.ledger.cycles + 1}"
    opened = Fact("cycle.opened", {"cycle": cycle, "by": by, "goal": record.get("goal")}, record["id"])
    session.commit([opened, *_told(session, by, record)])


def _told(session: Session, by: str, record: Record) -> list[Fact]:
    """The goal as a relay, where the human named a role to begin with it. A role that opens a cycle knows its goal.

    In one transaction with the opening, and after it: a boundary ends what is owed.
    """
    goal, tell = record.get("goal"), record.get("tell")
    if by != "human" or tell is None or not goal:
        return []
    if tell not in session.roles:
        raise Unfit(f"{tell!r} is no role of {session.name}")
    return [Fact("relay.sent", letters.from_human(session, messages.next_goal(goal=str(goal)), to=str(tell)))]


def _cycle_ended(session: Session, by: str, record: Record) -> None:
    cycle = record.get("cycle") or session.ledger.cycle or ""
    fields = {"cycle": cycle, "by": by, "reason": record.get("reason")}
    session.take(str(record["fact"]), fields, source=record["id"])


def _asked(session: Session, by: str, record: Record) -> None:
    fields = {"question": record["question"], "role": by, "text": str(record.get("text", ""))}
    fields |= {"path": str(record["path"])} if record.get("path") else {}
    session.take("question.asked", fields, source=record["id"])


def _answered(session: Session, _by: str, record: Record) -> None:
    question = _open(session, record["question"])
    answers.take(session, question, answers.unnumbered(session, record), source=record["id"])


def _paused(session: Session, _by: str, record: Record) -> None:
    fields = {"until": _end(session, record, float(record["for_s"]))} if record.get("for_s") else {}
    session.take("human.paused", fields, source=record["id"])


def _resumed(session: Session, _by: str, record: Record) -> None:
    session.take("human.resumed", {}, source=record["id"])


def _wait(session: Session, by: str, record: Record) -> None:
    gate = {"gate": "declared-wait", "role": by}
    if record.get("done"):
        session.take("gate.cleared", gate, source=record["id"])
        return
    fields = {
        **gate,
        "until": _end(session, record, float(record["until_s"])),
        "reason": str(record.get("reason", ""))[:200],
    }
    session.take("gate.raised", fields, source=record["id"])


def _end(session: Session, record: Record, for_s: float) -> float:
    """When it is over, in the journal's time: it began when it was said, however late it is heard."""
    late_ms: int = max(0, int(session.host.wall_s() * 1000) - record["ts_ms"])
    return session.clock.now() + for_s - min(late_ms, for_s * 1000) / 1000


def _notify_user(session: Session, by: str, record: Record) -> None:
    action = bool(record.get("action"))
    heard = Note("engine.heard", {"role": by, "request": "notify-user", "action": action}, record["id"])
    session.herald.tell("notify-user", action=action, first=[heard], role=by, text=str(record["text"]))


def _checked(session: Session, by: str, record: Record) -> None:
    keys = ("approved", "check", "reason", "blocks", "max_blocks", "file")
    data = {"role": by, **{key: record.get(key) for key in keys}}
    checked = Note("handoff.checked", data, record["id"])
    if data["approved"] or not data["blocks"] or data["blocks"] != data["max_blocks"]:
        session.commit([checked])
        return
    session.herald.tell(
        "refusals", action=True, first=[checked], role=by, blocks=data["blocks"],
        file=data["file"] or "", check=data["check"], reason=data["reason"] or "",
    )  # fmt: skip


def _hook(session: Session, _by: str, record: Record) -> None:
    role = record["role"]
    if role not in session.roles:
        raise Unfit(f"{role!r} is no role of {session.name}")
    hook = {key: record.get(key) for key in ("backend", "event", "boot_s", "ts_ms", "data")}
    heard: list[Sighting] = list(session.driver.heard(session.name, role, hook))
    if record.get("event") == "session-start":
        _on_session(session, role, record)
    session.sighted(heard)


def _on_session(session: Session, role: str, record: Record) -> None:
    """The agent session that a program says it has begun, unless it was the program before that said it."""
    seat = session.ledger.seats.get(role)
    if seat is not None and speakers.is_of(record, seat):
        naming.on_session(session, role, speakers.named(record), source=record["id"])


_HANDLERS: dict[str, Callable[[Session, str, Record], None]] = {
    "relay.sent": _relay_sent,
    "relay.already_sent": _already_sent,
    "relay.acked": _acked,
    "cycle.opened": _cycle_opened,
    "cycle.completed": _cycle_ended,
    "cycle.blocked": _cycle_ended,
    "question.asked": _asked,
    "question.answered": _answered,
    "human.paused": _paused,
    "human.resumed": _resumed,
    "wait": _wait,
    "notify-user": _notify_user,
    "handoff.checked": _checked,
    "hook": _hook,
}
