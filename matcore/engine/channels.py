"""The ways to a person: a command with the message on its stdin, any Apprise URL. A driver may bring its own.

A channel answers; it never raises for what the way to the person does. The message is never in argv, where every user
of the host could read it. A URL may hold a token, so a channel's name has the URL's scheme only.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from matcore.engine import command

COMMAND_TIMEOUT_S = 10.0
SAID_CHARACTERS = 300
HOW_TO_INSTALL = "Apprise is missing; install it, in the folder of mat: .venv/bin/pip install 'apprise>=1.8'"


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether the channel took the message, and what came back, for people."""

    ok: bool
    said: str


class Channel(Protocol):
    """`reaches_person`: whether a person sees what it took, sooner or later, without looking for it."""

    @property
    def name(self) -> str: ...

    @property
    def reaches_person(self) -> bool: ...

    def send(self, title: str, body: str) -> Answer:
        """Hand the message over. May block; is called by one thread at a time."""


class CommandChannel:
    """A program. Exit code 0 is: taken."""

    reaches_person = True

    def __init__(self, argv: Sequence[str], timeout_s: float = COMMAND_TIMEOUT_S, *, cwd: Path | None = None) -> None:
        self._argv = tuple(argv)
        self._cwd = cwd
        self._timeout_s = timeout_s
        self.name = f"command {Path(self._argv[0]).name}"

    def send(self, title: str, body: str) -> Answer:
        try:
            ended = command.run(self._argv, f"{title}\n\n{body}\n".encode(), self._timeout_s, self._cwd)
        except (OSError, ValueError) as error:
            return Answer(False, f"can't be started: {getattr(error, 'strerror', None) or error}")
        said = _shown(ended.said)
        if ended.code is None:
            return Answer(False, f"no answer within {self._timeout_s:g} s{f'; it said: {said}' if said else ''}")
        if ended.code != 0:
            return Answer(False, f"exit code {ended.code}{f': {said}' if said else ''}")
        return Answer(True, said)


class AppriseChannel:
    """Any service that Apprise knows. Apprise is an extra, and slow to import: the first message does that."""

    reaches_person = True

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = urlsplit(url).scheme or "apprise"

    def send(self, title: str, body: str) -> Answer:
        try:
            import apprise
        except ImportError:
            return Answer(False, HOW_TO_INSTALL)
        service = apprise.Apprise(asset=apprise.AppriseAsset(app_id="mat", secure_logging=True, async_mode=False))
        capture = apprise.LogCapture(level=logging.WARNING, fmt="%(message)s")  # type: ignore[no-untyped-call]
        with capture as log:
            if not service.add(self._url):
                return Answer(False, "is no address that Apprise knows; see its list of services")
            took = service.notify(title=title, body=body)
            said = _shown(log.getvalue().replace(self._url, f"{self.name}://…"))
        return Answer(bool(took), said or ("" if took else "it was refused, without a reason"))


def channels(entries: Sequence[object], cwd: Path | None = None) -> list[Channel]:
    """The channels of the configuration's `notify`: URLs, and `{command: [argv]}` as types or as plain data.

    `cwd` is where commands run: the session's directory, so that they do what they did in `mat notify --test`.
    """
    found: list[Channel] = []
    for entry in entries:
        argv = entry.get("command") if isinstance(entry, Mapping) else getattr(entry, "command", None)
        found.append(CommandChannel([str(word) for word in argv], cwd=cwd) if argv else AppriseChannel(str(entry)))
    return found


def _shown(said: str) -> str:
    """One line, without control characters, the end of it where it is long."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in said).split())
    return plain if len(plain) <= SAID_CHARACTERS else f"…{plain[-SAID_CHARACTERS:]}"
