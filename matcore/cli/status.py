"""`mat status`: the ladder at a glance."""

from __future__ import annotations

import time

import click
import msgspec
from rich.console import Console
from rich.live import Live

from matcore.cli.common import book_of, json_option, known, places
from matcore.show import status
from matcore.show.snapshot import Snapshot

REFRESH_S = 1.0


@click.command()
@click.argument("session", required=False)
@click.option("--watch", is_flag=True, help="Live, until Ctrl-C.")
@json_option
def command(session: str | None, watch: bool, as_json: bool) -> None:
    """Each session's roles, baton, episode, gates, and what happens next; ended ones only when named."""
    state = places()
    if session is not None:
        book_of(state, session).close()

    def found() -> list[Snapshot]:
        shots = status.snapshots(state, [session] if session else known(state))
        return shots if session else [shot for shot in shots if shot.state != "ended"]

    if as_json:
        click.echo(msgspec.json.encode([msgspec.to_builtins(shot) for shot in found()]).decode())
    elif watch:
        try:
            with Live(status.render(found()), console=Console(), screen=False, refresh_per_second=4) as live:
                while True:
                    time.sleep(REFRESH_S)
                    live.update(status.render(found()))
        except KeyboardInterrupt:
            pass
    else:
        Console().print(status.render(found()))
