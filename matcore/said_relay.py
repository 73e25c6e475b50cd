"""`send-relay`: an agent hands a file over, or acknowledges a relay. A human's relay goes this way too.

A reviewer's verdict that awaits the human hands nothing over: it becomes the question, and the baton stays where it is.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable

from matcore import said_blocks, said_file, said_index, said_sent, spoolfile
from matcore.errors import BadConfig, Refused
from matcore.said_here import Seat, here, read_about
from matcore.said_run import asked, fact, parsed, waiting
from matcore.words import handoff, verdict

SEND_USAGE = """\
usage: send-relay [--again] [TO] FILE    hand FILE (Markdown) over to the role TO; a duo may leave TO out
       send-relay --ack ID               you have seen the relay ID and have nothing to add
       send-relay --check FILE           run the checks that this session has you run yourself; sends nothing
--again sends the same content anew. Front matter may set `kind: request|fyi` and `seen: NUMBER`."""

LONGEST_NUMBER = 9
"""Digits of a relay's number, as `seen` in front matter takes them."""


def send_relay(argv: list[str]) -> str:
    """Hand a file over, or acknowledge a relay. Returns what is printed."""
    options, words = parsed(argv, SEND_USAGE, flags=("--again", "--ack", "--check"))
    if "--help" in options:
        return SEND_USAGE
    seat = here(os.environ, "send-relay")
    if "--ack" in options or "--check" in options:
        if len(words) != 1 or len(options) != 1:
            raise BadConfig([f"{SEND_USAGE}\nnothing sent"])
        return _acknowledge(seat, words[0]) if "--ack" in options else _checked(seat, words[0])
    to, name = _addressed(seat, words)
    read = _approved(seat, name, handoff.at_the_gate(seat.required, seat.commands))
    said = verdict.found(read)
    sys.stderr.write("".join(f"warning: {warning}\n" for warning in read.warnings))
    if said is not None and said.human_question is not None:
        return _ask(seat, read, said.human_question)
    return _send(seat, to, name, read, again="--again" in options)


def _send(seat: Seat, to: str, name: str, read: handoff.Handoff, *, again: bool) -> str:
    draft = said_sent.Draft(
        session=seat.session,
        spool=seat.spool,
        sender=seat.role,
        to=to,
        text=read.text,
        kind=read.kind if read.kind in handoff.KINDS else handoff.KINDS[0],
        cycle=seat.cycle,
        seen=read.seen if read.seen is not None else seat.delivered(to),
    )
    draft.source = os.path.abspath(name)
    draft.warnings = read.warnings
    sent = said_sent.send(seat.root, draft, again=again)
    if not sent.fresh:
        spoolfile.write(
            seat.spool, fact(seat, "relay.already_sent", message_id=sent.message_id, to=to, seen=draft.seen)
        )
        return f"already sent as {sent.message_id} (#{sent.seq})"
    return f"sent {sent.message_id} to {to} (#{sent.seq}){waiting(seat, 'the relay')}"


def _ask(seat: Seat, read: handoff.Handoff, text: str) -> str:
    """The question of a verdict. A role's same verdict has the same id, so that asking twice is one open question."""
    digest = hashlib.sha256(read.text.encode()).hexdigest()
    path = said_sent.keep(seat.root, digest, read.text)
    question = f"q-{hashlib.sha256(f'{seat.role} {digest}'.encode()).hexdigest()[:12]}"
    spoolfile.write(seat.spool, fact(seat, "question.asked", question=question, role=seat.role, text=text, path=path))
    return asked(seat, question, "; nothing was handed over, the baton stays with you")


def human_relay(
    root: str,
    state_spool: str,
    session: str,
    role: str,
    text: str,
    answers: str | None = None,
    *,
    again: bool = True,
) -> tuple[str, int]:
    """As `matcore.said.human_relay`. An answer (to the question `answers`) may be of any length. Without `again` the
    same text is sent once, as for a role's handoff."""
    seat = Seat(session, "human", root, read_about(root, session))
    if role not in seat.roles:
        raise Refused(f"{session} has no role {role!r}: {', '.join(seat.roles)}; nothing sent")
    check_text(text, of_any_length=answers is not None)
    draft = said_sent.Draft(session=session, spool=state_spool, sender="human", to=role, text=text, cycle=seat.cycle)
    draft.answers = answers
    sent = said_sent.send(root, draft, again=again)
    return sent.message_id, sent.seq


