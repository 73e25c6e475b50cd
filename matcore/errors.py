"""The few classes of error, each with its exit code.

A fault of an agent, a pane, a channel or a disk is an expected fact with a name and never one of these.
"""

from __future__ import annotations

from collections.abc import Iterable


class MatError(Exception):
    """Anything that ends a command with a sentence and an exit code instead of a traceback."""

    exit_code = 1


class Refused(MatError):
    """Refused; nothing was changed. The sentence says what to do next."""

    exit_code = 1


class BadConfig(MatError):
    """Usage or configuration is wrong. Carries every fault that was found, each with a line or a path."""

    exit_code = 2

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class Unavailable(MatError):
    """Something that is needed is not there: no supervisor, no tmux."""

    exit_code = 3


class OurMistake(MatError):
    """A broken promise inside mat itself. Stops loudly and says how to report it."""

    exit_code = 70

    def __str__(self) -> str:
        return f"{super().__str__()}\nThis is a mistake in mat itself. Please report it together with this text."
