"""`mat demo`: a duo of scripted agents works, stalls the way the 36-hour stall did, is nudged, recovers, completes.

Everything is as in real use (a tmux server, a supervisor under its guard, `send-relay` run by the agents) but for the
places: a folder, a state folder, a tmux server and a notification channel of its own, all gone afterwards.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from matcore.cli.common import echo_json, places
from matcore.cli.down import down
from matcore.cli.naming import DriverName
from matcore.engine.book import Book
from matcore.engine.config import NotifyCommand, Recovery, Role, SessionConfig, Tmux
from matcore.engine.journal import Entry, Journal
from matcore.engine.launch import up
from matcore.errors import MatError, OurMistake
from matcore.places import StatePlaces
from matcore.show import log, status
from matcore.words.prompts import shipped_agents

SESSION = "demo-duo"
WINDOW_S = 6.0
GIVE_UP_S = 150.0
_LOOK_S = 0.25
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TOLD = frozenset({
    "relay.sent", "relay.delivered", "wake.opened", "final_check", "wake.closed", "episode.opened", "nudge",
    "rung.skipped", "episode.closed", "cycle.opened", "cycle.completed", "goal.wrapup", "notify", "engine.told",
})  # fmt: skip


@click.command()
@click.option("--driver", type=DriverName(), default="tmux", show_default=True, help="tmux, baton, or another one.")
@click.option("--json", "as_json", is_flag=True, help="Nothing on stdout but the journal, one JSON object a line.")
@click.option("--keep", is_flag=True, help="Keep the folders afterwards and say where they are.")
def command(driver: str, as_json: bool, keep: bool) -> None:
    """A duo of scripted agents, no key needed: it works, stalls the way the 36-hour stall did, is nudged, recovers
    and completes; live view, then the episode log. About a minute."""
    say = Console(stderr=True, highlight=False, soft_wrap=True)
    with _signals_stop_it(), _own_places(keep, say) as folder:
        say.print(
            f"A developer and a reviewer, scripted; a stall is noticed after {WINDOW_S:g} s here (10 min by default).\n"
            f"From another terminal, while it runs: XDG_STATE_HOME={folder / 'state'} {_mat()} why {SESSION}"
        )
        config = _config(driver, folder)
        state = places()
        try:
            launched = up(state, config, folder / "work", goal="the greeting has an exclamation mark")
            out = Console(highlight=False, soft_wrap=True)
            shown = say if as_json or sys.stderr.isatty() else out
            live = not as_json and sys.stdout.isatty()
            finished = _watch(state, launched.session, None if live else shown)
            if live or shown is not out:  # else it stands there already
                _show_log(state, launched.session, out, as_json)
        finally:
            _end(state, config)
        if not finished:
            raise OurMistake(f"the demonstration did not complete within {GIVE_UP_S:g} s")
        _show_told(folder, say)


@contextmanager
def _signals_stop_it() -> Iterator[None]:
    """A closed terminal, or a `kill`, ends it as Ctrl-C does: with nothing left behind."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in _STOPPING if number != signal.SIGINT}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _config(driver: str, folder: Path) -> SessionConfig:
    scripts = shipped_agents() / "demo"

    def role(name: str, kick: str | None = None) -> Role:
        return Role(
            backend="scripted", prompt=f"duo-{name}", kick=kick, args=("--script", str(scripts / f"{name}.yaml"))
        )

    return SessionConfig(
        session=SESSION,
        driver=driver,
        roles={
            "dev": role("dev", "Work on greeting.py: make it greet with an exclamation mark"),
            "review": role("review"),
        },
        recovery=Recovery(window=WINDOW_S, gate_settle=1.0),
        tmux=Tmux(socket=str(folder / "tmux.sock")),
        notify=(NotifyCommand(command=("tee", "-a", str(folder / "told.txt"))),),
    )


