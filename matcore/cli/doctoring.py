"""The checks of `mat doctor`. They read and ask programs for their version, and change nothing."""

from __future__ import annotations

import locale
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from matcore.cli.common import backends, known
from matcore.engine import heartbeat
from matcore.engine.clock import SystemClock
from matcore.engine.journal import Journal
from matcore.errors import MatError
from matcore.places import StatePlaces
from matcore.show import snapshot
from matcore.show.text import duration
from tmuxdriver import profile
from tmuxdriver.profile import Profile

OLDEST_TMUX = (3, 0)
LITTLE_SPACE, VERY_LITTLE_SPACE = 1024**3, 64 * 1024**2
ANSWER_WITHIN_S = 10.0
_MANAGERS = {
    "apt-get": "sudo apt-get install -y",
    "dnf": "sudo dnf install -y",
    "pacman": "sudo pacman -S",
    "apk": "sudo apk add",
    "brew": "brew install",
}
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_TMUX = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Check:
    """`state`: `ok`, `warning` or `failed`. `fix`: what to do, unless all is well."""

    check: str
    state: str
    said: str
    fix: str | None = None


def checks(state: StatePlaces, folder: Path) -> list[Check]:
    """All of them, in the order in which one leads to the next. `folder` may hold a duo.yaml."""
    each: tuple[Callable[[], Iterator[Check]], ...] = (
        _python, _tmux, _utf8, _commands, lambda: _programs(folder), lambda: _state_folder(state),
        lambda: _disk(state), lambda: _supervisor(state), lambda: _journals(state), lambda: _aside(state),
    )  # fmt: skip
    return [check for group in each for check in group()]


def install(package: str) -> str:
    """The command that installs a package here."""
    found = next((words for name, words in _MANAGERS.items() if shutil.which(name)), None)
    return f"{found} {package}" if found else f"install {package} with your package manager"


def _python() -> Iterator[Check]:
    yield Check("python", "ok", f"{sys.version.split()[0]} at {sys.executable}")


def _tmux() -> Iterator[Check]:
    path = shutil.which("tmux")
    if path is None:
        yield Check("tmux", "failed", "is not on PATH", install("tmux"))
        return
    said = _answer([path, "-V"]) or ""
    match = _TMUX.search(said)
    if match is None:
        yield Check("tmux", "failed", f"{path} gives no version ({said or 'no answer'})", install("tmux"))
    elif (int(match[1]), int(match[2])) < OLDEST_TMUX:
        yield Check("tmux", "failed", f"{said} is too old", f"{install('tmux')} (3.0 or newer)")
    else:
        yield Check("tmux", "ok", f"{said} at {path}")


def _utf8() -> Iterator[Check]:
    named = next((os.environ[key] for key in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(key)), "")
    if re.search(r"utf-?8", named, re.IGNORECASE):
        yield Check("UTF-8", "ok", f"the locale is {named}")
    else:
        said = f"the locale is {named or 'not set'} ({locale.getpreferredencoding(do_setlocale=False)})"
        yield Check(
            "UTF-8", "warning", f"{said}; agents may draw their screens in other characters", "export LC_ALL=C.UTF-8"
        )


def _commands() -> Iterator[Check]:
    """`send-relay` must be found by agents: by name, or by the absolute path that the texts name then."""
    own = Path(sys.executable).parent / "send-relay"
    found = shutil.which("send-relay")
    if found is None and not own.exists():
        yield Check("send-relay", "failed", f"is neither on PATH nor in {own.parent}", "install mat again")
    elif found is None:
        yield Check("send-relay", "ok", f"not on your PATH; agents get {own.parent} on theirs")
    else:
        yield Check("send-relay", "ok", found)


def _programs(folder: Path) -> Iterator[Check]:
    """Each agent program with a profile: is it here, and is it the version that its profile was recorded with?"""
    wanted = _named_here(folder)
    loaded: list[Profile] = []
    for name in sorted({*backends(folder), *wanted}):
        try:
            loaded.append(profile.load(name, folders=(folder / ".mat" / "agents" / "backends",)))
        except MatError as error:
            state = "failed" if name in wanted else "warning"
            yield Check(f"profile {name}", state, str(error), "mend the profile: docs/writing-a-backend-profile.md")
    programs = [each for each in loaded if not each.launch.argv[0].startswith("{")]
    with ThreadPoolExecutor(8) as pool:
        yield from pool.map(lambda each: _program(each, each.name in wanted), programs)


