"""`mat log`: the journal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from matcore.cli.common import book_of, echo_json, known, places
from matcore.engine.journal import Entry, Journal
from matcore.errors import Refused
from matcore.places import StatePlaces
from matcore.show import log
from matcore.show.when import wall_since

KINDS = ("fact", "decision", "engine")
FOLLOW_S = 0.2


@click.command()
@click.argument("session", required=False)
@click.option("-f", "--follow", is_flag=True, help="Go on showing what comes.")
@click.option("-n", "count", type=click.IntRange(min=0), metavar="N", help="Only the newest N entries.")
@click.option("--episode", type=int, metavar="N", help="Only what belongs to that episode's time.")
@click.option("--since", metavar="T", help="From then on: 02:30, 2026-11-30T02:30, or an age as 8h.")
@click.option("--kind", "kinds", multiple=True, help="fact, decision, engine, or the name of an entry as nudge.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, keys as in docs/json.md.")
def command(
    session: str | None,
    follow: bool,
    count: int | None,
    episode: int | None,
    since: str | None,
    kinds: tuple[str, ...],
    as_json: bool,
) -> None:
    """The journal, one line an entry: facts (·), decisions (▶), what the engine did (~)."""
    name = session or the_only(places())
    journal = Journal.read(_path(places(), name))
    console = Console(soft_wrap=True, highlight=False)
    ended: dict[int, bool] | None = None
    try:
        for entry in _chosen(journal, count, episode, since, kinds, follow):
            if as_json:
                if ended is None:
                    ended = log.outcomes(journal, entry.seq)
                echo_json(log.record(name, entry, ended))
            else:
                console.print(Text(log.line(name, entry), style=log.STYLES[entry.kind]))
            if follow:
                sys.stdout.flush()
    except KeyboardInterrupt:
        pass
    finally:
        journal.close()


def the_only(state: StatePlaces) -> str:
    """The one session there is. Raises `Refused` when it has to be named."""
    names = known(state)
    if len(names) != 1:
        raise Refused(
            f"which session? There are: {', '.join(names)}" if names else "there is no session; start one: mat up"
        )
    return names[0]


def _path(state: StatePlaces, session: str) -> Path:
    book_of(state, session).close()
    return state.journal(session)


def _chosen(
    journal: Journal,
    count: int | None,
    episode: int | None,
    since: str | None,
    kinds: tuple[str, ...],
    follow: bool,
) -> Iterator[Entry]:
    kind = [k for k in kinds if k in KINDS] or None
    names = [k for k in kinds if k not in KINDS] or None
    after, before = 0, None
    if since is not None:
        first = journal.seq_since(wall_since(since, time.time()))
        after = (first or journal.last_seq + 1) - 1
    if episode is not None:
        after, before = span_of(journal, episode)
    entries = journal.entries(after=after, before=before, kinds=kind, names=names)
    if count is not None and before is None and after == 0:
        entries = iter(journal.tail(count, kinds=kind, names=names))
    last = after
    for entry in entries:
        last = entry.seq
        yield entry
    while follow and before is None:
        for entry in journal.entries(after=last, kinds=kind, names=names):
            last = entry.seq
            yield entry
        time.sleep(FOLLOW_S)


def span_of(journal: Journal, episode: int) -> tuple[int, int | None]:
    """Where an episode stands: from its opening to its closing, both included. Raises `Refused` for none such."""
    opened = None
    for entry in journal.entries(names=["episode.opened", "episode.closed"]):
        if entry.data.get("episode") == episode:
            if entry.name == "episode.opened":
                opened = entry.seq - 1
            elif opened is not None:
                return opened, entry.seq + 1
    if opened is None:
        raise Refused(f"there is no episode {episode}")
    return opened, None
