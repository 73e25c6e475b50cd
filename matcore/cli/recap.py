"""`mat recap`: the morning page."""

from __future__ import annotations

import time

import click

from matcore.cli.common import echo_json, exists, json_option, known, places
from matcore.cli.naming import session_argument


@click.command()
@session_argument(required=False)
@click.option(
    "--since", default="8h", show_default=True, metavar="T", help="From then on: 8h (ago), 22:30, yesterday 18:00."
)
@json_option
def command(session: str | None, since: str, as_json: bool) -> None:
    """The morning page: cycles opened and ended, handoffs, stalls (how long, what ended them, what they cost), what was
    told to you, what waits for you. Of all sessions, or of one."""
    import msgspec

    from matcore.engine.book import Book
    from matcore.engine.clock import SystemClock
    from matcore.errors import MatError
    from matcore.show import recap, snapshot
    from matcore.show.when import wall_since

    state = places()
    now_s = time.time()
    since_s = wall_since(since, now_s)
    supervisor = snapshot.supervisor_of(state, SystemClock().boot_s())
    page = []
    for name in [exists(state, session)] if session else known(state):
        try:
            book = Book.read(state.journal(name))
        except MatError as error:
            click.echo(f"mat: {name}: {error}", err=True)
            continue
        with book.journal:
            shot = snapshot.of(book, supervisor, now_s)
            shot.session = name
            page.append(recap.of(book, shot, since_s))
    if as_json:
        echo_json({"since": since_s, "until": now_s, "sessions": msgspec.to_builtins(page)})
    else:
        click.echo("\n".join(recap.lines(page, since_s, now_s)))
