"""`mat simulate`: scenarios of the pure core in virtual time."""

from __future__ import annotations

import json
from pathlib import Path

import click

from matcore.cli.common import echo_json
from matcore.errors import BadConfig, Refused


@click.command()
@click.option("--check", is_flag=True, help="Compare with what each file expects; exit 1 and the difference if any.")
@click.option(
    "--json", "as_json", is_flag=True, help="With --check a JSON object for each file; else all is JSON anyway."
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
def command(files: tuple[Path, ...], *, check: bool, as_json: bool) -> None:
    """Run scenarios of the core in virtual time and print one JSON object a line for every decision.

    With several files each line also has `file`. With --check only what differs is printed, and how many hold."""
    from matcore.show import simulation  # PyYAML is not loaded for `--help`

    different = 0
    for file, scenario in zip(files, simulation.load_all(files), strict=True):
        decided = simulation.run(scenario)
        if not check:
            named = {"file": str(file)} if len(files) > 1 else {}
            for record in decided:
                click.echo(json.dumps({**named, **record}, ensure_ascii=False))
            continue
        if scenario.expect is None:
            raise BadConfig([f"{file}: expect: is missing; --check compares with it"])
        found = simulation.difference(scenario.expect, decided)
        different += found is not None
        if as_json:
            echo_json({"file": str(file), "name": scenario.name, "holds": found is None, "difference": found})
        elif found is not None:
            click.echo(f"{file}: {scenario.name}\n{found}")
    if check and not as_json:
        click.echo(f"{len(files) - different} of {len(files)} scenarios hold")
    if different:
        raise Refused(f"{different} of {len(files)} scenarios differ")
