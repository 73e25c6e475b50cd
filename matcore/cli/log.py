"""`mat log`: the journal."""

from __future__ import annotations

import difflib
import itertools
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from matcore.cli.common import MOST_ENTRIES, echo_json, journal_of, json_option, places
from matcore.cli.naming import session_argument, the_only
from matcore.errors import BadConfig, Refused
from matcore.show.text import plain

if TYPE_CHECKING:
    from matcore.engine.journal import Entry, Journal

KINDS = ("fact", "decision", "engine")
FOLLOW_S = 0.2
ENGINE = "engine."
DOWN = "engine.down"
COLOURS = {"fact": {}, "decision": {"bold": True}, "engine": {"dim": True}}


class Kind(click.types.StringParamType):
    """`fact`, `decision`, `engine`, or the name of an entry."""

    name = "kind"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's signature
        return [CompletionItem(name) for name in (*KINDS, *_names()) if name.startswith(incomplete)]


@click.command()
@session_argument(required=False)
@click.option("-f", "--follow", is_flag=True, help="Go on showing what comes.")
@click.option("-n", "count", type=click.IntRange(0, MOST_ENTRIES), metavar="N", help="Only the newest N entries.")
@click.option("--episode", type=int, metavar="N", help="Only what belongs to that episode's time.")
@click.option("--since", metavar="T", help='From then on: 02:30, "yesterday 23:10", 2026-11-30T02:30, or 8h (ago).')
@click.option(
    "--kind", "kinds", type=Kind(), multiple=True, metavar="K", help="fact, decision, engine, or a name such as nudge."
)
@json_option
def command(
    session: str | None,
    follow: bool,
    count: int | None,
    episode: int | None,
    since: str | None,
    kinds: tuple[str, ...],
    as_json: bool,
) -> None:
    """The journal, one line an entry: facts (·), decisions (▶), what the engine did (~).

    -n, --episode, --since and --kind narrow it down together; -f goes on with what comes, until the session
    ends."""
    from matcore.show import log

    name = session or the_only(places())
    for kind in kinds:
        _check(kind)
    with journal_of(places(), name) as journal, suppress(KeyboardInterrupt):
        ended: dict[int, bool] | None = None
        for entry in _chosen(journal, count, episode, since, kinds, follow):
            if as_json:
                if ended is None:
                    ended = log.outcomes(journal, entry.seq)
                echo_json(log.record(name, entry, ended))
            else:
                click.echo(click.style(log.line(name, entry), **COLOURS[entry.kind]))
            if follow:
                sys.stdout.flush()
        if follow and _is_over(journal):
            click.echo(f"{plain(name)} has ended", err=True)


def _names() -> list[str]:
    from matcore.rules import decisions, records

    return sorted({*records.NAMES.values(), *decisions.EVENTS.values()})


def _check(kind: str) -> None:
    """Names of the engine's entries are free. Raises `BadConfig` for any other word, with the nearest."""
    if kind in KINDS or kind.startswith((ENGINE, "handoff.")):
        return
    names = _names()
    if kind not in names:
        close = difflib.get_close_matches(kind, (*KINDS, *names), n=1)
        hint = f'; did you mean "{close[0]}"?' if close else f"; there are {', '.join(KINDS)}, and the names of entries"
        raise BadConfig([f'--kind: there is no "{plain(kind)}"{hint}'])


def _chosen(
    journal: Journal,
    count: int | None,
    episode: int | None,
    since: str | None,
    kinds: tuple[str, ...],
    follow: bool,
) -> Iterator[Entry]:
    after, before = (0, None) if episode is None else span_of(journal, episode)
    if since is not None:
        from matcore.show.when import wall_since

        first = journal.seq_since(wall_since(since, time.time()))
        after = max(after, (first or journal.last_seq + 1) - 1)
    last = journal.last_seq
    until = last + 1 if before is None else before
    yield from _span(journal, after, until, kinds, count)
    over = _is_over(journal)
    while follow and before is None:
        over = over or any(journal.entries(after=last, names=[DOWN]))
        for entry in _span(journal, last, None, kinds, None):
            last = entry.seq
            yield entry
        if over:
            return
        time.sleep(FOLLOW_S)


def _is_over(journal: Journal) -> bool:
    return bool(journal.tail(1, names=[DOWN]))


def _span(
    journal: Journal, after: int, before: int | None, kinds: tuple[str, ...], count: int | None
) -> Iterator[Entry]:
    """Those of the kinds and those of the names together, each once; only the newest `count`."""
    kind = [k for k in kinds if k in KINDS]
    names = [k for k in kinds if k not in KINDS]
    newest = count is not None
    streams = []
    if kind or not names:
        streams.append(journal.entries(after=after, before=before, kinds=kind or None, newest_first=newest))
    if names:
        others = [k for k in KINDS if k not in kind]
        streams.append(journal.entries(after=after, before=before, kinds=others, names=names, newest_first=newest))
    merged = _merged(streams, newest)
    return merged if count is None else iter(list(itertools.islice(merged, count))[::-1])


def _merged(streams: list[Iterator[Entry]], newest_first: bool) -> Iterator[Entry]:
    import heapq

    return heapq.merge(*streams, key=lambda entry: entry.seq, reverse=newest_first)


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
        raise Refused(f"there is no episode {episode}; see: mat episodes {plain(journal.session)}")
    return opened, None
