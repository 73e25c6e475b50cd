"""`mat notify --test`: tests the notification channels of a file, and says where a running session has others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from matcore.cli.common import backends, echo_json, json_option, places
from matcore.engine.config import load, to_json
from matcore.engine.launch import running
from matcore.engine.notify import channels
from matcore.errors import Refused
from matcore.places import CONFIG_FILE
from matcore.show.text import plain
from matcore.words.notices import notice

if TYPE_CHECKING:
    from matcore.engine.config import SessionConfig


@click.command()
@click.argument("file", default=CONFIG_FILE, type=click.Path(path_type=Path))
@click.option("--test", "test", is_flag=True, required=True, help="Send a test message through each channel.")
@json_option
def command(file: Path, test: bool, as_json: bool) -> None:  # noqa: ARG001 - the flag is there to be asked for
    """Send a test message through each channel of FILE and say what came back. Exit code 1 if none took it.

    A session that is up keeps the channels that it began with; where FILE has others now, that is said."""
    config = load(file, backends=backends(file.absolute().parent))
    found = channels(config.notify, file.absolute().parent)
    _say_what_runs(file, config)
    if not found:
        raise Refused(f"{file} names no channel; add for example: notify: [{{command: [notify-send, mat]}}]")
    taken = False
    for channel in found:
        answer = channel.send("mat: test", notice("test", channel=channel.name))
        taken = taken or answer.ok
        if as_json:
            echo_json({"channel": channel.name, "ok": answer.ok, "said": answer.said})
        else:
            click.echo(f"{channel.name}: {'took it' if answer.ok else 'FAILED'}{_said(answer.said)}")
    if not taken:
        raise Refused(
            f"no channel took the message, so nothing would reach you; mend one in {plain(file)} and try again"
        )


def _say_what_runs(file: Path, config: SessionConfig) -> None:
    """A test of channels that the session of this file does not have would promise too much."""
    try:
        ledger = running(places(), config, file.resolve().parent)
    except Refused:  # that name is another file's
        return
    if ledger is not None and (ledger.config.get("notify") or []) != to_json(config)["notify"]:
        name = plain(config.session)
        click.echo(
            f"WARNING: {name} is up with other channels than {plain(file)} has now, and keeps them; to apply these in "
            f"a new session, with fresh agents: mat down {name}, then mat up",
            err=True,
        )


def _said(said: str) -> str:
    return f" ({plain(said)})" if said else ""
