"""`mat verify`: is a journal as it was written, and would these rules decide the same again?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from matcore.cli.common import echo_json, exists, json_option, known, places
from matcore.cli.naming import session_argument
from matcore.errors import Refused
from matcore.show.text import json_line, plain

if TYPE_CHECKING:
    from matcore.show.replay import Verdict


@click.command()
@session_argument(or_file=True)
@json_option
def command(session: str, as_json: bool) -> int:
    """Fold a journal again, from its first entry, and compare every decision; and look at the chain of digests.

    Exit code 1 and the first difference, if there is one. A file must be a journal's (journal.db)."""
    from matcore.engine.journal import Journal
    from matcore.show import replay

    with Journal.read(_path(session)) as journal:
        verdict = replay.verify(journal, _tell)
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)
    if as_json:
        import msgspec

        echo_json(msgspec.to_builtins(verdict))
    else:
        _say(verdict)
    return 0 if verdict.holds else Refused.exit_code


def _path(what: str) -> Path:
    state = places()
    if what in known(state):
        return state.journal(what)
    path = Path(what)
    return path if path.exists() else state.journal(exists(state, what))


def _tell(seq: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{seq:,} entries", nl=False, err=True)


def _say(verdict: Verdict) -> None:
    name = plain(verdict.session)
    if verdict.holds:
        click.echo(
            f"{name}: {verdict.entries:,} entries are as they were written, and {verdict.facts:,} facts lead to "
            f"the same {verdict.decisions:,} decisions"
        )
        return
    click.echo(f"{name}: {plain(verdict.difference)}")
    if verdict.kind == "decision":
        click.echo(f"  decided now:  {_record(verdict.expected)}")
        click.echo(f"  in the journal: {_record(verdict.found)}")
        click.echo(f"  see: mat log {name}; written under the rules of version {plain(verdict.rules)}")
    else:
        click.echo("  the entries before it are whole; keep a copy of the file for a report")


def _record(record: dict[str, object] | None) -> str:
    return "nothing" if record is None else json_line(record)
