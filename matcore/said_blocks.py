"""The send gate: every check of a handoff leaves a record, and refusals in a row are counted for each file and role.

The count lies beside the role's spool (`blocks.json`), because a refusal changes nothing else that could be counted.
"""

from __future__ import annotations

import json
import os
from types import TracebackType

from matcore import spoolfile
from matcore.errors import Refused
from matcore.said_here import Seat
from matcore.words import handoff

FILE = "file"
"""The check that the file is one at all: it comes before the structural ones."""

MAX_FILES = 100
"""How many files have a count; that of the file refused longest ago is dropped."""

LONGEST_PATH = 4095
"""Bytes of a path, as Linux takes them; a record with more characters of one would be set aside."""


class Gate:
    """One handoff on its way through the checks, in a `with` block.

    A `Refused` that is raised inside is recorded under the check that was under way and raised again with
    `nothing sent`. Leaving the block without one ends the row of refusals of this file.
    """

    __slots__ = ("_blocks", "_check", "_file", "_name", "_seat")

    def __init__(self, seat: Seat, name: str) -> None:
        self._seat = seat
        self._name = name
        self._file = os.path.abspath(name)[:LONGEST_PATH]
        self._check = FILE
        self._blocks = _counts(seat).get(self._file, 0)

    def __enter__(self) -> Gate:
        return self

    def passed(self, check: str) -> None:
        """Record that `check` found nothing."""
        self._record(check, None)

    def judge(self, check: str, refusal: str | None) -> None:
        """Record what a check said. Raises `Refused` with its refusal, where there is one."""
        self._check = check
        if refusal is not None:
            raise Refused(f"{shown(self._name)}: {refusal}")
        self.passed(check)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if isinstance(error, Refused):
            raise Refused(f"{error}{self._refused(str(error))}; nothing sent") from error
        if error is None and self._blocks:
            self._count(0)

    def _refused(self, reason: str) -> str:
        """Record the refusal; returns what else the sender should know."""
        self._blocks += 1
        try:
            self._count(self._blocks)
            self._record(self._check, reason)
        except OSError as error:  # The reason matters more to the sender than the record of it.
            return f" (and this could not be recorded: {error.strerror})"
        if self._blocks < self._seat.max_blocks:
            return ""
        told = "is" if self._blocks == self._seat.max_blocks else "was"
        return f" (refused {self._blocks} times in a row; the human {told} told)"

    def _record(self, check: str, reason: str | None) -> None:
        record = handoff.checked(check, reason, blocks=self._blocks, max_blocks=self._seat.max_blocks, file=self._file)
        spoolfile.write(self._seat.spool, {"session": self._seat.session, **record})

    def _count(self, blocks: int) -> None:
        counts = _counts(self._seat)
        counts.pop(self._file, None)
        if blocks:
            counts[self._file] = blocks
        newest = dict(list(counts.items())[-MAX_FILES:])
        spoolfile.replace(_path(self._seat), json.dumps(newest).encode())


def shown(name: str) -> str:
    """A file's name as it can be printed."""
    return name if name.isprintable() else repr(name)


def _counts(seat: Seat) -> dict[str, int]:
    try:
        with open(_path(seat), encoding="utf-8") as file:
            counts = json.load(file)
    except (OSError, ValueError):  # Lost counts begin anew: the human is told later, never sooner.
        return {}
    return {k: v for k, v in counts.items() if isinstance(v, int)} if isinstance(counts, dict) else {}


def _path(seat: Seat) -> str:
    return os.path.join(seat.spool, "blocks.json")
