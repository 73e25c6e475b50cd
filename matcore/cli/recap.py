"""`mat recap`: the morning page."""

from __future__ import annotations

import time

import click

from matcore.cli.common import echo_json, echo_lines, exists, json_option, known, places
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

    from matcore.show import morning, recap
    from matcore.show.when import wall_since

    state = places()
    now_s = time.time()
    since_s = wall_since(since, now_s)
    page = recap.page(state, [exists(state, session)] if session else known(state), since_s, now_s)
    if as_json:
        echo_json({"since": since_s, "until": now_s, "sessions": msgspec.to_builtins(page)})
    else:
        echo_lines(morning.lines(page, since_s, now_s))
