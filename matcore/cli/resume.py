"""`mat resume`: frees the ladder."""

from __future__ import annotations

import click

from matcore.cli.common import echo_json, echo_said, json_option, live_book, places, say
from matcore.cli.naming import session_argument


@click.command()
@session_argument()
@json_option
def command(session: str, as_json: bool) -> None:
    """Free the ladder that `mat pause` holds. An open episode starts at its first rung again."""
    state = places()
    live_book(state, session).close()
    taken = say(state, {"session": session, "fact": "human.resumed"})
    if as_json:
        echo_json({"session": session, "paused": False, "taken_up": taken})
    else:
        echo_said(taken, f"{session} goes on")