def check_text(text: str, *, of_any_length: bool = False) -> None:
    """Raises `Refused` for what can't be a message of the human's, whatever the session is like."""
    if not text.strip():
        raise Refused("the message is empty; nothing sent")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise Refused("the message is not UTF-8; nothing sent") from None
    if size > said_file.MAX_BYTES and not of_any_length:
        raise Refused("the message is longer than 1 MiB: write it to a file and name the file; nothing sent")


def _addressed(seat: Seat, words: list[str]) -> tuple[str, str]:
    """The role and the file that were named."""
    peers = seat.peers
    if not 1 <= len(words) <= 2:
        raise BadConfig([f"{SEND_USAGE}\nnothing sent"])
    if len(words) == 1:
        if words[0] in seat.roles and not os.path.lexists(words[0]):
            raise BadConfig([f"no file is named: `send-relay {words[0]} FILE`; nothing sent"])
        if not peers:
            raise Refused("this session has no other role; `notify-user` tells the human; nothing sent")
        if len(peers) > 1:
            raise BadConfig([f"say to whom: `send-relay TO {words[0]}`, TO is one of {', '.join(peers)}; nothing sent"])
        return peers[0], words[0]
    to, name = words
    if to == seat.role:
        raise Refused(f"{to} is you; {_roles(peers)}; nothing sent")
    if to not in peers:
        turned = f"; the role comes first: `send-relay {name} {to}`" if name in peers else ""
        human = "; `notify-user` tells the human" if to in ("human", "user") else ""
        raise Refused(f"no role is named {to}; {_roles(peers)}{human}{turned}; nothing sent")
    return to, name


def _roles(peers: list[str]) -> str:
    if not peers:
        return "there is no other role"
    return f"the other role is {peers[0]}" if len(peers) == 1 else f"the other roles are {', '.join(peers)}"


def _approved(seat: Seat, name: str, checks: Iterable[handoff.StructuralCheck]) -> handoff.Handoff:
    """The handoff, after every check has left its record. Raises `Refused` by the first one that refuses."""
    with said_blocks.Gate(seat, name) as gate:
        read = handoff.read(said_file.load(seat, name))
        if read.is_empty:
            raise Refused(f"{said_blocks.shown(name)}: it is empty: write into it what the other is to know")
        gate.passed(said_blocks.FILE)
        for check in checks:
            gate.judge(check.name, check.refusal(read))
        if read.seen is not None:
            gate.judge("seen", _unseen(seat, read.seen))
    return read


def _unseen(seat: Seat, seen: int) -> str | None:
    """Why a handoff can't have seen that number. Only where it names one is the index read for it."""
    with said_index.Lock(seat.root), said_index.read(seat.root, seat.session) as index:
        highest = index.highest
    if seen <= highest:
        return None
    return (
        f"`seen: {seen}` is no relay's number yet, the highest is {highest}: write what you have read, or leave it out"
    )


def _checked(seat: Seat, name: str) -> str:
    checks = handoff.by_command(seat.required, seat.commands)
    if not checks:
        raise Refused(
            "no check is left to you in this session, `send-relay` runs them all: send the file; nothing sent"
        )
    _approved(seat, name, checks)
    return f"checked {said_blocks.shown(name)} ({', '.join(check.name for check in checks)}): all well, not sent yet"


def _acknowledge(seat: Seat, named: str) -> str:
    number = named.lstrip("#")
    message = said_index.message_id(int(number)) if _is_number(number) else named
    if not _is_recovery(seat, message):
        with said_index.Lock(seat.root), said_index.read(seat.root, seat.session) as index:
            entry = index.find(message)
        if entry is None or entry.get("to") != seat.role:
            raise Refused(
                f"no relay {message} was sent to you; its first line names it, `[relay ID from ROLE]`; nothing sent"
            )
    spoolfile.write(seat.spool, fact(seat, "relay.acked", message_id=message, role=seat.role))
    return f"acknowledged {message}{waiting(seat, 'this')}"


def _is_recovery(seat: Seat, message: str) -> bool:
    """Whether it is the id of a recovery of this role's, `recovery-<role>-<target>-<seq>`."""
    begins = (f"recovery-{seat.role}-{peer}-" for peer in seat.peers)
    return any(message.startswith(begin) and _is_number(message.removeprefix(begin)) for begin in begins)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= LONGEST_NUMBER
