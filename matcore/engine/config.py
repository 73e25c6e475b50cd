"""`duo.yaml`: what a session is to be, checked whole before anything is started.

All faults are reported at once, each with the file, the line and the path of its key. What was loaded is plain data:
`mat up` hands it to the supervisor's loop, which journals it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from matcore.engine import configchecks as checks
from matcore.engine import yamltree
from matcore.engine.configchecks import NAME_CHARACTERS, Around, duration_s
from matcore.engine.configtypes import Baton, Cycle, Handoff, NotifyCommand, Recovery, Role, SessionConfig, Tmux
from matcore.engine.drivers import names as driver_names
from matcore.engine.shaped import struct
from matcore.engine.yamltree import Faults, Tree, quoted
from matcore.errors import BadConfig
from matcore.words import handoff

SUFFIX = "-duo"
_OF_A_ROLE = re.compile(r"roles\.[a-z0-9-]+\.[a-z_]+: ")


class DoubleWired(BadConfig):
    """A handoff check is both a command for agents and a send gate; it may be wired in one place only."""


_ELSEWHERE = {
    key: f'did you mean "{section.__name__.lower()}.{key}"?'
    for section in (Recovery, Handoff, Tmux, Baton, Cycle)
    for key in section.__struct_fields__
}
_SESSION = struct(SessionConfig, _ELSEWHERE)


def load(
    path: Path,
    *,
    backends: Collection[str] | None = None,
    drivers: Collection[str] | None = None,
    known_checks: Collection[str] | None = None,
    of_prompt: Callable[[str], Iterable[str]] | None = None,
    of_driver: Callable[[SessionConfig], Iterable[str]] | None = None,
) -> SessionConfig:
    """Read and check a configuration; relative directories are relative to the file's.

    `backends` are the agent programs that have a profile (None: not checked here); `drivers` and `known_checks` are
    those that are installed unless said otherwise. `of_prompt` says what is wrong with the prompt of that name,
    `of_driver` what the driver would refuse of a configuration that is none too bad to ask, as `roles.NAME.KEY: …`.
    Raises `BadConfig` with every fault, `DoubleWired` where a check that is wired twice is among them.
    """
    faults = Faults(path)
    tree = yamltree.read(path, faults)
    if tree is None:
        raise BadConfig(faults.sentences())
    folder = path.absolute().parent
    what = Around(
        folder,
        backends,
        drivers=driver_names() if drivers is None else drivers,
        checks={check.name for check in handoff.checks([])} if known_checks is None else known_checks,
    )
    with checks.around(what):
        config = _SESSION(tree, "", faults)
    complete = None if faults.found else _completed(config, folder)
    twice = _wired_twice(tree, faults)
    for role, name, line in _prompts(tree):
        for fault in of_prompt(name) if of_prompt is not None else ():
            faults.add(line, f"roles.{role}.prompt", fault)
    for fault in of_driver(complete) if of_driver is not None and complete is not None else ():
        key, _, said = fault.partition(": ") if _OF_A_ROLE.match(fault) else ("", "", fault)
        faults.add(_line(tree, key), key, said)
    if complete is None or faults.found:
        raise (DoubleWired if twice else BadConfig)(faults.sentences())
    return complete


def _prompts(tree: Tree) -> Iterator[tuple[str, str, int]]:
    """Each role, its prompt's name and the line of it; looked for in the tree, beside any other fault. One that can't
    be a name is a fault already."""
    section = tree.value.get("roles") if isinstance(tree.value, dict) else None
    roles = section.value if section is not None and isinstance(section.value, dict) else {}
    for role, settings in roles.items():
        if isinstance(settings.value, dict):
            named = settings.value.get("prompt")
            name = _default_prompt(role) if named is None or named.value is None else named.raw
            if checks.PATH_LIKE.fullmatch(name) and ".." not in name:
                yield role, name, _line(tree, f"roles.{role}.prompt")


def _line(tree: Tree, path: str) -> int:
    """Where a key is, or the nearest above it that is there; 0 for the file as a whole."""
    line = 0
    for key in path.split(".") if path else ():
        if not isinstance(tree.value, dict) or key not in tree.value:
            break
        tree, line = tree.value[key], tree.key_lines[key]
    return line


def _wired_twice(tree: Tree, faults: Faults) -> bool:
    """Looked for in the tree, so that it is found beside any other fault."""
    section = tree.value.get("handoff") if isinstance(tree.value, dict) else None
    if section is None or not isinstance(section.value, dict):
        return False
    found = {}
    for key in ("gates", "commands"):
        listed = section.value.get(key)
        items = listed.value if listed is not None and isinstance(listed.value, list) else []
        found[key] = {item.raw: item.line for item in items if item.raw}
    twice = found["gates"].keys() & found["commands"].keys()
    for check in sorted(twice):
        faults.add(
            found["commands"][check],
            "handoff.commands",
            f"the check {quoted(check)} is wired twice, here and in handoff.gates; keep one of the two",
        )
    return bool(twice)


def _completed(config: SessionConfig, folder: Path) -> SessionConfig:
    roles = {
        name: msgspec.structs.replace(role, prompt=role.prompt or _default_prompt(name))
        for name, role in config.roles.items()
    }
    return msgspec.structs.replace(config, roles=roles, session=config.session or default_session(folder.name))


def _default_prompt(role: str) -> str:
    return f"duo-{role}"


def default_session(directory: str) -> str:
    """A session's name made of its directory's: `My Shop` becomes `my-shop-duo`."""
    plain = unicodedata.normalize("NFKD", directory).encode("ascii", "ignore").decode().lower()
    reduced = re.sub(r"[^a-z0-9]+", "-", plain).lstrip("-0123456789")[: NAME_CHARACTERS - len(SUFFIX)].strip("-")
    return f"{reduced or 'mat'}{SUFFIX}"


def to_json(config: SessionConfig) -> dict[str, Any]:
    """Plain data, as it is journalled. `from_json` makes the same configuration of it."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(config))
    return plain


def from_json(data: object) -> SessionConfig:
    """The configuration that `to_json` was given. Raises `BadConfig` for anything else."""
    try:
        return msgspec.convert(data, SessionConfig, strict=True)
    except msgspec.ValidationError as error:
        raise BadConfig([f"the journalled configuration can't be read: {error}"]) from error


__all__ = [
    "Baton",
    "Cycle",
    "DoubleWired",
    "Handoff",
    "NotifyCommand",
    "Recovery",
    "Role",
    "SessionConfig",
    "Tmux",
    "default_session",
    "duration_s",
    "from_json",
    "load",
    "to_json",
]
