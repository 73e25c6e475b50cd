"""What a seat writes down as it goes: the role's state, each turn's record and log, and a word to the supervisor."""

from __future__ import annotations

import contextlib
import logging
import time
import uuid
from pathlib import Path

from baton import record
from baton.record import Job, Last, State
from matcore import spoolfile
from matcore.engine.clock import boot_s
from matcore.places import SessionPlaces

log = logging.getLogger("mat.worker")
LOGS_KEPT, TIDY_EVERY = 200, 10
_TRIES_S = (0.0, 0.5, 2.0)


class Notes:
    """One role's. `state` is what stands in its state file, as far as that could be written."""

    def __init__(self, places: SessionPlaces, job: Job, role: str) -> None:
        self.places, self.role = places, role
        self.state: State = record.read_state(places, role)
        self._job = job
        # A lost state file does not number two turns alike.
        self.state.turn = max([self.state.turn, *(_number(path) for path in self._logs())])

    def note(self, *, durable: bool = True, **changes: object) -> bool:
        """Change the state. A disk in trouble is tried again; False: it could not be written."""
        for key, value in changes.items():
            setattr(self.state, key, value)
        for wait_s in _TRIES_S:
            time.sleep(wait_s)
            try:
                record.write(record.state_path(self.places, self.role), self.state, durable=durable)
            except OSError:
                log.exception("%s: the state could not be written", self.role)
            else:
                return True
        return False

    def set_aside(self, name: str, reason: str) -> None:
        """Have the supervisor put on record what was taken out of the mailbox."""
        self.tell(record.SET_ASIDE, name=name, reason=reason)

    def tell(self, event: str, **data: str) -> None:
        """Have the supervisor look now; should this get lost, it looks once a second anyway."""
        with contextlib.suppress(OSError):
            spoolfile.write(
                self._job.state_spool,
                {"session": self._job.session, "request": "hook", "role": self.role, "backend": "baton",
                 "event": event, "boot_s": boot_s(), "data": data},
            )  # fmt: skip

    def point_to(self, path: Path) -> None:
        """`turns/<role>.log` is always the newest turn's, for whoever follows it."""
        link = record.turns_path(self.places) / f"{self.role}.log"
        staged = link.with_name(f".{uuid.uuid4().hex}")
        with contextlib.suppress(OSError):
            staged.symlink_to(path.name)
            staged.rename(link)

    def keep(self, path: Path, last: Last) -> None:
        """The record of a turn, beside its log; the oldest go, with the text that was handed over in a file."""
        with contextlib.suppress(OSError):
            record.write(path.with_suffix(".json"), last, durable=False)
        if last.turn % TIDY_EVERY:
            return
        for old in self._logs()[:-LOGS_KEPT]:
            with contextlib.suppress(OSError):
                for kind in (".txt", ".json", ".log"):  # the log last: by it they are found again
                    record.forget(old.with_suffix(kind))

    def _logs(self) -> list[Path]:
        return sorted(record.turns_path(self.places).glob(f"{self.role}-" + "[0-9]" * 6 + ".log"))


def _number(log_path: Path) -> int:
    return int(log_path.stem[-6:])
