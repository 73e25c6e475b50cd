"""One role in the worker: takes a message, runs its turn, writes down what became of it. One turn at a time.

Before the state file says `busy` nothing has been started; before it says `idle` again the message is not `done`. So a
worker that dies at any point leaves either a message that nobody has begun, or a claim whose turn may have run: the
next worker ends what is left of that turn, runs it again and tells the agent that it may be a repeat.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
import uuid
from pathlib import Path

import msgspec
import psutil

from baton import record, runtimes
from baton.mailbox import Claim, Mailbox
from baton.record import BUSY, IDLE, Job, Last, Order, Served, State
from baton.runtimes import CONTEXT_FULL, CRASH, OTHER, Headless, Reading
from baton.turn import Ran, Turn
from matcore import spoolfile
from matcore.engine.driver import new_session
from matcore.errors import MatError
from matcore.places import SessionPlaces
from matcore.said import human_relay
from matcore.words import messages

log = logging.getLogger("mat.worker")
SWEEP_S = 2.0
LOGS_KEPT = 200


class Seat(threading.Thread):
    """`wake` it when something may have come; `close` ends its turn and then the thread."""

    def __init__(self, places: SessionPlaces, job: Job, role: str) -> None:
        super().__init__(name=f"role {role}", daemon=True)
        self.places, self.job, self.role = places, job, role
        self.served: Served = job.roles[role]
        self.mailbox = Mailbox(places, role)
        self.runtime: Headless = runtimes.load(self.served.backend, Path(job.workdir))
        self.state: State = record.read_state(places, role)
        self._news = threading.Event()
        self._closing = False
        self._turn: Turn | None = None
        self._lock = threading.Lock()

    def wake(self) -> None:
        self._news.set()
        if record.order_path(self.places, self.role).exists():
            self._interrupt()

    def close(self) -> None:
        self._closing = True
        self._interrupt()
        self._news.set()

    def run(self) -> None:
        self._bury()
        for left in list(self.mailbox.abandoned()):
            self._serve(left)
        while not self._closing:
            self._news.clear()
            self._follow_order()
            claim = self.mailbox.claim()
            if claim is None:
                self._news.wait(SWEEP_S)
            else:
                self._serve(claim)

    # one message

    def _serve(self, claim: Claim) -> None:
        if self._closing:
            return
        if claim.envelope.is_ours:
            self._run_turn(claim)
        else:
            self._pass_on(claim)
        self.mailbox.finish(claim.name)
        self.mailbox.tidy()

    def _pass_on(self, claim: Claim) -> None:
        """A message that somebody put here by hand is the human's word, whatever it says of itself."""
        try:
            human_relay(str(self.places.root), self.job.state_spool, self.job.session, self.role, claim.envelope.body)
        except (MatError, OSError):
            log.exception("%s: a message by hand could not be passed on", self.role)

    def _run_turn(self, claim: Claim) -> None:
        number = self.state.turn + 1
        started_s = record.boot_s()
        path = record.turns_path(self.places) / f"{self.role}-{number:06d}.log"
        if self.state.agent_session is None:
            self.state.agent_session = self.served.agent_session or new_session()
        self._note(
            status=BUSY, turn=number, message=claim.envelope.message_id, delivery=claim.envelope.delivery,
            started_s=started_s, pgid=None, born_s=None,
        )  # fmt: skip
        self._tell("turn-started")
        try:
            ran = self._ran(claim, path)
            reading = runtimes.read(self.runtime, ran.stdout, ran.stderr, ran.exit_code)
        except (OSError, MatError) as error:
            ran = Ran(None, "", str(error), record.boot_s() - started_s, "not started")
            reading = Reading(failed=True, error=str(error), error_class=OTHER)
        self._ended(claim, number, started_s, ran, reading, path)

    def _ran(self, claim: Claim, path: Path) -> Ran:
        line = runtimes.argv(
            self.runtime, session_id=self.state.agent_session, opened=self.state.opened,
            prompt_file=Path(self.served.prompt_file), mat_dir=self.places.root, args=self.served.args,
            path=self.job.path,
        )  # fmt: skip
        env = {
            **os.environ, **self.runtime.env, "PATH": self.job.path, "MAT_SESSION": self.job.session,
            "MAT_ROLE": self.role, "MAT_DIR": str(self.places.root),
        }  # fmt: skip
        turn = Turn(
            line, self._text(claim), cwd=Path(self.served.dir), env=env, log=path, cap_bytes=self.job.output_bytes
        )
        with self._lock:
            self._turn = turn
        self._note(pgid=turn.pid, born_s=_born_s(turn.pid))
        self._point_to(path)
        if self._closing:
            turn.stop()
        try:
            return turn.wait(self.job.turn_timeout_s)
        finally:
            with self._lock:
                self._turn = None

    def _text(self, claim: Claim) -> str:
        parts = [claim.envelope.body]
        if claim.again:
            parts.insert(0, messages.repeat())
        if not self.state.opened and not self.runtime.takes_prompt:
            parts.insert(0, messages.first_pointer(prompt_path=self.served.prompt_file))
        return "\n\n".join(parts)

    def _ended(self, claim: Claim, number: int, started_s: float, ran: Ran, reading: Reading, path: Path) -> None:
        if ran.why is not None:
            reading.error, reading.error_class = reading.error or ran.why, reading.error_class or CRASH
        exhausted = reading.error_class == CONTEXT_FULL
        last = Last(
            turn=number, message=claim.envelope.message_id, outcome="error" if reading.failed else "ok",
            started_s=started_s, ended_s=record.boot_s(), duration_s=ran.duration_s, exit_code=ran.exit_code,
            error=reading.error, error_class=reading.error_class, until_s=reading.until_s, tokens=reading.tokens,
            cost=reading.cost, agent_session=self.state.agent_session, again=claim.again, truncated=ran.truncated,
            log=path.name,
        )  # fmt: skip
        if reading.session_id is not None:
            self.state.agent_session = reading.session_id
        opened = self.state.opened or not reading.failed or reading.session_id is not None
        if exhausted:
            self.state.agent_session, opened = None, False
        record.write(path.with_suffix(".json"), last)
        self._note(
            status=IDLE, pgid=None, born_s=None, last=last, opened=opened,
            exhausted=self.state.exhausted + int(exhausted),
        )  # fmt: skip
        self._tell("turn-ended")
        self._tidy_logs()

    # orders, endings

    def _follow_order(self) -> None:
        """The driver has asked for a restart: go on in the agent session that it names, or in a new one."""
        path = record.order_path(self.places, self.role)
        with contextlib.suppress(OSError, ValueError):
            order = msgspec.json.decode(path.read_bytes(), type=Order)
            self.served.agent_session = order.resume
            self._note(agent_session=order.resume, opened=order.resume is not None)
            record.forget(path)

    def _interrupt(self) -> None:
        with self._lock:
            if self._turn is not None:
                self._turn.stop()

    def _bury(self) -> None:
        """End what a worker before this one has left running: no second agent on a live agent session."""
        pgid, born_s = self.state.pgid, self.state.born_s
        if self.state.status == BUSY and pgid is not None and born_s == _born_s(pgid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pgid, signal.SIGKILL)
        if self.state.status == BUSY:
            self._note(status=IDLE, pgid=None, born_s=None)

    # writing down

    def _note(self, **changes: object) -> None:
        for key, value in changes.items():
            setattr(self.state, key, value)
        for wait_s in (0.0, 0.5, 2.0):
            time.sleep(wait_s)
            try:
                record.write(record.state_path(self.places, self.role), self.state)
            except OSError:
                log.exception("%s: the state could not be written", self.role)
            else:
                return

    def _tell(self, event: str) -> None:
        """Have the supervisor look now; should this get lost, it looks once a second anyway."""
        with contextlib.suppress(OSError):
            spoolfile.write(
                self.job.state_spool,
                {"session": self.job.session, "request": "hook", "role": self.role, "backend": "baton",
                 "event": event, "boot_s": record.boot_s(), "data": {}},
            )  # fmt: skip

    def _point_to(self, path: Path) -> None:
        """`turns/<role>.log` is always the newest turn's, for whoever follows it."""
        link = record.turns_path(self.places) / f"{self.role}.log"
        staged = link.with_name(f".{uuid.uuid4().hex}")
        with contextlib.suppress(OSError):
            staged.symlink_to(path.name)
            staged.rename(link)

    def _tidy_logs(self) -> None:
        logs = sorted(record.turns_path(self.places).glob(f"{self.role}-*.log"))
        for path in logs[:-LOGS_KEPT]:
            record.forget(path)
            record.forget(path.with_suffix(".json"))


def _born_s(pid: int) -> float | None:
    """When a process was born: with its number, what tells it from a later one of the same number."""
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None
