"""The checks of `mat doctor`. They read and ask programs for their version, and change nothing."""

from __future__ import annotations

import locale
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from matcore.cli import lacking, statechecks
from matcore.cli.common import backends
from matcore.cli.statechecks import Check, guarded
from matcore.engine import config, yamltree
from matcore.engine.config import SessionConfig
from matcore.errors import BadConfig, MatError
from matcore.places import CONFIG_FILE, StatePlaces, state_dir
from tmuxdriver import installing, profile
from tmuxdriver.profile import Profile

OLDEST_TMUX = (3, 2)
"""The first with `extended-keys`, which our configuration sets."""
ANSWER_WITHIN_S = 10.0
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_TMUX = re.compile(r"(\d+)\.(\d+)")


def checks(folder: Path) -> list[Check]:
    """All of them, in the order in which one leads to the next. `folder` may hold a duo.yaml.

    A check that can't even look is one that failed, and hides no other.
    """
    described, faults = _described(folder)
    each: list[tuple[str, Callable[[], Iterator[Check]]]] = [
        ("python", _python),
        ("tmux", lambda: _tmux(is_needed=described is None or described.driver == "tmux")),
        ("UTF-8", _utf8),
        ("send-relay", _commands),
        (CONFIG_FILE, lambda: _file(folder, described, faults)),
        ("agent programs", lambda: _programs(folder)),
    ]
    found = [check for name, group in each for check in guarded(name, group)]
    try:
        state = StatePlaces(state_dir())
    except RuntimeError:
        said = "this user has no home directory, so no state folder can be found"
        return [*found, Check("state folder", "failed", said, "export XDG_STATE_HOME=/a/folder/of/yours")]
    return [*found, *statechecks.checks(state, folder if described is not None else None)]


def _python() -> Iterator[Check]:
    yield Check("python", "ok", f"{sys.version.split()[0]} at {sys.executable}")


def _tmux(*, is_needed: bool) -> Iterator[Check]:
    path = shutil.which("tmux")
    if path is None:
        if is_needed:
            yield Check(
                "tmux", "failed", "is not on PATH", f"{installing.command('tmux')}; or, in duo.yaml: driver: baton"
            )
        else:
            yield Check("tmux", "ok", "is not on PATH, and the duo.yaml here does without it")
        return
    said = _answer([path, "-V"]) or ""
    match = _TMUX.search(said)
    if match is None:
        yield Check("tmux", "failed", f"{path} gives no version ({said or 'no answer'})", installing.command("tmux"))
    elif (int(match[1]), int(match[2])) < OLDEST_TMUX:
        yield Check(
            "tmux",
            "failed",
            f"{said} is too old",
            f"{installing.command('tmux')} ({OLDEST_TMUX[0]}.{OLDEST_TMUX[1]} or newer)",
        )
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


def _described(folder: Path) -> tuple[SessionConfig | None, tuple[str, ...]]:
    """The duo.yaml in `folder`, if there is one without a fault, or its faults."""
    if not (folder / CONFIG_FILE).exists():
        return None, ()
    try:
        return config.load(folder / CONFIG_FILE, backends=backends(folder)), ()
    except BadConfig as error:
        return None, error.faults


def _file(folder: Path, described: SessionConfig | None, faults: tuple[str, ...]) -> Iterator[Check]:
    """What is described here: is it right, and is there what it names? It is no fault of the machine, so a warning."""
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        yield Check(CONFIG_FILE, "warning", f"{faults[0]}{more}", "mend it; see every fault: mat up --dry-run")
    elif described is not None:
        said = lacking.of(described, folder)
        told = [*said.told_unset(), *said.told_channels()]
        for sentence, fix in told:
            yield Check(CONFIG_FILE, "warning", sentence, fix)
        if not told:
            yield Check(CONFIG_FILE, "ok", f"describes {described.session} on {described.driver}")


def _programs(folder: Path) -> Iterator[Check]:
    """Each agent program with a profile: is it here, and is it the version that its profile was recorded with?"""
    wanted = _named_here(folder)
    loaded: list[Profile] = []
    there = backends(folder)
    for name in sorted({*there, *wanted}):
        try:
            loaded.append(profile.load(name, folders=(profile.project_folder(folder),)))
        except MatError as error:
            state = "failed" if name in wanted else "warning"
            page = "docs/writing-a-backend-profile.md"
            fix = f"mend the profile: {page}" if name in there else f"name another in duo.yaml, or write one: {page}"
            yield Check(f"profile {name}", state, str(error), fix)
    programs = [(each, each.program) for each in loaded if each.program is not None]
    with ThreadPoolExecutor(8) as pool:
        yield from pool.map(lambda each: _program(*each, wanted=each[0].name in wanted), programs)


def _program(known: Profile, program: str, *, wanted: bool) -> Check:
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
        return Check(known.name, "warning", f"{path} gives no version", f"run {program} --version by hand")
    if known.recorded and version[0] not in _VERSION.findall(known.recorded):
        return Check(
            known.name, "warning", f"{version[0]}; its profile was recorded with {known.recorded}",
            "it mostly works; if `mat status` says unknown for long, record its screens: mat record",
        )  # fmt: skip
    return Check(known.name, "ok", f"{version[0]} at {path}")


def _named_here(folder: Path) -> set[str]:
    """The backends of a duo.yaml in `folder`, also where something else in it is wrong: `_file` tells of that."""
    tree = yamltree.read(folder / CONFIG_FILE, yamltree.Faults(folder / CONFIG_FILE))
    section = tree.value.get("roles") if tree is not None and isinstance(tree.value, dict) else None
    roles = section.value.values() if section is not None and isinstance(section.value, dict) else ()
    named = (role.value.get("backend") for role in roles if isinstance(role.value, dict))
    return {backend.raw for backend in named if backend is not None and backend.raw}


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
