"""`mat notify --test`: tests the notification channels."""

from __future__ import annotations

from pathlib import Path

import click

from matcore.cli.common import backends, echo_json, json_option
from matcore.engine.config import load
from matcore.engine.notify import channels
from matcore.errors import Refused
from matcore.places import CONFIG_FILE
from matcore.show.text import plain
from matcore.words.notices import notice


@click.command()
@click.argument("file", default=CONFIG_FILE, type=click.Path(path_type=Path))
@click.option("--test", "test", is_flag=True, required=True, help="Send a test message through each channel.")
@json_option
def command(file: Path, test: bool, as_json: bool) -> None:  # noqa: ARG001 - the flag is there to be asked for
    """Send a test message through each channel of FILE and say what came back. Exit code 1 if none took it."""
    config = load(file, backends=backends(file.absolute().parent))
    found = channels(config.notify, file.absolute().parent)
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


def _said(said: str) -> str:
    return f" ({plain(said)})" if said else ""
