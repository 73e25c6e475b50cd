"""`mat episodes`: one row for each run of the ladder."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console
from rich.table import Table

from matcore.cli.common import book_of, echo_json, json_option, places
from matcore.cli.log import the_only
from matcore.engine.journal import Journal
from matcore.show.text import clock, duration, safe


@click.command()
@click.argument("session", required=False)
@json_option
def command(session: str | None, as_json: bool) -> None:
    """One row an episode: when it was opened, who owed, which rungs, what closed it, how long it took."""
    state = places()
    book = book_of(state, session or the_only(state))
    rows = episodes(book.journal)
    book.close()
    if as_json:
        for row in rows:
            echo_json(row)
        return
    table = Table("episode", "opened", "owed", "relay", "rungs", "closed by", "lasted")
    for row in rows:
        table.add_row(*(safe(value) for value in _shown(row)))
    Console().print(table if rows else "no episode yet: nothing has stalled")


def episodes(journal: Journal) -> list[dict[str, Any]]:
    """Each episode's `episode`, `opened`, `owed`, `relay`, `rungs`, `by`, `closed`; times are wall clock (Unix)."""
    rows: dict[int, dict[str, Any]] = {}
    for entry in journal.entries(names=["episode.opened", "episode.closed", "nudge", "rung.skipped", "notify"]):
        number = entry.data.get("episode")
        if not isinstance(number, int):
            continue
        row = rows.setdefault(
            number,
            {
                "episode": number,
                "opened": entry.wall,
                "owed": None,
                "relay": None,
                "rungs": 0,
                "by": None,
                "closed": None,
            },
        )
        if entry.name == "episode.opened":
            row["owed"], row["relay"] = entry.data.get("owed"), entry.data.get("relay")
        elif entry.name == "episode.closed":
            row.update(by=entry.data["by"], rungs=entry.data["rungs"], closed=entry.wall)
        elif row["closed"] is None:
            row["rungs"] = max(row["rungs"], int(str(entry.data.get("rung") or 3)))
    return list(rows.values())


def _shown(row: dict[str, Any]) -> list[str]:
    lasted = "" if row["closed"] is None else duration(row["closed"] - row["opened"])
    return [
        str(row["episode"]), clock(row["opened"]), row["owed"] or "nobody", row["relay"] or "",
        str(row["rungs"]), row["by"] or "open", lasted,
    ]  # fmt: skip
