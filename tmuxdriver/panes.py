"""What tmux says of panes: one list and one batch of captures, however many panes and sessions there are.

Rows are told apart from whatever else may be printed by their first word; the free text (title) comes last, for it
may hold the separator. A pane's identity is server and process together: numbers like `%3` begin anew on each server.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tmuxdriver.cells import Capture
from tmuxdriver.server import CommandFailed, Tmux, Unreachable

_ROW = (
    "pid", "start_time", "pane_id", "pane_pid", "pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized",
    "window_activity", "history_size", "cursor_x", "cursor_y", "cursor_flag", "session_id", "pane_dead_status",
)  # fmt: skip
_MORE = (
    "session_activity", "alternate_on", "pane_width", "pane_height", "host", "@mat_session", "@mat_role", "@mat_dir",
    "@mat_agent_session", "@mat_started_s", "@mat_needs_prompt", "pane_dead_signal",
)  # fmt: skip
_TEXTS = ("pane_current_command", "pane_title")


def _format(first: str, names: tuple[str, ...]) -> str:
    return "|".join([first, *(f"#{{{name}}}" for name in names), "#{s/[|]/_/:pane_current_command}", "#{pane_title}"])


ROW_FORMAT = _format("mat-row", _ROW)
"""What each tick asks of each pane: every variable costs tmux time."""
PANE_FORMAT = _format("mat-pane", _ROW + _MORE)
"""All that is known of a pane."""
_FORMS = {"mat-row": (*_ROW, *_TEXTS), "mat-pane": (*_ROW, *_MORE, *_TEXTS)}
_CLIENT_FORMAT = "mat-client|#{session_id}|#{client_activity}|#{client_name}"
_END = "mat-end"
_MOST_BYTES = 15_000
"""Of one invocation's commands; tmux takes a command line of 16 KiB at most and refuses a longer one whole."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which process in which pane of which server."""

    server_pid: str
    server_start: str
    pane_id: str
    pane_pid: str


@dataclass(frozen=True, slots=True)
class Pane:
    """One row of `list-panes`. `values` has tmux's names."""

    identity: Identity
    values: Mapping[str, str]

    @property
    def dead(self) -> bool:
        return self.values["pane_dead"] == "1"

    @property
    def in_mode(self) -> bool:
        """Copy mode or another one; tmux counts how many are nested."""
        return self.values["pane_in_mode"] not in ("", "0")

    @property
    def input_off(self) -> bool:
        return self.values["pane_input_off"] == "1"

    @property
    def synchronized(self) -> bool:
        return self.values["pane_synchronized"] == "1"

    @property
    def session_id(self) -> str:
        return self.values["session_id"]

    @property
    def changes(self) -> tuple[str, ...]:
        """Whatever differs when the pane has been written to."""
        names = ("window_activity", "history_size", "cursor_x", "cursor_y", "cursor_flag", "pane_title")
        return tuple(self.values[name] for name in names)

    @property
    def command(self) -> str:
        return self.values["pane_current_command"]


@dataclass(frozen=True, slots=True)
class Client:
    """Somebody who is attached. `activity` is tmux's wall clock in seconds."""

    session_id: str
    activity: str
    name: str


@dataclass(frozen=True, slots=True)
class Listing:
    """All panes by their ids, and who looks at them."""

    panes: Mapping[str, Pane]
    clients: tuple[Client, ...]


def look(tmux: Tmux, form: str = ROW_FORMAT) -> Listing:
    """One question for everything. Raises what `Tmux.run` raises; an answer without its end is `Unreachable`."""
    out = tmux.run(
        ["list-panes", "-a", "-F", form],
        ["list-clients", "-F", _CLIENT_FORMAT],
        ["display-message", "-p", _END],
    )
    lines = out.split("\n")
    if _END not in lines[-2:]:
        raise Unreachable("tmux gave half an answer")
    panes = (pane for line in lines if (pane := parse_pane(line)) is not None)
    clients = (line.split("|", 3) for line in lines if line.startswith("mat-client|"))
    return Listing({pane.identity.pane_id: pane for pane in panes}, tuple(Client(*parts[1:]) for parts in clients))


def parse_pane(line: str) -> Pane | None:
    """One row of `ROW_FORMAT` or `PANE_FORMAT`, None for anything else."""
    names = _FORMS.get(line.partition("|")[0])
    if names is None:
        return None
    parts = line.split("|", len(names))[1:]
    if len(parts) != len(names) or not parts[2].startswith("%"):
        return None
    values = dict(zip(names, parts, strict=True))
    return Pane(Identity(values["pid"], values["start_time"], values["pane_id"], values["pane_pid"]), values)


def capture(tmux: Tmux, pane_ids: Iterable[str]) -> dict[str, tuple[Pane, Capture]]:
    """Screens with styles, each with tmux's variables of the same moment. Panes that are not there are left out.

    Raises `NoServer` and `Unreachable`.
    """
    found: dict[str, tuple[Pane, Capture]] = {}
    nonce = f"mat-{secrets.token_hex(8)}:"  # so that no screen can print the end of another
    for batch in _batches(dict.fromkeys(pane_ids), nonce):
        while batch:
            seen, failed = _capture_batch(tmux, batch, nonce)
            found |= seen
            batch = batch[len(seen) + 1 :] if failed else []
    return found


_Batch = list[tuple[list[str], list[str]]]
"""For each pane the command that captures it and the one that says its variables."""


def _batches(pane_ids: Iterable[str], nonce: str) -> Iterator[_Batch]:
    batch: _Batch = []
    size = 0
    for pane_id in pane_ids:
        pair = (
            ["capture-pane", "-p", "-e", "-t", pane_id],
            ["display-message", "-p", "-t", pane_id, nonce + PANE_FORMAT],
        )
        length = sum(len(word) + 1 for command in pair for word in (*command, ";"))
        if batch and size + length > _MOST_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(pair)
        size += length
    if batch:
        yield batch


def _capture_batch(tmux: Tmux, batch: _Batch, nonce: str) -> tuple[dict[str, tuple[Pane, Capture]], bool]:
    commands = [command for pair in batch for command in pair]
    try:
        out, failed = tmux.run(*commands), False
    except CommandFailed as err:
        out, failed = err.output, True
    found: dict[str, tuple[Pane, Capture]] = {}
    text: list[str] = []
    for line in out.split("\n"):
        if not line.startswith(nonce):
            text.append(line)
            continue
        pane = parse_pane(line.removeprefix(nonce))
        if pane is not None:
            found[pane.identity.pane_id] = (pane, Capture("\n".join(text), pane.values))
        text = []
    return found, failed
