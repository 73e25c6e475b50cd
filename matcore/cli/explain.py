"""`mat explain`: the tables of the core, as Markdown."""

from __future__ import annotations

import click


@click.command()
def command() -> None:
    """Print the tables by which the core decides, as Markdown: what happens in each state upon each event."""
    from matcore.show import rulespage

    click.echo(rulespage.page(), nl=False)
