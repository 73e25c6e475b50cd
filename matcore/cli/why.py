"""`mat why`: the session explained in sentences."""

from __future__ import annotations

import time

import click
import msgspec

from matcore.cli.common import book_of, echo_json, json_option, places
from matcore.engine.book import Book
from matcore.engine.clock import SystemClock
from matcore.show import snapshot, why
from matcore.show.when import wall_since


@click.command()
@click.argument("session")
@click.option("--at", "at", metavar="TIME", help="As it was then: 02:30, 2026-11-30T02:30, or an age as 8h.")
@json_option
def command(session: str, at: str | None, as_json: bool) -> None:
    """Who owes what since when, what was decided last, why nothing is done right now, and what happens next."""
    state = places()
    book = book_of(state, session)
    supervisor = snapshot.supervisor_of(state, SystemClock().boot_s())
    now_s = time.time()
    if at is not None:
        now_s = wall_since(at, now_s)
        book = _as_it_was(book, now_s)
        supervisor = snapshot.Supervisor(alive=True, stale=False, pid=None, heartbeat_age_s=None)
    shot = snapshot.of(book, supervisor, now_s)
    book.close()
    said = why.sentences(shot)
    if as_json:
        echo_json({"session": session, "sentences": said, "snapshot": msgspec.to_builtins(shot)})
    else:
        click.echo("\n".join(said))


def _as_it_was(book: Book, wall_s: float) -> Book:
    """The session as of the last entry before a time of the wall clock."""
    later = book.journal.seq_since(wall_s)
    return book if later is None else Book(book.journal, until=later - 1)
