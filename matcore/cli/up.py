"""`mat up`: validates, launches, has it watched, and says how to look, ask and stop."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from matcore.cli.common import backends, echo_json, json_option, places
from matcore.errors import BadConfig, Refused
from matcore.places import CONFIG_FILE
from matcore.show.text import plain

if TYPE_CHECKING:
    from matcore.cli.lacking import Lacking
    from matcore.engine.config import SessionConfig
    from matcore.engine.launch import Launched

_WITHOUT_TERMINAL = (160, 48)


@click.command()
@click.argument("file", default=CONFIG_FILE, type=click.Path(path_type=Path))
@click.option("--goal", help="What the first cycle is to reach; in place of the file's.")
@click.option("--attach", "then_attach", is_flag=True, help="Show the windows afterwards.")
@click.option("--dry-run", is_flag=True, help="Validate and say what would be started; start nothing.")
@json_option
def command(file: Path, goal: str | None, then_attach: bool, dry_run: bool, as_json: bool) -> None:
    """Launch the session of FILE (duo.yaml by default) and watch it.

    Running it again re-attaches: nothing starts twice. After a reboot it resumes the agents' sessions."""
    from matcore.cli import lacking
    from matcore.engine.config import load
    from matcore.engine.launch import running, up

    if not file.exists():
        raise BadConfig([f"{plain(file)} is not there; {_instead(file)}"])
    folder = file.absolute().parent
    config = load(
        file,
        backends=backends(folder),
        of_prompt=lambda name: _of_prompt(name, folder),
        of_driver=lambda config: _of_driver(config, folder),
    )
    if then_attach and not dry_run:
        from matcore.cli.attach import need_terminal

        need_terminal(config.driver, config.session)
    running(places(), config, folder)
    if dry_run:
        _say_plan(config, folder, as_json)
        return
    size = shutil.get_terminal_size(_WITHOUT_TERMINAL)
    try:
        launched = up(places(), config, file.resolve().parent, goal=goal, size=(size.columns, size.lines))
    except OSError as error:
        where = f"{plain(error.filename)}: " if error.filename else ""
        said = f"{where}{error.strerror}; {config.session} was not launched; see: mat doctor"
        raise Refused(said) from error
    if as_json:
        echo_json(
            {"session": launched.session, "started": list(launched.started), "new": launched.is_new,
             "changed": list(launched.changed)}
        )  # fmt: skip
    else:
        _say(launched)
    if launched.changed:
        _loudly(
            f"WARNING: {file} has another {', '.join(launched.changed)} now than {launched.session} runs with; "
            f"to apply it in a new session, with fresh agents: mat down {launched.session}, then mat up"
        )
    if goal and not launched.is_new:
        _loudly(
            f"WARNING: {launched.session} was up already and keeps its goal; to open the next one: "
            f"mat cycle open --session {launched.session} --goal TEXT"
        )
    _warn(config, lacking.of(config, folder, roles=launched.started))
    if then_attach:
        from matcore.cli.attach import attach

        attach(places(), launched.session, None)


def _instead(file: Path) -> str:
    """What to do where the file is not there: the name may be another one."""
    near = sorted(path.name for path in Path().glob("*.y*ml") if path.stem in (file.stem, "duo"))
    if near:
        return f"there is {', '.join(map(plain, near))}: mat up {plain(near[0])}"
    return f"mat init writes {'one' if file.name == CONFIG_FILE else f'a {CONFIG_FILE}'}, or name another: mat up FILE"


def _of_prompt(name: str, folder: Path) -> list[str]:
    """Why a prompt can't be rendered, before anything is started."""
    from matcore.words import prompts

    names = ("role", "peer", "peers", "session", "goal", "send_relay")
    try:
        prompts.render(name, workdir=folder, variables=dict.fromkeys(names, "x"))
    except BadConfig as error:
        return list(error.faults)
    return []


def _of_driver(config: SessionConfig, folder: Path) -> list[str]:
    """All that the driver would refuse, before anything is started."""
    from matcore.engine.launch import check

    try:
        check(config, folder)
    except BadConfig as error:
        return list(error.faults)
    return []


def _say_plan(config: SessionConfig, folder: Path, as_json: bool) -> None:
    from matcore.cli import lacking
    from matcore.engine.config import to_json

    lacks = lacking.of(config, folder)
    if as_json:
        plan = {
            "session": config.session, "valid": True, "missing": list(lacks.programs),
            "unset": [f"{role}.{name}" for role, name in lacks.unset],
            "silent": [channel for channel, _ in lacks.channels], "config": to_json(config),
        }  # fmt: skip
        echo_json(plan)
    else:
        when = f"once {' and '.join(map(plain, lacks.programs))} can be found, " if lacks.programs else ""
        click.echo(f"{config.session}: valid; {when}mat up would start on {config.driver}:")
        for name, role in config.roles.items():
            click.echo(f"  {name}: {plain(role.backend)}, prompt {plain(role.prompt)}")
    _warn(config, lacks)


def _say(launched: Launched) -> None:
    name = launched.session
    what = f"started {', '.join(launched.started)}" if launched.started else "was up already; nothing was started"
    click.echo(f"{name}: {what}")
    click.echo(f"  attach: mat attach {name}")
    click.echo(f"  status: mat status {name} --watch")
    click.echo(f"  stop:   mat down {name}")


def _warn(config: SessionConfig, lacks: Lacking) -> None:
    for said in lacks.warnings():
        _loudly(f"WARNING: {said}")
    if len(lacks.channels) == len(config.notify):
        advice = (
            "mend one of them"
            if config.notify
            else "add `notify:` to the file, for example `notify: [{command: [notify-send, mat]}]`"
        )
        _loudly(
            "WARNING: no notification would reach a person: when the session stands still, nobody is told. "
            f"To be told, {advice}, and try it: mat notify --test"
        )
    if config.recovery.progress_deadline == 0:
        _loudly(
            "WARNING: recovery.progress_deadline is 0: agents that keep moving without a handoff are never reported."
        )
    if os.environ.get("MAT_SESSION"):
        click.secho(f"note: this shell belongs to session {plain(os.environ['MAT_SESSION'])}", err=True)


def _loudly(text: str) -> None:
    click.secho(plain(text), fg="yellow", bold=True, err=True)
