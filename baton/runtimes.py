"""How each agent program runs one headless turn, and what its output says: data of its profile (`headless:`).

An exit code is not trusted alone: some programs exit 0 on errors. What a program writes as JSON is read by paths that
the profile names; what it writes as text is only kept.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import yaml

from matcore.errors import BadConfig, Unavailable
from matcore.words import prompts

RATE_LIMIT, AUTH, OVERLOADED, CONTEXT_FULL, CRASH, OTHER = (
    "rate-limit", "auth", "overloaded", "context-full", "crash", "error",
)  # fmt: skip


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing to read out of the JSON output. `where`: keys and values that an object must have; `at`: the path of
    the value in it (`usage.output_tokens`); without `at` the object's being there is the value true."""

    where: dict[str, Any] = {}
    at: str = ""


class Headless(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`{python}`, `{prompt_file}`, `{session_id}`, `{mat_dir}` are filled in. The text goes to stdin.

    `session`: where the program says which session it opened, for those that take no id of ours. `failed`: any of
    these is an error whatever the exit code is. `classes`: error class → pattern, first match counts. `resets`: a
    pattern whose group is the time at which a rate limit ends (seconds from then on, Unix time or ISO).
    """

    fresh: tuple[str, ...]
    resume: tuple[str, ...]
    env: dict[str, str] = {}
    takes_id: bool = True
    takes_prompt: bool = False
    session: tuple[Told, ...] = ()
    failed: tuple[Told, ...] = ()
    error: tuple[Told, ...] = ()
    tokens: tuple[Told, ...] = ()
    cost: tuple[Told, ...] = ()
    classes: dict[str, str] = {}
    resets: str | None = None


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
    """The headless part of a profile. Raises `BadConfig` when there is none."""
    for folder in prompts.folders(workdir):
        path = folder / "backends" / f"{backend}.yaml"
        if path.is_file():
            data = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
            if not data.get("headless"):
                raise BadConfig([f"{path}: {backend} has no `headless:`; it can't be used with driver: baton"])
            try:
                return msgspec.convert(data["headless"], Headless)
            except msgspec.ValidationError as error:
                raise BadConfig([f"{path}: headless: {error}"]) from error
    raise BadConfig([f'no backend "{backend}"; its profile is looked for in: backends/{backend}.yaml'])


def argv(
    runtime: Headless,
    *,
    session_id: str | None,
    opened: bool,
    prompt_file: Path,
    mat_dir: Path,
    args: Sequence[str],
    path: str,
) -> list[str]:
    """The command line of one turn, its program by absolute path. Raises `Unavailable` when it is not on `path`."""
    words = {
        "{python}": sys.executable,
        "{prompt_file}": str(prompt_file),
        "{session_id}": session_id or "",
        "{mat_dir}": str(mat_dir),
    }
    template = runtime.resume if opened else runtime.fresh
    filled: list[str] = []
    for word in template:
        if word == "{args}":
            filled += args
        else:
            filled.append(re.sub(r"\{[a-z_]+\}", lambda m: words.get(m[0], m[0]), word))
    program = shutil.which(filled[0], path=path)
    if program is None:
        raise Unavailable(f"{filled[0]} is not on PATH; install it, or put it on PATH and `mat up` again")
    return [program, *filled[1:]]


def read(runtime: Headless, stdout: str, stderr: str, exit_code: int | None) -> Reading:
    """What the output of a turn says of it. `exit_code` None: it was ended by us."""
    objects = list(_objects(stdout))
    session = _first(runtime.session, objects)
    said = _first(runtime.error, objects)
    failed = exit_code != 0 or any(_find(told, objects) not in (None, False, "", 0) for told in runtime.failed)
    tokens, cost = _first(runtime.tokens, objects), _first(runtime.cost, objects)
    reading = Reading(
        session_id=session if isinstance(session, str) else None,
        failed=failed,
        tokens=int(tokens) if isinstance(tokens, int | float) else None,
        cost=float(cost) if isinstance(cost, int | float) else None,
    )
    if failed:
        text = said if isinstance(said, str) and said.strip() else (stderr.strip() or stdout.strip())
        reading.error = _last_line(text) or f"exit code {exit_code}"
        reading.error_class = _class_of(runtime, f"{text}\n{stderr}\n{stdout}"[-20_000:], exit_code)
        if reading.error_class == RATE_LIMIT and runtime.resets is not None:
            reading.until_s = _reset(runtime.resets, f"{text}\n{stderr}\n{stdout}", time.time())
    return reading


def _class_of(runtime: Headless, text: str, exit_code: int | None) -> str:
    for name, pattern in runtime.classes.items():
        if re.search(pattern, text, re.IGNORECASE):
            return name
    return CRASH if exit_code is None or exit_code < 0 or exit_code > 128 else OTHER


def _reset(pattern: str, text: str, now_s: float) -> float | None:
    """Unix time of a rate limit's end, from the last match."""
    found = re.findall(pattern, text)
    if not found:
        return None
    said = found[-1] if isinstance(found[-1], str) else next((part for part in found[-1] if part), "")
    if re.fullmatch(r"\d{1,6}(\.\d+)?", said):
        return now_s + float(said)
    if re.fullmatch(r"\d{9,11}(\.\d+)?", said):
        return float(said)
    clock = re.fullmatch(r"(\d{1,2}):(\d{2})(?::(\d{2}))?", said)
    if clock and int(clock[1]) < 24 and int(clock[2]) < 60:
        now = datetime.fromtimestamp(now_s).astimezone()
        then = now.replace(hour=int(clock[1]), minute=int(clock[2]), second=int(clock[3] or 0), microsecond=0)
        return then.timestamp() if then > now else then.timestamp() + 86_400
    try:
        return datetime.fromisoformat(said).timestamp()
    except ValueError:
        return None


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
