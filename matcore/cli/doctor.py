"""`mat doctor`: read-only checks of this machine, each failure with its fix."""

from __future__ import annotations

from pathlib import Path

import click

from matcore.cli.common import echo_json, json_option
from matcore.errors import Refused
from matcore.show.text import plain

_SIGNS = {"ok": "ok  ", "warning": "warn", "failed": "FAIL"}
_COLOURS = {"ok": "green", "warning": "yellow", "failed": "red"}


@click.command()
@json_option
def command(as_json: bool) -> int:
    """Read-only checks of this machine: tmux, UTF-8, agent programs, permissions, the supervisor, the disk; and of the
    duo.yaml here.

    Each check that is not well has a `fix:` line. Exit code 1 if one fails; a warning is no failure. Agent programs
    that a duo.yaml here names must be there, others may be missing."""
    from matcore.cli import doctoring

    found = doctoring.checks(Path.cwd())
    for each in found:
        if as_json:
            echo_json({"check": each.check, "state": each.state, "said": each.said, "fix": each.fix})
            continue
        click.echo(
            f"{click.style(_SIGNS[each.state], fg=_COLOURS[each.state])} {plain(each.check)}: {plain(each.said)}"
        )
        if each.fix is not None:
            click.echo(f"     fix: {plain(each.fix)}")
    return Refused.exit_code if any(each.state == "failed" for each in found) else 0
