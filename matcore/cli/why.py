"""`mat why`: the session explained in sentences."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from matcore.cli.common import book_of, echo_json, echo_lines, json_option, places
from matcore.cli.naming import session_argument, the_only
from matcore.errors import Refused
from matcore.show.text import clock, plain

if TYPE_CHECKING:
    from matcore.engine.book import Book


@click.command()
@session_argument(required=False)
@click.option(
    "--at", "at", metavar="TIME", help="As it was then: 02:30, yesterday 23:10, 2026-11-30T02:30, or 8h (ago)."
)
@json_option
def command(session: str | None, at: str | None, as_json: bool) -> None:
    """Who owes what since when, why nothing is done right now, what was decided last, and what happens next."""
    from matcore.engine.clock import SystemClock
    from matcore.show import snapshot, watch, why
    from matcore.show.when import wall_since

    state = places()
    name = session or the_only(state)
    book = book_of(state, name)
    supervisor = snapshot.supervisor_of(state, SystemClock().boot_s())
    now_s = time.time()
    then_s = now_s if at is None else _past(wall_since(at, now_s), now_s, name)
    with book.journal:
        if at is not None:
            book = _as_it_was(book, then_s)
            supervisor = watch.at_that_time(state, book, then_s)
        shot = snapshot.of(book, supervisor, then_s, is_over=at is not None)
    said = [*([] if at is None else [why.at_that_time(shot, now_s)]), *why.sentences(shot)]
    if as_json:
        import msgspec

        echo_json({"session": name, "sentences": said, "snapshot": msgspec.to_builtins(shot)})
    else:
        echo_lines(said)


def _past(then_s: float, now_s: float, session: str) -> float:
    """Raises `Refused` for a time that is still to come."""
    if then_s > now_s:
        raise Refused(f"{clock(then_s)} is still to come; what comes if nothing moves: mat why {plain(session)}")
    return then_s


def _as_it_was(book: Book, wall_s: float) -> Book:
    """The session as of the last entry before a time of the wall clock. Raises `Refused` for one before its first."""
    from matcore.engine.book import Book

    later = book.journal.seq_since(wall_s)
    if later is None:
        return book
    if later <= 1:
        first = next(book.journal.entries())
        raise Refused(f"nothing is known of that time: the journal begins at {clock(first.wall)}")
    return Book(book.journal, until=later - 1)
