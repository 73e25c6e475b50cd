"""What the worker writes down for whoever looks: each role's state and each turn's record, both small JSON files.

The state file says what the role does now and how its last turn ended; together with the worker's lock it tells idle,
busy and crashed apart by what is there, not by how old it is.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from matcore.engine import wholefile
from matcore.places import SessionPlaces

IDLE, BUSY = "idle", "busy"
TURN_ENDED, SET_ASIDE = "turn-ended", "set-aside"
"""What a worker says to the supervisor."""
TURN_TIMEOUT_S = 3600.0
OUTPUT_BYTES = 8 * 1024 * 1024


class Last(msgspec.Struct):
    """How a turn ended. Times are CLOCK_BOOTTIME, `until_s` is Unix time. `outcome`: `ok` or `error`."""

    turn: int
    message: str
    outcome: str
    started_s: float
    ended_s: float
    duration_s: float
    exit_code: int | None = None
    error: str | None = None
    error_class: str | None = None
    until_s: float | None = None
    tokens: int | None = None
    cost: float | None = None
    agent_session: str | None = None
    again: bool = False
    truncated: bool = False
    log: str = ""


class State(msgspec.Struct):
    """`turn` counts the turns of the role. `pgid` and `born_s` name the process group of a turn that runs.

    `seat` is the agent session as the engine knows it, `agent_session` the program's own id of the one that is open
    now: other programs make ids of their own, and a session that is full is followed by another. `opened`: it has had
    a turn, so the next one resumes it. `name` is the highest name of a file of mat's that a turn was begun for.
    """

    status: str = IDLE
    turn: int = 0
    message: str = ""
    delivery: str | None = None
    name: str = ""
    started_s: float | None = None
    pgid: int | None = None
    born_s: float | None = None
    seat: str | None = None
    agent_session: str | None = None
    opened: bool = False
    exhausted: int = 0
    last: Last | None = None


class Job(msgspec.Struct):
    """What the worker serves. No value of the environment stands here: the worker was started in the user's."""

    session: str
    workdir: str
    path: str
    state_spool: str
    roles: dict[str, Served]
    turn_timeout_s: float = TURN_TIMEOUT_S
    output_bytes: int = OUTPUT_BYTES


class Served(msgspec.Struct):
    """One role of a job. `seat`: its agent session; `resumed`: one that was open before."""

    backend: str
    dir: str
    prompt_file: str
    args: list[str] = []
    permissions: str = "default"
    seat: str | None = None
    resumed: bool = False


class Order(msgspec.Struct):
    """What the driver wants of a role at once: end its turn, and go on in that agent session or open a new one."""

    id: str
    seat: str
    resumed: bool


def job_path(places: SessionPlaces) -> Path:
    return places.root / "worker.json"


def lock_path(places: SessionPlaces) -> Path:
    return places.root / "serve.lock"


def log_path(places: SessionPlaces) -> Path:
    return places.root / "worker.log"


def last_lines(log: Path, lines: int = 3, longest: int = 4096) -> str:
    """The last few lines of a log that say something; empty where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(-min(file.tell(), longest), os.SEEK_END)
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join([line.strip() for line in text.splitlines() if line.strip()][-lines:])


def turns_path(places: SessionPlaces) -> Path:
    return places.root / "turns"


def turn_path(places: SessionPlaces, role: str, turn: int) -> Path:
    """The log of one turn; its record stands beside it with the ending `.json`."""
    return turns_path(places) / f"{role}-{turn:06d}.log"


def state_path(places: SessionPlaces, role: str) -> Path:
    return places.root / "mailbox" / role / "state.json"


def order_path(places: SessionPlaces, role: str) -> Path:
    return places.root / "mailbox" / role / "order.json"


def read_state(places: SessionPlaces, role: str) -> State:
    """A role's state; a fresh one where there is none that can be read."""
    try:
        return msgspec.json.decode(state_path(places, role).read_bytes(), type=State)
    except (OSError, msgspec.MsgspecError):
        return State()


def write(path: Path, data: msgspec.Struct, *, durable: bool = True) -> None:
    """Whole or not at all, 0600. `durable`: also after a power cut. Raises `OSError`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    wholefile.write(path, msgspec.json.encode(data), durable=durable)


def forget(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
