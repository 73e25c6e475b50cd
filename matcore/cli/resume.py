"""`mat resume`: frees the ladder."""

from __future__ import annotations

import click

from matcore.cli.common import echo_json, echo_said, json_option, live_book, places, say
from matcore.cli.naming import session_argument
from matcore.cli.pause import is_paused


@click.command()
@session_argument()
@json_option
def command(session: str, as_json: bool) -> None:
    """Free the ladder that `mat pause` holds. An open episode starts at its first rung again, paused or not."""
    state = places()
    book = live_book(state, session)
    with book.journal as journal:
        paused = is_paused(journal)
    taken = say(state, {"session": session, "fact": "human.resumed"})
    if as_json:
        echo_json({"session": session, "paused": False, "was_paused": paused, "taken_up": taken})
    else:
        not_paused = f"{session} was not paused; it counts as your act: an open episode starts at its first rung again"
        echo_said(taken, f"{session} goes on" if paused else not_paused)
