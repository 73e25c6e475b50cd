"""`mat episodes`: one row for each run of the ladder."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from matcore.cli.common import MOST_ENTRIES, echo_json, journal_of, json_option, places
from matcore.cli.naming import session_argument, the_only
from matcore.show.phrases import LAST_RUNG
from matcore.show.text import clock, duration, plain

if TYPE_CHECKING:
    from matcore.engine.journal import Entry, Journal

MOST_SHOWN = 50
NARROW = 100
"""Below that many columns a row has two lines of its own."""
_LEFT = ("opened", "owed", "told", "closed by")
_ABOUT = ("episode.opened", "episode.rearmed", "episode.closed", "nudge", "rung.skipped", "notify")


@click.command()
@session_argument(required=False)
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, MOST_ENTRIES),
    metavar="N",
    help=f"The newest N; {MOST_SHOWN} by default, all with --json.",
)
@json_option
def command(session: str | None, count: int | None, as_json: bool) -> None:
    """One row an episode: when it was opened, who owed, which rungs, what closed it, how long it took."""
    state = places()
    name = session or the_only(state)
    with journal_of(state, name) as journal:
        rows = episodes(journal, count or (None if as_json else MOST_SHOWN))
    if as_json:
        for row in rows:
            echo_json(row)
    elif not rows:
        click.echo(f"{plain(name)}: no episode yet; nothing has stood still for a whole window")
    else:
        _table(rows)


def episodes(journal: Journal, count: int | None) -> list[dict[str, Any]]:
    """The newest `count` of them, in order: `episode`, `opened`, `owed`, `relay`, `rungs`, `nudges`,
    `times_told`, `rearmed`, `by`, `closed`.

    `rungs` are those used up since it was set back to its first (`rearmed`: how often), the others count all of it.
    Times are wall clock (Unix). One that was open when its session ended was closed by that. Reads nothing that is
    older than the first of them.
    """
    after = 0
    if count is not None:
        opened = journal.tail(count, names=["episode.opened"])
        after = opened[0].seq - 1 if len(opened) == count else 0
    rows = _rows(journal.entries(after=after, names=_ABOUT))
    down = next(journal.entries(after=after, names=["engine.down"], newest_first=True), None)
    for row in rows:
        if row["closed"] is None and down is not None:
            row.update(by="session", closed=down.wall)
    return rows


def _rows(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    rows: dict[int, dict[str, Any]] = {}
    for entry in entries:
        number, data = entry.data.get("episode"), entry.data
        if not isinstance(number, int):
            continue
        if entry.name == "episode.opened":
            rows[number] = {
                "episode": number, "opened": entry.wall, "owed": data.get("owed"), "relay": data.get("relay"),
                "rungs": 0, "nudges": 0, "times_told": 0, "rearmed": 0, "by": None, "closed": None,
            }  # fmt: skip
        elif (row := rows.get(number)) is None:
            continue
        elif entry.name == "episode.closed":
            row.update(by=data["by"], rungs=data["rungs"], closed=entry.wall)
        elif entry.name == "episode.rearmed":
            row.update(rungs=0, rearmed=row["rearmed"] + 1)
        else:
            row["nudges"] += entry.name == "nudge"
            row["times_told"] += entry.name == "notify"
            row["rungs"] = max(row["rungs"], int(str(data.get("rung") or LAST_RUNG)))
    return list(rows.values())


def _table(rows: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if console.width < NARROW:
        for row in rows:
            number, opened, owed, nudges, told, rungs, by, lasted = _shown(row)
            since = " since you acted" if row["rearmed"] else ""
            done = f"nudges: {nudges}, told: {told}, rungs used{since}: {rungs}"
            console.print(Text(f"{number}: {opened}, {lasted}\n   owed: {owed}; {by}\n   {done}"))
        return
    table = Table(box=box.SIMPLE, pad_edge=False)
    for name in ("#", "opened", "owed", "nudges", "told", "rungs", "closed by", "lasted"):
        table.add_column(name, overflow="fold", justify="left" if name in _LEFT else "right")
    for row in rows:
        table.add_row(*map(Text, _shown(row)), style="bold yellow" if row["closed"] is None else "")
    console.print(table)
    if any(row["rearmed"] for row in rows):
        console.print(Text("nudges, told: in all; rungs: used since the human acted last", "dim"))


def _shown(row: dict[str, Any]) -> list[str]:
    owed = f"{plain(row['owed'])} ({plain(row['relay'])})" if row["owed"] else "nobody"
    lasted = duration((row["closed"] or time.time()) - row["opened"])
    by = {None: "still open", "session": "the session's end"}.get(row["by"], plain(row["by"]))
    told = {0: "no", 1: "once"}.get(row["times_told"], f"{row['times_told']} times")
    rungs = f"{row['rungs']} of {LAST_RUNG}"
    return [str(row["episode"]), clock(row["opened"]), owed, str(row["nudges"]), told, rungs, by, lasted]