@contextmanager
def _own_places(keep: bool, say: Console) -> Iterator[Path]:
    """A folder for all of it, and a state folder that no real session is in."""
    folder = Path(tempfile.mkdtemp(prefix="mat-demo-"))
    (folder / "work").mkdir()
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    try:
        yield folder
    finally:
        if before is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = before
        if keep:
            say.print(f"kept: {folder} (look: XDG_STATE_HOME={folder / 'state'} {_mat()} log {SESSION})")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _mat() -> str:
    """How `mat` is called here: after `make demo` it is often not on PATH."""
    return "mat" if shutil.which("mat") else str(Path(sys.executable).parent / "mat")


def _watch(state: StatePlaces, session: str, shown: Console | None) -> bool:
    """Show what happens until the cycle has ended and its closing message was asked for. False: it took too long.

    `shown` takes the important lines as they come; None: a live view instead.
    """
    until = time.monotonic() + GIVE_UP_S
    book = Book.read(state.journal(session))
    book.close()
    journal = Journal.read(state.journal(session))
    try:
        with _view(state, session, shown) as show:
            seen = 0
            while time.monotonic() < until:
                fresh = list(journal.entries(after=seen))
                seen = fresh[-1].seq if fresh else seen
                show(fresh)
                if _finished(journal):
                    return True
                time.sleep(_LOOK_S)
    finally:
        journal.close()
    return False


def _finished(journal: Journal) -> bool:
    told = any(e.data.get("kind") == "cycle-completed" for e in journal.entries(names=["engine.telling"]))
    wrapped = [e for e in journal.entries(names=["engine.injected"]) if e.data.get("kind") == "wrapup"]
    if not told or not any(e.data.get("verdict") == "submitted" for e in wrapped):
        return False
    ended = [e.seq for e in journal.entries(names=["turn.ended"]) if e.seq > wrapped[-1].seq]
    return bool(ended)


@contextmanager
def _view(state: StatePlaces, session: str, shown: Console | None) -> Iterator[Callable[[list[Entry]], None]]:
    if shown is None:
        with Live(console=Console(), refresh_per_second=4, transient=True) as view:
            yield lambda _fresh: view.update(status.render(status.look(state, [session])))
        return

    def lines(fresh: list[Entry]) -> None:
        for entry in fresh:
            if entry.name in _TOLD:
                shown.print(Text(log.line(session, entry), style=log.STYLES[entry.kind]))
        shown.file.flush()

    yield lines


def _show_log(state: StatePlaces, session: str, console: Console, as_json: bool) -> None:
    journal = Journal.read(state.journal(session))
    if not as_json:
        console.print(Text("\nWhat happened, as mat log shows it, the important lines:", style="bold"))
    ended = log.outcomes(journal)
    for entry in journal.entries():
        if as_json:
            echo_json(log.record(session, entry, ended))
        elif entry.name in _TOLD:
            console.print(Text(log.line(session, entry), style=log.STYLES[entry.kind]))
    journal.close()


def _end(state: StatePlaces, config: SessionConfig) -> None:
    """End the duo, and wait until the supervisor and its guard, which then have nothing to watch, are gone.

    Whatever was started: a launch that was stopped in the middle has agents, but no journal that knows them.
    """
    from matcore.engine import heartbeat
    from matcore.engine.config import to_json
    from matcore.engine.drivers import make

    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in _STOPPING]
    try:
        with suppress(MatError):
            down(state, SESSION)
        with suppress(MatError):
            make(config.driver, to_json(config).get(config.driver) or {}).stop(SESSION)
        until = time.monotonic() + 15
        while (heartbeat.alive(state) or heartbeat.guarded(state)) and time.monotonic() < until:
            time.sleep(0.05)
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _show_told(folder: Path, say: Console) -> None:
    """A notification ends with the commands to run next; those of this session are of no use any more."""
    with suppress(OSError):
        say.print(Text("\nWhat you would have been told:", style="bold"))
        say.print(Text((folder / "told.txt").read_text(encoding="utf-8").strip()))
        say.print("(This duo is gone by now, so its commands lead nowhere; those of your own do.)")
    say.print(f"\nYour own, in the folder of your project: {_mat()} init, then {_mat()} up.")
