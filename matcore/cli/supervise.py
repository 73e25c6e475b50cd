"""`mat supervise`: the supervisor in the foreground."""

from __future__ import annotations

import logging
import signal
from types import FrameType

import click

from matcore.cli.common import places
from matcore.engine import heartbeat
from matcore.engine.events import Stop
from matcore.engine.supervisor import Supervisor


@click.command()
@click.option("--until-idle", is_flag=True, help="End when no session is left to watch.")
def command(until_idle: bool) -> None:
    """The supervisor of all your sessions, in the foreground: for systemd and containers.

    A second one refuses and names the first. SIGTERM and SIGINT end it cleanly; the sessions' agents go on."""
    state = places()
    heartbeat.take_lock(state.lock, "supervisor")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    supervisor = Supervisor(state, until_idle=until_idle)

    def enqueue(number: int, _frame: FrameType | None) -> None:
        supervisor.queue.put(Stop(signal.Signals(number).name))

    signal.signal(signal.SIGTERM, enqueue)
    signal.signal(signal.SIGINT, enqueue)
    supervisor.run()
