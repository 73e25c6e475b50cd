"""`mat wait`, for its help: the call itself is answered by `matcore.said_wait`, without click."""

from __future__ import annotations

import click

from matcore import said


@click.command(context_settings={"ignore_unknown_options": True}, add_help_option=False)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def command(words: tuple[str, ...]) -> int:
    """Declare work that is really under way: mat wait 30m "full test run"; --done ends it earlier.

    Called by agents, in their own shells. A declared wait is trusted until its end, 4 hours at most."""
    return said.wait_main(words)
