"""`mat metrics`: OpenMetrics text, for a textfile collector."""

from __future__ import annotations

import click

from matcore.cli.common import echo_json, json_option, known, places


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Counters and gauges over all sessions as OpenMetrics text. Needs no supervisor.

    For a textfile collector: mat metrics > FOLDER/mat.prom.new && mv FOLDER/mat.prom.new FOLDER/mat.prom"""
    import msgspec

    from matcore.engine.clock import SystemClock
    from matcore.show import metrics, snapshot

    state = places()
    found = metrics.samples(state, known(state), snapshot.supervisor_of(state, SystemClock().boot_s()))
    if as_json:
        for sample in found:
            echo_json(msgspec.to_builtins(sample))
    else:
        click.echo(metrics.text(found), nl=False)
