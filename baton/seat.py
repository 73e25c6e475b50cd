"""One role in the worker: takes a message, runs its turn, writes down what became of it. One turn at a time.

Before the state file says `busy` nothing has been started; before it says `idle` again the message is not `done`. So a
worker that dies at any point (`baton.steps`) leaves either a message that nobody has begun, or a claim whose turn may
have run: the next worker ends what is left of that turn, runs it again and tells the agent that it may be a repeat.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec

from baton import left, output, record, runtimes, steps
from baton.mailbox import Claim, Mailbox
from baton.notes import Notes
from baton.output import Reading
from baton.record import BUSY, IDLE, Job, Last, Order, Served, State
from baton.runtimes import CONTEXT_FULL, CRASH, OTHER, SESSION_LOST, TIMEOUT, Headless
from baton.steps import Step
from baton.turn import Ran, Turn
from baton.words import Faults, Words
from matcore.engine import byhand
from matcore.engine.clock import boot_s
from matcore.engine.driver import new_session
from matcore.errors import MatError
from matcore.places import SessionPlaces
from matcore.words import messages

log = logging.getLogger("mat.worker")
SWEEP_S = 2.0
TIDY_S = 600.0
_MAILBOX = "the mailbox"
_NOT_MOVED = "a message that is over can't be moved to done"


class Seat(threading.Thread):
    """`wake` it when something may have come; `close` ends its turn and then the thread.

    `on_fault` is called when the thread ends by a mistake of ours: a worker that serves only some of its roles would
    look alive.
    """

    def __init__(self, places: SessionPlaces, job: Job, role: str, on_fault: Callable[[], None]) -> None:
        super().__init__(name=f"role {role}", daemon=True)
        self.places, self.job, self.role = places, job, role
        self.served: Served = job.roles[role]
        self.runtime: Headless = runtimes.load(self.served.backend, Path(job.workdir))
        self.notes = Notes(places, job, role)
        self.mailbox = Mailbox(places, role, self.notes.set_aside)
        self._on_fault = on_fault
        self._news = threading.Event()
        self._closing = False
        self._turn: Turn | None = None
        self._lock = threading.Lock()
        self._tidy_from_s = 0.0
        self._faults = Faults(role)
        self._words = Words(self.mailbox, self._say, self._finish, self._faults)
        self._has_taken_over = False

    @property
    def state(self) -> State:
        return self.notes.state

    def wake(self) -> None:
        self._news.set()
        if record.order_path(self.places, self.role).exists():
            self._interrupt()

    def close(self) -> None:
        """End the turn that runs. Its message stays claimed: it was not dealt with."""
        self._closing = True
        self._interrupt()
        self._news.set()

    def run(self) -> None:
        try:
            while not self._closing:
                self._news.clear()
                if not self._works():
                    self._news.wait(SWEEP_S)
        except Exception:
            log.exception("%s: our mistake; the worker ends", self.role)
            self._on_fault()

    def _works(self) -> bool:
        """One step. False: there is nothing to do now, or nothing that the disk lets us do."""
        try:
            if not self._has_taken_over:
                self._take_over()
                self._has_taken_over = True
            self._follow_order()
            self._words.pass_on(SWEEP_S)
            claim = self.mailbox.claim()
            if claim is not None:
                steps.reached(Step.CLAIMED)
                self._serve(claim)
            self._tidy()
        except OSError as error:
            self._faults.say(_MAILBOX, error)
            return False
        self._faults.is_over(_MAILBOX)
        return claim is not None

    def _tidy(self) -> None:
        if time.monotonic() >= self._tidy_from_s:
            self._tidy_from_s = time.monotonic() + TIDY_S
            self.mailbox.tidy()

    # after another worker

    def _take_over(self) -> None:
        """End what a worker before this one has left running, and deal with what it had claimed."""
        cut = self.state.status == BUSY
        if cut:
            left.end_group(self.state.pgid, self.state.born_s)
            left.end_marked(self.places, self.role, self.state.turn)
            self.notes.note(pgid=None, born_s=None)
            if not self.state.opened:
                self.notes.note(agent_session=None)  # it may be taken: no program opens one id twice
        if self.state.seat is None:
            self.notes.note(seat=self.served.seat, agent_session=self.served.seat, opened=self.served.resumed)
        for claim in self.mailbox.abandoned():
            was_begun = claim.ours and claim.envelope.delivery == self.state.delivery
            if was_begun and not cut:
                self._move_to_done(claim)  # its turn is over; only this was still to be done
            else:
                self._serve(replace(claim, again=not self._is_new(claim)))
        if self.state.status == BUSY and not self._closing:
            self.notes.note(status=IDLE)

    def _is_new(self, claim: Claim) -> bool:
        """Whether it is known that nobody has begun with it: mat's own are begun in the order of their names."""
        state = self.state
        return claim.ours and (state.turn == 0 or (bool(state.name) and claim.name > state.name))

    # one message

    def _serve(self, claim: Claim) -> None:
        if self._closing:
            return
        if not claim.ours:
            self._words.add(claim)
            self._words.pass_on(SWEEP_S)
        elif self._run_turns(claim):
            self._finish(claim)

    def _finish(self, claim: Claim) -> None:
        steps.reached(Step.NOTED)
        self._move_to_done(claim)
        steps.reached(Step.DONE)

    def _move_to_done(self, claim: Claim) -> None:
        try:
            self.mailbox.finish(claim)
        except OSError as error:
            self._faults.say(_NOT_MOVED, error)
        else:
            self._faults.is_over(_NOT_MOVED)

    def _say(self, claim: Claim) -> None:
        spool = Path(self.job.state_spool)
        byhand.relay(self.places, spool, self.role, claim.envelope.body, again=not claim.again)

    def _run_turns(self, claim: Claim) -> bool:
        """One turn, and a second one where the first found its agent session gone: to all others these are one, busy
        from its beginning to its end. False: it was cut off by us."""
        last = self._run_turn(claim, boot_s())
        if last is not None and last.error_class == SESSION_LOST and not self._closing:
            last = self._run_turn(claim, last.started_s, is_second=True)
        return last is not None and (not self._closing or last.outcome == "ok")

    def _run_turn(self, claim: Claim, started_s: float, *, is_second: bool = False) -> Last | None:
        """None: the worker ends, and nothing was started."""
        number = self.state.turn + 1
        path = record.turn_path(self.places, self.role, number)
        if self.state.agent_session is None:
            self.notes.note(durable=False, agent_session=new_session(), opened=False)
        busy = self._note_at_last(
            status=BUSY, turn=number, message=claim.envelope.message_id, delivery=claim.envelope.delivery,
            name=max(self.state.name, claim.name), started_s=started_s, pgid=None, born_s=None,
        )  # fmt: skip
        if not busy:
            return None
        steps.reached(Step.BUSY)
        try:
            ran = self._ran(claim, number, path)
            reading = output.read(self.runtime, ran.stdout, ran.stderr, ran.exit_code)
        except (OSError, MatError) as error:
            ran = Ran(None, "", str(error), boot_s() - started_s, "not started")
            reading = Reading(failed=True, error=str(error), error_class=OTHER)
        steps.reached(Step.ENDED)
        last = self._ended(claim, number, started_s, ran, reading, path)
        session, opened = self._session_after(reading)
        if self._closing and reading.failed:
            return last  # still busy, as far as the next worker is concerned: it will say that this is a repeat
        if reading.error_class == SESSION_LOST and not is_second:
            self.notes.note(pgid=None, born_s=None, agent_session=session, opened=opened)
            return last
        self._note_at_last(
            status=IDLE, pgid=None, born_s=None, last=last, agent_session=session, opened=opened,
            exhausted=self.state.exhausted + int(reading.error_class == CONTEXT_FULL),
        )  # fmt: skip
        self.notes.tell(record.TURN_ENDED)
        return last

    def _note_at_last(self, **changes: object) -> bool:
        """Write that down, however long the disk is full: nothing is started that is written nowhere, and a role whose
        end is not written would stay busy. False: the worker ends first."""
        while not self.notes.note(durable=True, **changes):
            self._news.clear()
            if self._closing:
                return False
            self._news.wait(SWEEP_S)
        return True

    def _ran(self, claim: Claim, number: int, path: Path) -> Ran:
        text = self._text(claim)
        asked = self._asked(text, path)
        if not self.runtime.by_stdin:
            asked.text_file.write_text(text, encoding="utf-8", errors="replace")
        env = {
            **os.environ, **runtimes.env(self.runtime, asked), "PATH": self.job.path, "MAT_SESSION": self.job.session,
            "MAT_ROLE": self.role, "MAT_DIR": str(self.places.root), left.TURN: str(number),
        }  # fmt: skip
        turn = Turn(
            runtimes.argv(self.runtime, asked), text if self.runtime.by_stdin else None,
            head=_head(self.role, number, text), cwd=asked.dir, env=env, log=path, cap_bytes=self.job.output_bytes,
            end_strays=lambda: left.end_marked(self.places, self.role, number),
        )  # fmt: skip
        with self._lock:
            self._turn = turn
        steps.reached(Step.STARTED)
        self.notes.note(durable=False, pgid=turn.pid, born_s=left.born_s(turn.pid))
        self.notes.point_to(path)
        steps.reached(Step.RUNNING)
        if self._closing or record.order_path(self.places, self.role).exists():
            turn.stop()
        try:
            return turn.wait(self.job.turn_timeout_s)
        finally:
            with self._lock:
                self._turn = None

    def _asked(self, text: str, path: Path) -> runtimes.Asked:
        return runtimes.Asked(
            session_id=self.state.agent_session or "", opened=self.state.opened,
            prompt_file=Path(self.served.prompt_file), mat_dir=self.places.root, dir=Path(self.served.dir),
            path=self.job.path, args=self.served.args, permissions=self.served.permissions, text=text,
            text_file=path.with_suffix(".txt"),
        )  # fmt: skip

    def _text(self, claim: Claim) -> str:
        parts = [claim.envelope.body]
        if claim.again:
            parts.insert(0, messages.repeat())
        if not self.state.opened and not self.runtime.takes_prompt:
            parts.insert(0, messages.first_pointer(prompt_path=self.served.prompt_file))
        return "\n\n".join(parts)

    def _ended(self, claim: Claim, number: int, started_s: float, ran: Ran, reading: Reading, path: Path) -> Last:
        if ran.why in ("timeout", "stopped"):
            reading.error_class = TIMEOUT if ran.why == "timeout" else CRASH
            reading.error = _ended_by_us(ran.why, self.job.turn_timeout_s)
        last = Last(
            turn=number, message=claim.envelope.message_id, outcome="error" if reading.failed else "ok",
            started_s=started_s, ended_s=boot_s(), duration_s=ran.duration_s, exit_code=ran.exit_code,
            error=reading.error, error_class=reading.error_class, until_s=reading.until_s, tokens=reading.tokens,
            cost=reading.cost, agent_session=reading.session_id or self.state.agent_session, again=claim.again,
            truncated=ran.truncated, log=path.name,
        )  # fmt: skip
        self.notes.keep(path, last)
        return last

    def _session_after(self, reading: Reading) -> tuple[str | None, bool]:
        """The agent session that the next turn goes on with, and whether it is open; None: a new one."""
        if reading.error_class in (CONTEXT_FULL, SESSION_LOST):
            return None, False
        if reading.session_id is not None:
            return reading.session_id, True
        if self.state.opened or (not reading.failed and self.runtime.takes_id):
            return self.state.agent_session, True
        return None, False

    # orders

    def _follow_order(self) -> None:
        """The driver has asked for a restart: go on in the agent session that it names, or in a new one."""
        path = record.order_path(self.places, self.role)
        try:
            order = msgspec.json.decode(path.read_bytes(), type=Order)
        except FileNotFoundError:
            return
        except (OSError, msgspec.MsgspecError) as error:  # while it lies there, each turn would be ended at once
            log.warning("%s: an order that can't be read is set aside: %s", self.role, error)
            self.mailbox.put_aside(path, f"it is no order: {error}")
            return
        if order.resumed and order.seat in (self.state.seat, self.state.agent_session):
            self.notes.note(seat=order.seat)
        else:
            self.notes.note(seat=order.seat, agent_session=order.seat, opened=order.resumed)
        record.forget(path)

    def _interrupt(self) -> None:
        with self._lock:
            if self._turn is not None:
                self._turn.stop()


def _head(role: str, number: int, text: str) -> str:
    """What stands above a turn's output in its log."""
    quoted = "".join(f"> {line}\n" for line in text.splitlines())
    return f"--- {role}, turn {number}, {time.strftime('%Y-%m-%d %H:%M:%S %z')}\n{quoted}\n"


def _ended_by_us(why: str, timeout_s: float) -> str:
    return f"it took longer than {timeout_s:g} s and was ended" if why == "timeout" else "it was stopped"
