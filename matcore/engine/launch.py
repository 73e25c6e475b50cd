"""`mat up`, as a function: launches what is missing of a session in the caller's environment and has it watched.

The panes are made by the caller's process, for only that has the user's environment; the journal is written by the
supervisor's loop, for only that may. Between them stands one record in the user's spool.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matcore import spoolfile
from matcore.engine import briefing, guard, heartbeat
from matcore.engine.about import make_folders
from matcore.engine.alone import alone
from matcore.engine.book import RULES_VERSION, Book
from matcore.engine.config import SessionConfig, to_json
from matcore.engine.driver import Checks
from matcore.engine.drivers import make
from matcore.engine.ledger import Ledger
from matcore.engine.registry import spec_of
from matcore.engine.untouched import unless_launched
from matcore.errors import Refused, Unavailable
from matcore.places import StatePlaces

WATCHED_WITHIN_S = 20.0
UP_LOCK_WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class Launched:
    """What `up` did. `started`: the roles whose agents it started; empty where it only re-attached.

    `changed`: the keys of the file that are not as they were when the session began, and have no effect on it.
    """

    session: str
    started: tuple[str, ...]
    is_new: bool
    changed: tuple[str, ...] = ()


def up(
    state: StatePlaces,
    config: SessionConfig,
    workdir: Path,
    *,
    goal: str | None = None,
    size: tuple[int, int] = (160, 48),
) -> Launched:
    """Launch a session, or what is missing of it, and return once it is watched. Nothing starts twice.

    `goal` is the first cycle's, else the configuration's; a session that is up keeps its own.

    Raises `BadConfig` (a prompt), `Refused` (it runs with another configuration), `Unavailable` (no tmux, no
    supervisor); nothing was started then, or the error says what was.
    """
    for folder in (state.root, state.sessions):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with alone(state, config.session, within_s=UP_LOCK_WITHIN_S):
        before = running(state, config, workdir)
        settings = to_json(config)
        ledger = before or Ledger(session=config.session, config=settings)
        ledger.workdir, ledger.size = str(workdir), size
        ledger.path, ledger.command = reachable()
        changed = tuple(key for key, value in settings.items() if ledger.config.get(key, value) != value)
        with unless_launched(ledger.places):
            make_folders(ledger.places, list(config.roles))
            briefing.write(ledger, _first_goal(ledger, goal) if before is None else None)
            spec = spec_of(ledger)
            driver = make(config.driver, spec.options)
            resume = {role: taken_up for role, seat in ledger.seats.items() if (taken_up := seat.resumes)}
            seats = driver.launch(spec, resume=resume)
        started = tuple(role for role, seat in seats.items() if seat.get("started"))
        record = spoolfile.write(state.spool, record_of(ledger, seats, goal)) if started or before is None else None
        _wait_until_watched(state, config.session, record)
        return Launched(config.session, started, before is None, changed)


def check(config: SessionConfig, workdir: Path) -> None:
    """Raises `BadConfig` with what the driver would refuse of it. Starts nothing and writes nothing."""
    ledger = Ledger(session=config.session, config=to_json(config))
    ledger.workdir, ledger.path = str(workdir), os.environ.get("PATH", os.defpath)
    spec = spec_of(ledger)
    driver = make(config.driver, spec.options)
    if isinstance(driver, Checks):
        driver.check(spec)


def running(state: StatePlaces, config: SessionConfig, workdir: Path) -> Ledger | None:
    """The session of that name that is up already, if it is this one. Changes nothing.

    Raises `Refused` where it is another project's, or has other roles than the file now: nothing is taken over.
    """
    before = _before(state, config.session)
    if before is None:
        return None
    elsewhere = Path(before.workdir)
    if elsewhere.is_dir() and elsewhere.resolve() != workdir.resolve():
        raise Refused(
            f"a session {config.session} is up in {elsewhere}; give this one another name, `session: NAME` in the "
            f"file, or end that one: mat down {config.session}"
        )
    if before.config.get("roles") != to_json(config)["roles"]:
        raise Refused(
            f"session {config.session} is up with other roles than the file has now; first: mat down {config.session}"
        )
    return before


def reachable() -> tuple[str, str]:
    """PATH for the agents, and how they call `send-relay` so that their shells find it.

    Some programs run commands in a login shell, for which /etc/profile may have set PATH anew: where such a shell
    does not find the bare name, the texts name the absolute path.
    """
    path = os.environ.get("PATH", os.defpath)
    own = str(Path(sys.executable).parent)
    if shutil.which("send-relay", path=path) is None:
        path = f"{own}{os.pathsep}{path}"
    found = shutil.which("send-relay", path=path)
    if found is None:
        raise Unavailable(f"send-relay is neither on PATH nor in {own}; install mat again")
    try:
        login = subprocess.run(
            ["bash", "-lc", "command -v send-relay"],
            env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return path, found
    return path, "send-relay" if login.returncode == 0 else found


def _before(state: StatePlaces, session: str) -> Ledger | None:
    """The ledger of this session where it is up already (watched or not)."""
    if not state.journal(session).exists():
        return None
    book = Book.read(state.journal(session))
    book.close()
    return book.ledger if book.ledger.opened_at and not book.ledger.ended else None


def record_of(ledger: Ledger, seats: Mapping[str, Mapping[str, object]], goal: str | None) -> dict[str, Any]:
    """What the loop is told of a session that was launched."""
    recovery = ledger.config.get("recovery") or {}
    policy = {
        key: recovery[key] for key in ("window", "gate_settle", "progress_deadline") if recovery.get(key) is not None
    }
    return {
        "session": ledger.session,
        "request": "up",
        "workdir": ledger.workdir,
        "path": ledger.path,
        "command": ledger.command,
        "size": list(ledger.size),
        "config": ledger.config,
        "seats": {role: dict(seat) for role, seat in seats.items()},
        "goal": _first_goal(ledger, goal),
        "configured": {"roles": list(ledger.config["roles"]), "policy": policy, "rules": RULES_VERSION},
    }


def _first_goal(ledger: Ledger, goal: str | None) -> str | None:
    """The configuration's goal is the first cycle's, and no later one's: an opening that names none has none."""
    return goal or ledger.config.get("goal")


def _wait_until_watched(state: StatePlaces, session: str, record: str | None) -> None:
    """Until the journal says that it is watched, and has taken up our record."""
    until = time.monotonic() + WATCHED_WITHIN_S
    while True:
        guard.start(state)
        with contextlib.suppress(Unavailable):
            ledger = _before(state, session)
            if ledger is not None and ledger.watching and not _in_spool(state, record):
                return
        if time.monotonic() > until:
            beat = heartbeat.read(state)
            why = (beat.failed if beat else {}).get(session, "")
            said = f" ({why.strip().rpartition(chr(10))[2]})" if why else ""
            raise Unavailable(
                f"session {session} was launched, but nobody watches it after {WATCHED_WITHIN_S:g} s{said};"
                f" see: mat doctor, and {state.log}"
            )
        time.sleep(0.05)


def _in_spool(state: StatePlaces, record: str | None) -> bool:
    return record is not None and any((state.spool / "new").glob(f"*-{record}.json"))
