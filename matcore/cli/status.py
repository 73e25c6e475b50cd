"""`mat status`: the ladder at a glance."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from matcore.cli.common import echo_json, exists, json_option, known, places
from matcore.cli.naming import session_argument
from matcore.errors import BadConfig

if TYPE_CHECKING:
    from rich.console import RenderableType

    from matcore.show.status import Look

REFRESH_S = 1.0


@click.command()
@session_argument(required=False)
@click.option("--watch", is_flag=True, help="Live, until Ctrl-C. With --json one line a second.")
@click.option("--all", "ended_too", is_flag=True, help="Ended sessions, too.")
@json_option
def command(session: str | None, watch: bool, ended_too: bool, as_json: bool) -> None:
    """Each session: what waits for you, who holds the baton, episode, gates, roles, and what happens next.

    Sessions that have ended are shown when named, or with --all. Needs no supervisor."""
    state = places()
    chosen = None if session is None else exists(state, session)

    def look() -> Look:
        from matcore.show import status

        seen = status.look(state, [chosen] if chosen else known(state))
        return seen if chosen or ended_too else seen.without_ended()

    with suppress(KeyboardInterrupt):
        if as_json:
            _json(look())
            while watch:
                time.sleep(REFRESH_S)
                _json(look())
        elif watch:
            _watch(lambda: _rendered(look(), on_screen=True))
        else:
            from rich.console import Console

            Console(highlight=False).print(_rendered(look()))


def _json(seen: Look) -> None:
    import msgspec

    echo_json(msgspec.to_builtins(seen))
    sys.stdout.flush()


def _watch(rendered: Callable[[], RenderableType]) -> None:
    from rich.console import Console
    from rich.live import Live

    if not sys.stdout.isatty():
        raise BadConfig(
            ["--watch draws on a terminal, and this is none; use: mat status --json --watch, or mat log -f"]
        )
    with Live(get_renderable=rendered, console=Console(highlight=False), screen=True, auto_refresh=False) as live:
        while True:
            live.refresh()
            time.sleep(REFRESH_S)


def _rendered(seen: Look, *, on_screen: bool = False) -> RenderableType:
    from matcore.show import status

    return status.render(seen, on_screen=on_screen)
