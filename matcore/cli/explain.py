"""`mat explain`: the tables of the core, as Markdown."""

from __future__ import annotations

import click

from matcore.cli.common import echo_json, json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Print the tables by which the core decides, as Markdown: what happens in each state upon each event."""
    from matcore.show import rulespage

    if not as_json:
        click.echo(rulespage.page(), nl=False)
        return
    for table in rulespage.tables():
        echo_json(table)
