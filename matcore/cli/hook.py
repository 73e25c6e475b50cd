"""`mat hook`, for its help: the call itself is answered by `matcore.said_hook`, without click."""

from __future__ import annotations

import click

from matcore.said_hook import hook_main


@click.command()
@click.argument("backend")
@click.argument("event")
def command(backend: str, event: str) -> int:
    """Report an event of an agent program, its JSON on standard input. Never fails the agent that calls it."""
    return hook_main([backend, event])
