"""What a configuration names and this machine or this shell has not: found before anything is started, and said then.

A session can live without these, so they are warnings; but what is left out is missed in the night, not now.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from matcore.engine.channels import HOW_TO_INSTALL
from matcore.engine.config import NotifyCommand, SessionConfig
from matcore.errors import MatError
from tmuxdriver import profile


@dataclass(frozen=True, slots=True)
class Lacking:
    """`programs`: agent programs that are not on PATH. `unset`: each role's variables that this shell has not.
    `channels`: ways to a person that can't work here, with the reason."""

    programs: tuple[str, ...]
    unset: tuple[tuple[str, str], ...]
    channels: tuple[tuple[str, str], ...]

    def warnings(self) -> list[str]:
        """In sentences."""
        programs = [
            (f"{program} is not on PATH; mat up would start nothing", "Install it, or name another backend")
            for program in self.programs
        ]
        return [f"{said}. {fix}" for said, fix in (*programs, *self.told_unset(), *self.told_channels())]

    def told_unset(self) -> list[tuple[str, str]]:
        """What is lacking, and what to do."""
        return [
            (f"roles.{role}.env: {name} is not set in this shell, so {role} has to do without it",
             f"First: export {name}=…")
            for role, name in self.unset
        ]  # fmt: skip

    def told_channels(self) -> list[tuple[str, str]]:
        """The same of ways to a person."""
        return [(f"notify: {channel} would reach nobody: {why}", HOW_TO_TEST) for channel, why in self.channels]


HOW_TO_TEST = "Then try it: mat notify --test"


def of(config: SessionConfig, folder: Path, *, roles: Collection[str] | None = None) -> Lacking:
    """`folder` is the file's. `roles`: only their variables; None: all of them."""
    unset = [
        (role, name)
        for role, each in config.roles.items()
        for name in each.env
        if name not in os.environ and (roles is None or role in roles)
    ]
    channels = [(name, why) for each in config.notify for name, why in _channel(each, folder)]
    return Lacking(tuple(_programs(config, folder)), tuple(unset), tuple(dict.fromkeys(channels)))


def _programs(config: SessionConfig, folder: Path) -> list[str]:
    found = []
    for backend in dict.fromkeys(role.backend for role in config.roles.values()):
        try:
            program = profile.load(backend, folders=(profile.project_folder(folder),)).program
        except MatError:  # a profile of another driver's
            continue
        if program is not None and shutil.which(program) is None:
            found.append(program)
    return found


def _channel(entry: str | NotifyCommand, folder: Path) -> list[tuple[str, str]]:
    """A command is run in the file's folder, by the supervisor, with the PATH that it has from here."""
    if isinstance(entry, NotifyCommand):
        program = entry.command[0]
        named = str(folder / program) if "/" in program else program
        if shutil.which(named) is None:
            where = "is no program that can be run" if "/" in program else "is not on PATH"
            return [(program, f"it {where}; install it, or name another")]
    elif importlib.util.find_spec("apprise") is None:
        return [(f"{entry.partition('://')[0]}://…", HOW_TO_INSTALL)]
    return []
