"""The protocol between the engine and a driver: agents become sightings, texts become outcomes.

A driver turns what it sees of agents into `Sighting`s and texts into keystrokes or turns. It decides nothing about
wakes, debts, gates or the ladder. One driver object serves all sessions of a host that have the same options, so that
one tick costs the same however many sessions there are. Found through the entry-point group `mat.drivers`:
`factory(options: Mapping[str, object]) -> Driver`.

All times are seconds of CLOCK_BOOTTIME (`boot_s`); the loop turns them into the time of a session's journal.
"""

from __future__ import annotations

import enum
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

DIALOG_ASKED_S = 30.0
"""How long a permission dialog has to stand on a screen before a driver puts it as a question."""


class Verdict(enum.StrEnum):
    """What became of a text. Never a boolean: `unconfirmed` is neither, and is never typed again."""

    SUBMITTED = "submitted"
    UNCONFIRMED = "unconfirmed"
    REFUSED = "refused"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict of one delivery with its evidence.

    `gate` names what held it back (`refused` only), without the role: `copy-mode`, `human-typing`. `entered_s` is
    the boot time of the first Enter, where one was sent: a turn that began after it has seen the text.
    """

    verdict: Verdict
    evidence: str
    gate: str | None = None
    entered_s: float | None = None


AGENT_NAMED, SET_ASIDE = "agent.named", "file.set_aside"


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something that a driver saw, as a fact without its time.

    `name` and `fields` are those of a fact of `matcore.rules.records` (`role.busy`, `role.idle`, `role.gone`,
    `role.unknown`, `turn.ended`, `gate.raised`, `gate.cleared`, `human.acted`, `question.asked`,
    `question.answered`, `context.exhausted`), `fields` without `session`. `started` in `turn.ended` and `until` in
    `gate.raised` are boot times. `resumable` in `role.gone`: `restart` can take up its agent session from here, without
    the environment of `mat up`. Two names are no fact's: `AGENT_NAMED {role, agent_session}`, the agent session that a
    seat turned out to be on, which is what `restart` is given later, and `SET_ASIDE {role, name, reason}`, a file among
    the role's that a driver could make nothing of. `evidence` says what it was seen by (`hook`,
    `title`, `screen`, `process`).
    """

    session: str
    name: str
    fields: Mapping[str, object]
    evidence: str


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """One agent seat as configured. `dir` is absolute; `env` names variables, never their values."""

    name: str
    backend: str
    dir: Path
    prompt_file: Path
    permissions: str = "default"
    args: tuple[str, ...] = ()
    env: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """What a driver must know of a session. `path` is PATH as it was at `mat up`, for restarts by the supervisor."""

    session: str
    workdir: Path
    roles: tuple[RoleSpec, ...]
    path: str
    size: tuple[int, int] = (160, 48)
    options: Mapping[str, object] = field(default_factory=dict)


def new_session() -> str:
    """The id of an agent session that is opened now. Made here alone, for all drivers; nobody builds one."""
    return str(uuid.uuid4())


@runtime_checkable
class Checks(Protocol):
    """What a driver may have, too: `mat up --dry-run` asks it."""

    def check(self, spec: SessionSpec) -> None:
        """Raises `BadConfig` with all that `launch` would refuse for it. Starts nothing and writes nothing."""


class Driver(Protocol):
    """All calls may block, but never beyond a bounded time. `deliver` is called by one thread for each role."""

    def launch(self, spec: SessionSpec, *, resume: Mapping[str, str]) -> Mapping[str, Mapping[str, object]]:
        """Start what is missing of a session, in the user's environment; nothing starts twice.

        `resume` maps a role to the agent session id to be taken up. Returns for each role the identity of what
        runs there now (JSON data, journalled, handed back to `adopt`), with `started: bool`,
        `agent_session: str | None`, and `needs_prompt: True` where the program was not handed its role's prompt: the
        first text points to it, and `opens_late: True` where its agent session comes to be only with a turn that ends
        well. Raises `Unavailable`.
        """

    def adopt(
        self,
        spec: SessionSpec,
        seats: Mapping[str, Mapping[str, object]],
        typed: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Watch a session from now on. `seats` is what `launch` or `restart` returned, with `left`: the last text that
        was typed there, where nobody knows whether it was submitted.

        `typed` are the last texts that were handed to each role's seat, perhaps by a supervisor before this one: what
        an agent reports of them is not a human's act.
        """

    def forget(self, session: str) -> None:
        """Watch it no longer. Ends nothing."""

    def observe(self) -> Sequence[Sighting]:
        """One tick for all adopted sessions: what has changed since the last one."""

    def heard(self, session: str, role: str, hook: Mapping[str, object]) -> Sequence[Sighting]:
        """What a record of `mat hook` means. `hook`: `backend`, `event`, `boot_s`, `data`."""

    def deliver(self, session: str, role: str, text: str, mark: str) -> Outcome:
        """Submit `text` (under 1 KiB) once into an idle agent. `mark` is a part of the text that names it."""

    def restart(self, session: str, role: str, *, resume: str | None) -> Mapping[str, object]:
        """End what runs in the seat and start its agent anew. Returns the seat as `launch` does."""

    def stop(self, session: str) -> None:
        """End the session's agents and all that was started for them."""

    def last_words(self, session: str, role: str) -> str:
        """The last screen or log of a seat, for people only."""

    def attach(self, session: str, role: str | None) -> Sequence[str]:
        """The argv that shows the session to a person. Raises `Unavailable`."""