def _program(known: Profile, wanted: bool) -> Check:
    program = known.launch.argv[0]
    path = shutil.which(program)
    if path is None:
        if wanted:
            return Check(
                known.name,
                "failed",
                f"{program} is not on PATH",
                f"install {program}, or name another backend in duo.yaml",
            )
        return Check(known.name, "ok", "not installed, and not needed by a duo.yaml here")
    said = _answer([path, "--version"])
    version = _VERSION.search(said or "")
    if said is None or version is None:
        return Check(known.name, "warning", f"{path} tells no version", f"run {program} --version by hand")
    if known.recorded and version[0] not in known.recorded and version[0] != known.recorded:
        return Check(
            known.name, "warning", f"{version[0]}; its profile was recorded with {known.recorded}",
            "it mostly works; if `mat status` says unknown for long, record its screens: mat record",
        )  # fmt: skip
    return Check(known.name, "ok", f"{version[0]} at {path}")


def _named_here(folder: Path) -> set[str]:
    """The backends of a duo.yaml in `folder`; a faulty one is for `mat up --dry-run` to tell."""
    import yaml

    try:
        data = yaml.safe_load((folder / "duo.yaml").read_text(encoding="utf-8"))
        return {str(role["backend"]) for role in data["roles"].values()}
    except (OSError, UnicodeDecodeError, yaml.YAMLError, AttributeError, KeyError, TypeError):
        return set()


def _state_folder(state: StatePlaces) -> Iterator[Check]:
    if not state.root.exists():
        yield Check("state folder", "ok", f"{state.root} is not there yet; mat up makes it")
        return
    about = state.root.stat()
    if about.st_uid != os.getuid():
        yield Check(
            "state folder", "failed", f"{state.root} is another user's", f"sudo chown -R {os.getuid()} {state.root}"
        )
    elif not os.access(state.root, os.R_OK | os.W_OK | os.X_OK):
        yield Check("state folder", "failed", f"{state.root} can't be written", f"chmod u+rwx {state.root}")
    elif stat.S_IMODE(about.st_mode) & 0o077:
        yield Check("state folder", "failed", f"{state.root} can be read by others", f"chmod 700 {state.root}")
    else:
        yield Check("state folder", "ok", str(state.root))


def _disk(state: StatePlaces) -> Iterator[Check]:
    folder = next(path for path in (state.root, *state.root.parents) if path.exists())
    about = os.statvfs(folder)
    free = about.f_bavail * about.f_frsize
    said = f"{free / 1e9:.1f} GB free for {state.root}"
    full = "failed" if free < VERY_LITTLE_SPACE else "warning" if free < LITTLE_SPACE else "ok"
    yield Check("disk", full, said, None if full == "ok" else "free some space, or: mat prune")


def _supervisor(state: StatePlaces) -> Iterator[Check]:
    seen = snapshot.supervisor_of(state, SystemClock().boot_s())
    age = "no heartbeat yet" if seen.heartbeat_age_s is None else f"heartbeat {duration(seen.heartbeat_age_s)} ago"
    if seen.stale:
        guarded = "its guard ends and restarts it soon" if heartbeat.guarded(state) else "nothing restarts it"
        yield Check("supervisor", "failed", f"pid {seen.pid} hangs: {age}; {guarded}", f"kill {seen.pid}; then: mat up")
    elif seen.alive:
        yield Check("supervisor", "ok", f"pid {seen.pid} watches {len(seen.sessions or [])} sessions, {age}")
    elif open_ones := [name for name in known(state) if _is_open(state, name)]:
        named = ", ".join(open_ones[:5])
        yield Check(
            "supervisor", "failed", f"none runs, and these are not watched: {named}", "mat up, or mat supervise"
        )
    else:
        yield Check("supervisor", "ok", "none runs, and none is needed")


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


def _answer(argv: list[str]) -> str | None:
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=ANSWER_WITHIN_S, check=False,
            start_new_session=True,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (done.stdout or done.stderr).decode("utf-8", "replace").splitlines()
    return lines[0][:200] if lines else None
