"""`mat up`: validates, launches, has it watched, and says how to look, ask and stop."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click

from matcore.cli.attach import attach
from matcore.cli.common import backends, echo_json, json_option, places
from matcore.engine.config import SessionConfig, load, to_json
from matcore.engine.launch import Launched, up


@click.command()
@click.argument("file", default="duo.yaml", type=click.Path(path_type=Path))
@click.option("--goal", help="What the first cycle is to reach; in place of the file's.")
@click.option("--attach", "then_attach", is_flag=True, help="Show the windows afterwards.")
@click.option("--dry-run", is_flag=True, help="Validate and say what would be started; start nothing.")
@json_option
def command(file: Path, goal: str | None, then_attach: bool, dry_run: bool, as_json: bool) -> None:
    """Launch the session of FILE (duo.yaml by default) and watch it.

    Running it again re-attaches: nothing starts twice. After a reboot it resumes the agents' sessions."""
    config = load(file, backends=backends(file.absolute().parent))
    if dry_run:
        _say_plan(config, as_json)
        return
    size = shutil.get_terminal_size((160, 48))
    launched = up(places(), config, file.resolve().parent, goal=goal, size=(size.columns, size.lines))
    if as_json:
        echo_json({"session": launched.session, "started": list(launched.started), "new": launched.is_new})
    else:
        _say(launched, config)
    if then_attach:
        attach(places(), launched.session, None)


def _say_plan(config: SessionConfig, as_json: bool) -> None:
    if as_json:
        echo_json({"session": config.session, "config": to_json(config), "valid": True})
        return
    click.echo(f"{config.session}: valid; would start on {config.driver}:")
    for name, role in config.roles.items():
        click.echo(f"  {name}: {role.backend}, prompt {role.prompt}")
    _warn(config)


def _say(launched: Launched, config: SessionConfig) -> None:
    name = launched.session
    what = f"started {', '.join(launched.started)}" if launched.started else "was up already; nothing was started"
    click.echo(f"{name}: {what}")
    click.echo(f"  attach: mat attach {name}")
    click.echo(f"  status: mat status {name} --watch")
    click.echo(f"  stop:   mat down {name}")
    _warn(config)


def _warn(config: SessionConfig) -> None:
    if not config.notify:
        click.secho(
            "WARNING: no notification would reach a person: add `notify:` to the file, "
            "for example `notify: [{command: [notify-send, mat]}]`, and try it with: mat notify --test",
            fg="yellow", err=True,
        )  # fmt: skip
    if config.recovery.progress_deadline == 0:
        click.secho(
            "WARNING: recovery.progress_deadline is 0: agents that keep moving without a handoff are never reported.",
            fg="yellow", err=True,
        )  # fmt: skip
    if os.environ.get("MAT_SESSION"):
        click.secho(f"note: this shell belongs to session {os.environ['MAT_SESSION']}", err=True)
