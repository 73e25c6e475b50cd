"""The checks of `mat doctor` that are about mat's own places: the state folder, the disk, the supervisor, journals."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from matcore.cli.common import known, nearest
from matcore.engine import heartbeat
from matcore.engine.clock import SystemClock
from matcore.engine.journal import Journal
from matcore.errors import MatError
from matcore.places import StatePlaces
from matcore.show import snapshot
from matcore.show.text import duration

LITTLE_SPACE, VERY_LITTLE_SPACE = 1024**3, 64 * 1024**2


@dataclass(frozen=True, slots=True)
class Check:
    """`state`: `ok`, `warning` or `failed`. `fix`: what to do, unless all is well."""

    check: str
    state: str
    said: str
    fix: str | None = None


def guarded(name: str, group: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """What a group finds; that it can't look is found, too."""
    try:
        yield from group()
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        yield Check(name, "failed", f"{where}{error.strerror}", f"see to {error.filename or 'that'}, then: mat doctor")
    except MatError as error:
        yield Check(name, "failed", str(error), "see to that, then: mat doctor")


def checks(state: StatePlaces, project: Path | None) -> Iterator[Check]:
    """`project`: a folder with a duo.yaml. Without a state folder that can be looked into there is nothing more."""
    found = list(guarded("state folder", lambda: _state_folder(state)))
    yield from found
    yield from guarded("project", lambda: _project(project))
    yield from guarded("disk", lambda: _disks(state, project))
    if all(each.state == "ok" for each in found) or os.access(state.root, os.R_OK | os.X_OK):
        yield from guarded("supervisor", lambda: _supervisor(state))
        yield from guarded("journals", lambda: _journals(state))
        yield from guarded("set aside", lambda: _aside(state))


def _state_folder(state: StatePlaces) -> Iterator[Check]:
    stands = nearest(state.root)
    if not os.path.isdir(stands):  # noqa: PTH112 - as in `places`
        yield Check(
            "state folder", "failed", f"{stands} is no folder, so {state.root} can't be",
            f"move {stands} away, or name another place: export XDG_STATE_HOME=/a/folder/of/yours",
        )  # fmt: skip
    elif stands != state.root:
        if os.access(stands, os.W_OK | os.X_OK):
            yield Check("state folder", "ok", f"{state.root} is not there yet; mat up makes it")
        else:
            fix = f"chmod u+rwx {stands}, or name another place: export XDG_STATE_HOME=/a/folder/of/yours"
            yield Check("state folder", "failed", f"{state.root} can't be made: {stands} can't be written", fix)
    else:
        wrong = [check for folder in _folders(state) for check in _own(folder)]
        yield from wrong or [Check("state folder", "ok", str(state.root))]


def _folders(state: StatePlaces) -> list[Path]:
    inside = (state.sessions, state.spool, state.spool / "new", state.spool / "tmp")
    return [state.root, *(folder for folder in inside if folder.exists())]


def _own(folder: Path) -> Iterator[Check]:
    """A folder that only its user may look into, and may write."""
    about = folder.stat()
    if about.st_uid != os.getuid():
        yield Check("state folder", "failed", f"{folder} is another user's", f"sudo chown -R {os.getuid()} {folder}")
    elif stat.S_IMODE(about.st_mode) & 0o700 != 0o700 or not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield Check("state folder", "failed", f"{folder} can't be written", f"chmod u+rwx {folder}")
    elif stat.S_IMODE(about.st_mode) & 0o077:
        yield Check("state folder", "failed", f"{folder} can be read by others", f"chmod 700 {folder}")


def _project(project: Path | None) -> Iterator[Check]:
    """Agents hand over in `.mat/` below it."""
    inside = project / ".mat" if project is not None else None
    if project is None or inside is None:
        return
    if inside.exists() and not inside.is_dir():
        yield Check("project", "failed", f"{inside} is no folder, and agents hand over there", f"move {inside} away")
    elif not os.access(inside if inside.exists() else project, os.W_OK | os.X_OK):
        place = inside if inside.exists() else project
        yield Check(
            "project", "failed", f"{place} can't be written, and agents hand over there", f"chmod u+rwx {place}"
        )


