"""`mat prune`: removes ended sessions; nothing else ever removes a journal."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass

import click

from matcore.cli.common import echo_json, journal_of, json_option, known, places
from matcore.errors import BadConfig, MatError, Refused
from matcore.places import StatePlaces
from matcore.show.text import clock, duration, plain


@dataclass(frozen=True, slots=True)
class Ended:
    """A session that has ended, and when (Unix time)."""

    session: str
    ended: float
    megabytes: float


@click.command()
@click.option("--older-than", default="30d", show_default=True, metavar="DURATION", help="Ended at least so long ago.")
@click.option("--dry-run", is_flag=True, help="Say which, and remove nothing.")
@json_option
def command(older_than: str, dry_run: bool, as_json: bool) -> None:
    """Remove the journals of ended sessions, after saying which.

    Sessions that have not ended, and those whose journal can't be read, are never removed."""
    state = places()
    least_s = _seconds(older_than)
    old = [each for each in ended(state) if time.time() - each.ended >= least_s]
    for each in old:
        if as_json:
            echo_json({"session": each.session, "ended": each.ended, "removed": not dry_run})
        else:
            verb = "would be removed" if dry_run else "is removed"
            click.echo(f"{plain(each.session)} {verb}: ended {clock(each.ended)}, {each.megabytes:.1f} MB")
        if not dry_run:
            _remove(state, each.session)
    if not old and not as_json:
        click.echo(f"no session ended {duration(least_s)} ago or earlier; nothing was removed")


def _seconds(given: str) -> float:
    """A duration, `0s` included. Raises `BadConfig`."""
    from matcore.engine.configchecks import seconds

    try:
        return seconds(given)
    except ValueError as error:
        raise BadConfig([f"--older-than {error}"]) from error


def ended(state: StatePlaces) -> list[Ended]:
    """The sessions that can be read and have ended."""
    found = []
    for session in known(state):
        try:
            with journal_of(state, session) as journal:
                last = journal.tail(1, names=["engine.down"])
        except MatError as error:
            click.echo(f"{plain(session)} stays: {plain(error)}", err=True)
            continue
        if last:
            size = sum(path.stat().st_size for path in state.session(session).rglob("*") if path.is_file())
            found.append(Ended(session, last[0].wall, size / 1e6))
    return found


def _remove(state: StatePlaces, session: str) -> None:
    """Renamed first, so that nobody finds half of it."""
    folder = state.session(session)
    gone = folder.with_name(f".{session}.pruned")
    try:
        folder.rename(gone)
        shutil.rmtree(gone)
    except OSError as error:
        raise Refused(f"{plain(folder)} can't be removed: {error.strerror}; see: mat doctor") from error
