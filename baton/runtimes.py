"""How each agent program runs one headless turn, and what its output says: data of its profile (`headless:`).

An exit code is not trusted alone: some programs exit 0 on errors. What a program writes as JSON is read by paths that
the profile names; what it writes as text is only kept, and searched for the kind of its error.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import yaml

from matcore.engine import resets
from matcore.errors import BadConfig, Unavailable
from matcore.words import prompts

RATE_LIMIT, AUTH, OVERLOADED, CONTEXT_FULL = "rate-limit", "auth", "overloaded", "context-full"
SESSION_LOST, CRASH, TIMEOUT, OTHER = "session-lost", "crash", "timeout", "error"
NAMED = (RATE_LIMIT, AUTH, OVERLOADED, CONTEXT_FULL, SESSION_LOST)
"""The classes of error that a profile may tell; the others are seen by how the program ended."""
_LIST = re.compile(r"\{(args|add_dir|permissions)\}")
_SAID_CHARS = 4000


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
    with a `dir` of its own, that let it write `{mat_dir}`; `confined`: without them it could not. `failed`: any of these
    is an error whatever the exit code is. `tokens` are added up. `classes`: error class → pattern, first match counts.
    `resets`: a pattern whose group is the time at which a rate limit ends.
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


class Reading(msgspec.Struct):
    """What a turn's output said. `until_s`: Unix time at which a rate limit ends."""

    session_id: str | None = None
    failed: bool = False
    error: str | None = None
    error_class: str | None = None
    tokens: int | None = None
    cost: float | None = None
    until_s: float | None = None


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


def read(runtime: Headless, stdout: str, stderr: str, exit_code: int | None) -> Reading:
    """What the output of a turn says of it. `exit_code` None: it was ended by us."""
    objects = list(_objects(stdout))
    session = _first(runtime.session, objects)
    cost = _first(runtime.cost, objects)
    tokens = [value for told in runtime.tokens if isinstance(value := _find(told, objects), int)]
    reading = Reading(
        session_id=session if isinstance(session, str) else None,
        failed=exit_code != 0 or any(_find(told, objects) not in (None, False, "", 0) for told in runtime.failed),
        tokens=sum(tokens) if tokens else None,
        cost=float(cost) if isinstance(cost, int | float) else None,
    )
    if reading.failed:
        said = _first(runtime.error, objects)
        text = said if isinstance(said, str) and said.strip() else stderr.strip() or stdout.strip()
        text = text[-_SAID_CHARS:]
        reading.error = _last_line(text) or f"exit code {exit_code}"
        reading.error_class = _class_of(runtime, text, exit_code)
        if reading.error_class == RATE_LIMIT and runtime.resets is not None:
            reading.until_s = _reset(runtime.resets, text)
    return reading


def _class_of(runtime: Headless, text: str, exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return CRASH
    for name, pattern in runtime.classes.items():
        if re.search(pattern, text, re.IGNORECASE):
            return name
    return CRASH if exit_code is not None and exit_code > 128 else OTHER


def _reset(pattern: str, text: str) -> float | None:
    """Unix time of a rate limit's end, from the last match."""
    found = re.findall(pattern, text, re.IGNORECASE)
    if not found:
        return None
    said = found[-1] if isinstance(found[-1], str) else next((part for part in found[-1] if part), "")
    return resets.until(said, time.time())


def _objects(stdout: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of an output: one whole document, or one a line; lines that are none are passed over."""
    whole = _parsed(stdout)
    found: list[object] = whole if isinstance(whole, list) else [whole]
    if whole is None:
        found = [_parsed(line) for line in stdout.splitlines() if line.lstrip().startswith("{")]
    yield from (item for item in found if isinstance(item, dict))


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first(many: Sequence[Told], objects: Sequence[Mapping[str, Any]]) -> object:
    return next((value for told in many if (value := _find(told, objects)) is not None), None)


def _find(told: Told, objects: Sequence[Mapping[str, Any]]) -> object:
    """Its value in the last object that has it."""
    for item in reversed(objects):
        if all(_at(item, path) == value for path, value in told.where.items()):
            value = _at(item, told.at) if told.at else True
            if value is not None:
                return value
    return None


def _at(item: object, path: str) -> object:
    for key in path.split("."):
        item = item.get(key) if isinstance(item, Mapping) else None
    return item


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""
