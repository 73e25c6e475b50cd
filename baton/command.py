"""`mat worker`: the worker of a session in the foreground, for people and for services; the driver starts its own."""

from __future__ import annotations

import logging

import click

from baton.worker import serve
from matcore.engine.book import Book
from matcore.errors import Refused
from matcore.places import StatePlaces, state_dir
from matcore.words import again


@click.command()
@click.argument("session")
def command(session: str) -> int:
    """Serve the roles of SESSION (driver: baton): take up its messages, run its turns. Until Ctrl-C.

    `mat up` starts a worker by itself, and a dead one is started again. A second one says so and exits with 3."""
    journal = StatePlaces(state_dir()).journal(session)
    if not journal.is_file():
        raise Refused(f'there is no session "{session}"; see: mat status')
    book = Book.read(journal)
    ledger = book.ledger
    book.close()
    if ledger.ended:
        raise Refused(again.ended(session, ledger.workdir))
    if ledger.config.get("driver") != "baton":
        raise Refused(f"{session} does not run on driver: baton, so it has no worker")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    return serve(ledger.places.root)
