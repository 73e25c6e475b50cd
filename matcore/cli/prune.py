"""`mat prune`: removes ended sessions; nothing else ever removes a journal."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
        if dry_run:
            _say(each, as_json=as_json, removed=False)
            continue
        with _held(state, each) as still:
            if still:
                _say(each, as_json=as_json, removed=True)
                _remove(state, each.session)
            else:
                click.echo(f"{plain(each.session)} stays: it is being brought up", err=True)
    if not old and not as_json:
        click.echo(f"no session ended {duration(least_s)} ago or earlier; nothing was removed")


def _seconds(given: str) -> float:
    """A duration, `0s` included. Raises `BadConfig`."""
    from matcore.engine.configchecks import seconds

    try:
        return seconds(given)
    except ValueError as error:
        raise BadConfig([f"--older-than {error}"]) from error


def _say(each: Ended, *, as_json: bool, removed: bool) -> None:
    if as_json:
        echo_json({"session": each.session, "ended": each.ended, "removed": removed})
    else:
        verb = "is removed" if removed else "would be removed"
        click.echo(f"{plain(each.session)} {verb}: ended {clock(each.ended)}, {each.megabytes:.1f} MB")


@contextmanager
def _held(state: StatePlaces, each: Ended) -> Iterator[bool]:
    """Keep `mat up` from that name meanwhile. Whether the folder is still the one that was looked at: a session that
    is brought up puts it aside and begins another under its name."""
    from matcore.engine.alone import alone, is_coming

    with ExitStack() as held:
        try:
            held.enter_context(alone(state, each.session, within_s=0))
            still = not is_coming(state, each.session) and _ended_at(state, each.session) == each.ended
        except MatError:
            still = False
        yield still


def ended(state: StatePlaces) -> list[Ended]:
    """The sessions that can be read and have ended."""
    found = []
    for session in known(state):
        try:
            at = _ended_at(state, session)
        except MatError as error:
            click.echo(f"{plain(session)} stays: {plain(error)}", err=True)
            continue
        if at is not None:
            size = sum(path.stat().st_size for path in state.session(session).rglob("*") if path.is_file())
            found.append(Ended(session, at, size / 1e6))
    return found


def _ended_at(state: StatePlaces, session: str) -> float | None:
    """When it ended (Unix time), None where it has not."""
    with journal_of(state, session) as journal:
        last = journal.tail(1, names=["engine.down"])
    return last[0].wall if last else None


def _remove(state: StatePlaces, session: str) -> None:
    """Renamed first, so that nobody finds half of it."""
    folder = state.session(session)
    gone = folder.with_name(f".{session}.pruned")
    shutil.rmtree(gone, ignore_errors=True)  # of a prune that was cut off
    try:
        folder.rename(gone)
        shutil.rmtree(gone)
    except OSError as error:
        raise Refused(f"{plain(folder)} can't be removed: {error.strerror}; see: mat doctor") from error
