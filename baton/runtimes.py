"""How each agent program runs one headless turn: the part `headless:` of its profile, and the command lines of it.

`baton.output` says what such a turn has printed.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import yaml

from matcore.errors import BadConfig, Unavailable
from matcore.words import prompts

RATE_LIMIT, AUTH, OVERLOADED, CONTEXT_FULL = "rate-limit", "auth", "overloaded", "context-full"
SESSION_LOST, CRASH, TIMEOUT, OTHER = "session-lost", "crash", "timeout", "error"
NAMED = (RATE_LIMIT, AUTH, OVERLOADED, CONTEXT_FULL, SESSION_LOST)
"""The classes of error that a profile may tell; the others are seen by how the program ended."""
_LIST = re.compile(r"\{(args|add_dir|permissions)\}")


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing to read out of the JSON output. `where`: keys and values that an object must have; `at`: the path of
    the value in it (`usage.output_tokens`); without `at` the object's being there is the value true."""

    where: dict[str, Any] = {}
    at: str = ""


class Headless(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The command lines of a profile and what its output means.

    `fresh` opens an agent session, `resume` goes on with it. In their words, and in the values of `env`, are filled in:
    `{python}`, `{bin}` (the folder of our commands), `{prompt_file}`, `{session_id}`, `{mat_dir}`, `{dir}`; the words
    `{args}`, `{permissions}` and `{add_dir}` stand for lists. The text goes to stdin, unless a word names `{text}` or
    `{text_file}`.

    `takes_id`: it opens a session of an id of ours; else `session` says where it tells its own. `takes_prompt`: the
    role prompt is handed over by these words or by `env`; else the first text points to it. `add_dir`: words for a role
    with a `dir` of its own, that let it write `{mat_dir}`; `confined`: without them it could not. `failed`: any of
    these is an error whatever the exit code is. `tokens` are added up. `classes`: error class → pattern, first match
    counts. `resets`: a pattern whose group is the time at which a rate limit ends.
    """

    fresh: tuple[str, ...]
    resume: tuple[str, ...]
    env: dict[str, str] = {}
    takes_id: bool = True
    takes_prompt: bool = False
    confined: bool = False
    add_dir: tuple[str, ...] = ()
    permissions: dict[str, tuple[str, ...]] = {}
    session: tuple[Told, ...] = ()
    failed: tuple[Told, ...] = ()
    error: tuple[Told, ...] = ()
    tokens: tuple[Told, ...] = ()
    cost: tuple[Told, ...] = ()
    classes: dict[str, str] = {}
    resets: str | None = None

    @property
    def by_stdin(self) -> bool:
        return not any("{text" in word for word in self.fresh)


@dataclass(frozen=True, slots=True)
class Asked:
    """What one turn is to be run with. `apart`: the role has a `dir` that doesn't hold the session's folder."""

    session_id: str
    opened: bool
    prompt_file: Path
    mat_dir: Path
    dir: Path
    path: str
    args: Sequence[str] = ()
    permissions: str = "default"
    text: str = ""
    text_file: Path = Path()

    @property
    def apart(self) -> bool:
        return not self.mat_dir.is_relative_to(self.dir)


def load(backend: str, workdir: Path) -> Headless:
    """The headless part of a profile. Raises `BadConfig` when there is none, or it is broken."""
    for folder in prompts.folders(workdir):
        path = folder / "backends" / f"{backend}.yaml"
        if path.is_file():
            return _read(path, backend)
    raise BadConfig([f'no backend "{backend}"; its profile is looked for in: backends/{backend}.yaml'])


def _read(path: Path, backend: str) -> Headless:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadConfig([f"{path}: {error}"]) from error
    if not isinstance(data, dict) or not data.get("headless"):
        raise BadConfig([f"{path}: {backend} has no `headless:`; it can't be used with driver: baton"])
    try:
        runtime = msgspec.convert(data["headless"], Headless)
    except msgspec.ValidationError as error:
        raise BadConfig([f"{path}: headless: {error}"]) from error
    faults = [f"classes.{name}: there is no such class" for name in runtime.classes if name not in NAMED]
    for name, pattern in {**runtime.classes, "resets": runtime.resets or ""}.items():
        try:
            re.compile(pattern)
        except re.error as error:
            faults.append(f"{name} is not a regular expression: {error}")
    if faults:
        raise BadConfig([f"{path}: headless: {fault}" for fault in faults])
    return runtime


def argv(runtime: Headless, asked: Asked) -> list[str]:
    """The command line of one turn, its program by absolute path.

    Raises `Unavailable` when the program is not on `path` or the role's folder is gone, `BadConfig` for permissions
    or a folder that the program can't be given.
    """
    _refuse(runtime, asked)
    lists = {
        "args": list(asked.args),  # the user's own words: braces in them are theirs
        "permissions": _filled(runtime.permissions.get(asked.permissions, ()), asked),
        "add_dir": _filled(runtime.add_dir if asked.apart else (), asked),
    }
    filled: list[str] = []
    for word in runtime.resume if asked.opened else runtime.fresh:
        match = _LIST.fullmatch(word)
        filled += lists[match[1]] if match else _filled([word], asked)
    program = shutil.which(filled[0], path=asked.path)
    if program is None:
        raise Unavailable(f"{filled[0]} is not on PATH; install it, or put it on PATH and `mat up` again")
    return [program, *filled[1:]]


def env(runtime: Headless, asked: Asked) -> dict[str, str]:
    """The variables that the profile sets for a turn."""
    return dict(zip(runtime.env, _filled(tuple(runtime.env.values()), asked), strict=True))


def _refuse(runtime: Headless, asked: Asked) -> None:
    if not asked.dir.is_dir():
        raise Unavailable(f"there is no folder {asked.dir}; make it, or change `dir`")
    if asked.permissions != "default" and asked.permissions not in runtime.permissions:
        known = ", ".join(["default", *(name for name in runtime.permissions if name != "default")])
        raise BadConfig([f"permissions: there is no {asked.permissions!r} for headless turns; there are {known}"])
    if asked.apart and runtime.confined and not runtime.add_dir:
        raise BadConfig([f"dir: it must hold {asked.mat_dir}, for this program can't be given a second folder"])


def _filled(words: Sequence[str], asked: Asked) -> list[str]:
    values = {
        "{python}": sys.executable,
        "{bin}": str(Path(shutil.which("send-relay", path=asked.path) or sys.executable).parent),
        "{prompt_file}": str(asked.prompt_file),
        "{session_id}": asked.session_id,
        "{mat_dir}": str(asked.mat_dir),
        "{dir}": str(asked.dir),
        "{text}": asked.text,
        "{text_file}": str(asked.text_file),
    }
    return [re.sub(r"\{[a-z_]+\}", lambda match: values.get(match[0], match[0]), word) for word in words]
