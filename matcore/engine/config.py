"""`duo.yaml`: what a session is to be, checked whole before anything is started.

All faults are reported at once, each with the file, the line and the path of its key. What was loaded is plain data:
`mat up` hands it to the supervisor's loop, which journals it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import msgspec

from matcore.engine import configchecks as checks
from matcore.engine import yamltree
from matcore.engine.configchecks import NAME_CHARACTERS, Around, duration_s
from matcore.engine.shaped import by_name, in_order, number, several, struct, text
from matcore.engine.yamltree import Faults, Tree, quoted
from matcore.errors import BadConfig
from matcore.words import handoff

SUFFIX = "-duo"


class DoubleWired(BadConfig):
    """A handoff check is both a command for agents and a send gate; it may be wired in one place only."""


def _variables(tree: Tree, path: str, faults: Faults) -> object:
    if isinstance(tree.value, dict):
        return faults.add(
            tree.line, path, "must be a list of names such as [OPENAI_API_KEY]; values are taken from your environment"
        )
    return several(text(checks.variable), "[OPENAI_API_KEY]")(tree, path, faults)


class NotifyCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A program that gets the message on its stdin."""

    command: Annotated[tuple[str, ...], in_order(text(), "[notify-send, mat]")]


def _channel(tree: Tree, path: str, faults: Faults) -> object:
    if isinstance(tree.value, dict):
        return struct(NotifyCommand)(tree, path, faults)
    return text(checks.url)(tree, path, faults)


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """One seat. `dir` is absolute, None for the session's directory; `env` names variables, never their values.

    `prompt` is `duo-<role>` where the file names none.
    """

    backend: Annotated[str, text(checks.backend)]
    prompt: Annotated[str, text(checks.matching(checks.PATH_LIKE, "prompt's name"))] = ""
    kick: Annotated[str | None, text()] = None
    dir: Annotated[str | None, text(checks.folder)] = None
    permissions: Annotated[str, text(checks.matching(checks.PATH_LIKE, "word for permissions"))] = "default"
    args: Annotated[tuple[str, ...], in_order(text(), "[--model, NAME]")] = ()
    env: Annotated[tuple[str, ...], _variables] = ()


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds. `progress_deadline` None is the rules' default, 0 is off.

    `restart`: is an agent that ended by itself started again in its agent session (`auto`), or by a person (`never`)?
    """

    window: Annotated[float, number(checks.positive)] = 600.0
    gate_settle: Annotated[float, number(checks.seconds)] = 30.0
    progress_deadline: Annotated[float | None, number(checks.seconds)] = None
    restart: Annotated[str, text(checks.one_of("auto", "never"))] = "auto"


class Handoff(msgspec.Struct, frozen=True, kw_only=True):
    """What a handoff must have. `gates` are checks that sending runs, `commands` those that agents run themselves."""

    require: Annotated[
        tuple[str, ...], several(text(checks.matching(checks.FRONT_KEY, "key of a front matter")), "[issue]")
    ] = ()
    max_blocks: Annotated[int, number(checks.count)] = 3
    gates: Annotated[tuple[str, ...], several(text(checks.check), "[required-keys]")] = ()
    commands: Annotated[tuple[str, ...], several(text(checks.check), "[required-keys]")] = ()


class Tmux(msgspec.Struct, frozen=True, kw_only=True):
    """`socket`: a name (`tmux -L`) or an absolute path (`tmux -S`)."""

    socket: Annotated[str, text(checks.matching(checks.SOCKET, "socket's name or absolute path"))] = "mat"


class Baton(msgspec.Struct, frozen=True, kw_only=True):
    """`turn_timeout`: seconds a headless turn may take. `output`: bytes of what it prints that are kept in its log."""

    turn_timeout: Annotated[float, number(checks.positive)] = 3600.0
    output: Annotated[int, number(checks.size)] = 8 * 1024 * 1024


class Cycle(msgspec.Struct, frozen=True, kw_only=True):
    """`max_rounds` None is no limit."""

    max_rounds: Annotated[int | None, number(checks.count)] = None


_ROLES = by_name(checks.name, struct(Role), "{dev: {backend: claude}, review: {backend: codex}}")


class SessionConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A whole configuration. The order of `roles` decides ties."""

    roles: Annotated[dict[str, Role], _ROLES]
    session: Annotated[str, text(checks.name)] = ""
    driver: Annotated[str, text(checks.driver)] = "tmux"
    goal: Annotated[str | None, text()] = None
    recovery: Annotated[Recovery, struct(Recovery)] = Recovery()
    handoff: Annotated[Handoff, struct(Handoff)] = Handoff()
    tmux: Annotated[Tmux, struct(Tmux)] = Tmux()
    baton: Annotated[Baton, struct(Baton)] = Baton()
    cycle: Annotated[Cycle, struct(Cycle)] = Cycle()
    notify: Annotated[tuple[str | NotifyCommand, ...], several(_channel, '["ntfy://my-topic"]')] = ()
    heartbeat: Annotated[str | None, text(checks.web_url)] = None


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
) -> SessionConfig:
    """Read and check a configuration; relative directories are relative to the file's.

    `backends` are the agent programs that have a profile (None: not checked here); `drivers` and `known_checks` are
    those that are installed unless said otherwise. Raises `BadConfig` with every fault, `DoubleWired` where a check
    that is wired twice is among them.
    """
    faults = Faults(path)
    tree = yamltree.read(path, faults)
    if tree is None:
        raise BadConfig(faults.sentences())
    folder = path.absolute().parent
    what = Around(
        folder,
        backends,
        drivers={point.name for point in entry_points(group="mat.drivers")} if drivers is None else drivers,
        checks={check.name for check in handoff.checks([])} if known_checks is None else known_checks,
    )
    with checks.around(what):
        config = _SESSION(tree, "", faults)
    twice = _wired_twice(tree, faults)
    if faults.found:
        raise (DoubleWired if twice else BadConfig)(faults.sentences())
    return _completed(config, folder)


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
        name: msgspec.structs.replace(role, prompt=role.prompt or f"duo-{name}") for name, role in config.roles.items()
    }
    return msgspec.structs.replace(config, roles=roles, session=config.session or default_session(folder.name))


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
