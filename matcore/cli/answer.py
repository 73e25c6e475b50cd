"""`mat answer`: the human's answer to a question of an agent, or of mat itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from matcore.cli.common import book_of, echo_json, echo_said, json_option, live_book, places
from matcore.cli.naming import RoleName, session_argument
from matcore.cli.send import taken_up
from matcore.errors import BadConfig, Refused, Unavailable
from matcore.show.text import plain

if TYPE_CHECKING:
    from matcore.engine.ledger import Ledger, Question
    from matcore.places import StatePlaces

NOTHING = "nothing was changed"
STDIN = "-"


class QuestionId(RoleName):
    """The id of an open question of the session that was named before it."""

    name = "question"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        session = ctx.params.get("session")
        if not session:
            return []
        try:
            book = book_of(places(), session)
        except (Refused, Unavailable):
            return []
        with book.journal:
            return [CompletionItem(q) for q in book.ledger.questions if q.startswith(incomplete)]


@click.command()
@session_argument()
@click.argument("text", required=False)
@click.option(
    "--file", "file", type=click.Path(), metavar="F", help="Read the answer from a file; `-` is standard input."
)
@click.option("--question", "question", type=QuestionId(), metavar="ID", help="Which one; the oldest by default.")
@json_option
def command(session: str, text: str | None, file: str | None, question: str | None, as_json: bool) -> None:
    """Answer the open question: question and answer go to the role that asked, in the same agent session.

    TEXT may be of any length; without it, or as `-`, it is read from standard input up to its end. A dialog on an
    agent's screen is answered there: mat attach."""
    from matcore.said import human_relay

    state = places()
    book = live_book(state, session)
    with book.journal:
        asked = _chosen(book.ledger, question)
        _not_waiting(state, asked.id)
    body = _text(text, file, asked, session)
    root = str(book.ledger.places.root)
    message, seq = human_relay(root, str(state.spool), session, asked.role, body, answers=asked.id)
    taken = taken_up(state, session, book.seq, seq)
    if not taken:
        _not_answered_meanwhile(state, session, asked.id)
    if as_json:
        echo_json({"question": asked.id, "role": asked.role, "message": message, "seq": seq, "taken_up": taken})
    else:
        first = plain(" ".join(asked.text.split()))[:80]
        echo_said(taken, f"answered {asked.id} of {asked.role} ({first}) by {message} (#{seq})")


def _chosen(ledger: Ledger, named: str | None) -> Question:
    """The question that is meant. Raises `Refused`."""
    session = ledger.session
    if named is not None:
        if named in ledger.questions:
            return _by_text(ledger.questions[named], session)
        if named in ledger.tally.answered:
            raise Refused(f"{plain(named)} was answered already; mat send {session} ROLE TEXT says more; {NOTHING}")
        known = f"open: {', '.join(ledger.questions)}" if ledger.questions else "none is open"
        raise Refused(f"there is no question {plain(named)}; {known}; {NOTHING}")
    if not ledger.questions:
        _no_dialog(ledger)
        raise Refused(f"no question is open in {session}; mat send {session} ROLE TEXT says something; {NOTHING}")
    by_text = [question for question in ledger.questions.values() if not question.dialog]
    oldest = next(iter(by_text), None) or next(iter(ledger.questions.values()))
    return _by_text(oldest, session)


def _no_dialog(ledger: Ledger) -> None:
    """A dialog that was not put as a question can't be answered by a text either. Raises `Refused`."""
    from matcore.engine.dialogs import GATES

    for gate in ledger.gates:
        kind, _, role = gate.partition("/")
        if kind in GATES:
            session = ledger.session
            raise Refused(
                f"a dialog stands on {role}'s screen, which no text can answer: mat attach {session} {role}; {NOTHING}"
            )


def _by_text(question: Question, session: str) -> Question:
    if question.dialog:
        raise Refused(
            f"{question.role} asks by a dialog on its screen, which no text can answer: "
            f"mat attach {session} {question.role}; {NOTHING}"
        )
    return question


def _not_waiting(state: StatePlaces, question: str) -> None:
    """Refuse a second answer while the first one waits for a supervisor."""
    needle = f'"answers":"{question}"'.encode()
    for record in (state.spool / "new").glob("*.json"):
        try:
            waits = needle in record.read_bytes()
        except OSError:  # The supervisor has just taken it up.
            continue
        if waits:
            raise Refused(
                f"an answer to {question} already waits for the supervisor; start it: mat supervise; {NOTHING}"
            )


def _not_answered_meanwhile(state: StatePlaces, session: str, question: str) -> None:
    book = book_of(state, session)
    book.close()
    if question in book.ledger.tally.answered:
        raise Refused(f"{question} was answered by somebody else at the same moment; yours was set aside; {NOTHING}")


def _text(text: str | None, file: str | None, question: Question, session: str) -> str:
    if text is not None and file is not None:
        raise BadConfig([f"give the answer as TEXT or by --file, not both; {NOTHING}"])
    if text is not None and text != STDIN:
        data = text.encode("utf-8", "surrogateescape")
    elif file is not None and file != STDIN:
        data = _read(Path(file))
    else:
        data = _stdin(question)
    try:
        body = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise Refused(f"the answer is not UTF-8 (byte {error.start + 1}); {NOTHING}") from error
    if not body.strip():
        how = f'mat answer {session} "TEXT", or a text on standard input'
        raise Refused(f"the answer is empty, {question.id} stays open; say it: {how}; {NOTHING}")
    return body


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Refused(f"{plain(path)} can't be read: {error.strerror}; {NOTHING}") from error


def _stdin(question: Question) -> bytes:
    if sys.stdin.isatty():
        click.echo(f"{plain(question.role)} asks: {plain(question.text)}\nYour answer, ended by Ctrl-D:", err=True)
    return sys.stdin.buffer.read()
