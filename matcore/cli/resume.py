"""`mat resume`: frees the ladder."""

from __future__ import annotations

import click

from matcore.cli.common import echo_said, live_book, places, say, session_argument


@click.command()
@session_argument()
def command(session: str) -> None:
    """Free the ladder that `mat pause` holds. An open episode starts at its first rung again."""
    state = places()
    live_book(state, session).close()
    taken = say(state, {"session": session, "fact": "human.resumed"})
    echo_said(taken, f"{session} goes on")