def _disks(state: StatePlaces, project: Path | None) -> Iterator[Check]:
    """That of the state folder, and the project's where it is another one."""
    stands = nearest(state.root)
    folder = stands if os.path.isdir(stands) else stands.parent  # noqa: PTH112 - as in `places`
    yield _disk(folder, state.root, "free some space, or: mat prune")
    if project is not None and project.stat().st_dev != folder.stat().st_dev:
        yield _disk(project, project, "free some space there")


def _disk(folder: Path, named: Path, fix: str) -> Check:
    about = os.statvfs(folder)
    free = about.f_bavail * about.f_frsize
    said = f"{_size(free)} free for {named}"
    full = "failed" if free < VERY_LITTLE_SPACE else "warning" if free < LITTLE_SPACE else "ok"
    if about.f_files and not about.f_favail:
        full, said = "failed", f"no file can be made for {named}: the file system has no inode left"
    return Check("disk", full, said, None if full == "ok" else fix)


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def _supervisor(state: StatePlaces) -> Iterator[Check]:
    seen = snapshot.supervisor_of(state, SystemClock().boot_s())
    age = "no heartbeat yet" if seen.heartbeat_age_s is None else f"heartbeat {duration(seen.heartbeat_age_s)} ago"
    if seen.stale:
        guarded = "its guard ends and restarts it soon" if heartbeat.guarded(state) else "nothing restarts it"
        yield Check("supervisor", "failed", f"pid {seen.pid} hangs: {age}; {guarded}", f"kill {seen.pid}; then: mat up")
    elif seen.alive and seen.pid is None:
        yield _without_heartbeat(state)
    elif seen.alive:
        yield Check("supervisor", "ok", f"pid {seen.pid} watches {len(seen.sessions or [])} sessions, {age}")
    elif open_ones := [name for name in known(state) if _is_open(state, name)]:
        named = ", ".join(open_ones[:5])
        yield Check(
            "supervisor", "failed", f"none runs, and these are not watched: {named}", "mat up, or mat supervise"
        )
    else:
        yield Check("supervisor", "ok", "none runs, and none is needed")


def _without_heartbeat(state: StatePlaces) -> Check:
    """Its lock is held, but no heartbeat of this boot is there: it has just begun, or hangs in its first steps."""
    pid, since = _holder(state)
    age = time.time() - since if since is not None else None
    if age is not None and age <= heartbeat.STALE_S:
        return Check("supervisor", "ok", f"pid {pid} has just been started")
    who = f"pid {pid}" if pid is not None else "somebody"
    fix = f"kill {pid}; then: mat up" if pid is not None else f"end who holds it (fuser {state.lock}); then: mat up"
    return Check("supervisor", "failed", f"{who} holds {state.lock}, and has no heartbeat", fix)


def _holder(state: StatePlaces) -> tuple[int | None, float | None]:
    """The process that is named in the lock, and since when it runs (Unix time)."""
    try:
        pid = int(state.lock.read_text(encoding="utf-8").strip() or "x")
        return pid, psutil.Process(pid).create_time()
    except (OSError, ValueError, psutil.Error):
        return None, None


def _is_open(state: StatePlaces, session: str) -> bool:
    try:
        with Journal.read(state.journal(session)) as journal:
            return journal.last_seq > 0 and not journal.tail(1, names=["engine.down"])
    except MatError:
        return False


def _journals(state: StatePlaces) -> Iterator[Check]:
    names = known(state)
    for name in names:
        try:
            with Journal.read(state.journal(name)) as journal:
                journal.last()
        except MatError as error:
            yield Check(f"journal {name}", "failed", str(error), f"mat verify {name} says more")
    if names:
        yield Check("journals", "ok", f"{len(names)} looked at; mat verify reads one whole")


def _aside(state: StatePlaces) -> Iterator[Check]:
    folder = state.spool / "aside"
    reasons = sorted(folder.glob("*.reason"))
    if reasons:
        newest = reasons[-1].read_text(encoding="utf-8", errors="replace").strip()[:200]
        said = f"{len(reasons)} records of yours or of hooks, the newest: {newest}"
        yield Check("set aside", "warning", said, f"look at {folder}, then empty it")
