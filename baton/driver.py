"""The baton driver: a session's roles are served by one worker process, and what it writes down is what is seen.

A delivery is an envelope renamed into the role's mailbox; it is `submitted` when the worker has claimed it. One that
nobody claims is taken back, so that nothing is run long after it was given up.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from baton import envelope, lock, record, runtimes
from baton.mailbox import Mailbox
from baton.record import BUSY, Job, Order, Served, State
from baton.runtimes import RATE_LIMIT
from matcore.engine.driver import Outcome, SessionSpec, Sighting, Verdict
from matcore.errors import BadConfig, OurMistake, Unavailable
from matcore.places import SessionPlaces, StatePlaces, state_dir
from matcore.words import messages

log = logging.getLogger("mat.baton")
CLAIMED_WITHIN_S = 5.0
STARTS_WITHIN_S = 15.0
ENDS_WITHIN_S = 12.0
TOO_MANY, WITHIN_S = 3, 600.0
RATE_LIMITED = "rate-limited"
_LOOK_S = 0.005
_OPTIONS = ("turn_timeout", "output_bytes")


@dataclass(slots=True)
class _Role:
    """What was reported of a role last."""

    told: str | None = None
    turn: int = 0
    exhausted: int = 0
    limited: bool = False
    stamp: tuple[int, int] | None = None


@dataclass(slots=True)
class _Watched:
    spec: SessionSpec
    places: SessionPlaces
    roles: dict[str, _Role]
    started: deque[float] = field(default_factory=deque)
    gone: bool = False


class BatonDriver:
    """Implements `matcore.engine.driver.Driver`.

    Options: `turn_timeout` (seconds a turn may take), `output_bytes` (how much of its output is kept in its log).
    Raises `BadConfig` for any other.
    """

    def __init__(self, options: Mapping[str, object]) -> None:
        unknown = [name for name in options if name not in _OPTIONS]
        if unknown:
            raise BadConfig([f"baton: unknown key {name!r}; there are {', '.join(_OPTIONS)}" for name in unknown])
        self._turn_timeout_s = float(str(options.get("turn_timeout") or 3600.0))
        self._output_bytes = int(str(options.get("output_bytes") or 8 * 1024 * 1024))
        self._watched: dict[str, _Watched] = {}
        self._lock = threading.Lock()

    # -- life ------------------------------------------------------------------------------------------------------

    def launch(self, spec: SessionSpec, *, resume: Mapping[str, str]) -> Mapping[str, Mapping[str, object]]:
        """Start the session's worker if none serves it. Raises `BadConfig`, `Unavailable`."""
        places = SessionPlaces.of(spec.workdir, spec.session)
        for role in spec.roles:
            runtime = runtimes.load(role.backend, spec.workdir)
            runtimes.argv(
                runtime, session_id=None, opened=False, prompt_file=role.prompt_file, mat_dir=places.root,
                args=role.args, path=spec.path,
            )  # fmt: skip
            Mailbox(places, role.name).make()
        serves = lock.is_held(record.lock_path(places))
        if not serves:
            record.write(record.job_path(places), self._job(spec, resume))
            _start(places)
        return {
            role.name: {
                "started": not serves,
                "worker": lock.holder(record.lock_path(places)),
                "agent_session": record.read_state(places, role.name).agent_session or resume.get(role.name),
            }
            for role in spec.roles
        }

    def _job(self, spec: SessionSpec, resume: Mapping[str, str]) -> Job:
        roles = {
            role.name: Served(
                role.backend, str(role.dir), str(role.prompt_file), list(role.args), resume.get(role.name)
            )
            for role in spec.roles
        }
        spool = str(StatePlaces(state_dir()).spool)
        return Job(spec.session, str(spec.workdir), spec.path, spool, roles, self._turn_timeout_s, self._output_bytes)

    def adopt(
        self,
        spec: SessionSpec,
        seats: Mapping[str, Mapping[str, object]],  # noqa: ARG002 - who serves is seen by the lock
        typed: Mapping[str, Sequence[str]] | None = None,  # noqa: ARG002 - nobody else types here
    ) -> None:
        """Watch a session from now on.

        The end of the last turn is told again, for it may have come while nobody watched: what it ended before, it
        does not end twice, since it says when that turn began.
        """
        places = SessionPlaces.of(spec.workdir, spec.session)
        roles = {}
        for role in spec.roles:
            state = record.read_state(places, role.name)
            roles[role.name] = _Role(turn=max(0, _turns(state) - 1), exhausted=state.exhausted)
        with self._lock:
            self._watched[spec.session] = _Watched(spec, places, roles)

    def forget(self, session: str) -> None:
        """Watch it no longer."""
        with self._lock:
            self._watched.pop(session, None)

    def restart(self, session: str, role: str, *, resume: str | None) -> Mapping[str, object]:
        """End the turn that runs and go on in that agent session, or in a new one. Raises `Unavailable`."""
        watched = self._session(session)
        places = watched.places
        if not lock.is_held(record.lock_path(places)):
            _start(places)
        path = record.order_path(places, role)
        record.write(path, Order(str(time.time_ns()), resume))
        _wait(lambda: not path.exists(), STARTS_WITHIN_S, f"{session}/{role} does not follow")
        with self._lock:
            watched.gone = False
            watched.started.clear()
            watched.roles[role] = _Role(turn=_turns(record.read_state(places, role)))
        return {"started": True, "worker": lock.holder(record.lock_path(places)), "agent_session": resume}

    def stop(self, session: str) -> None:
        """End the worker and the turns that it runs. Raises `Unavailable`."""
        with self._lock:
            watched = self._watched.pop(session, None)
        if watched is not None:
            _stop(watched.places, [role.name for role in watched.spec.roles])

    # -- seeing ----------------------------------------------------------------------------------------------------

    def observe(self) -> Sequence[Sighting]:
        """One tick: for each session one lock, for each role one `stat`."""
        with self._lock:
            watched = list(self._watched.values())
        found: list[Sighting] = []
        for each in watched:
            found += self._look_at(each)
        return found

    def heard(self, session: str, role: str, hook: Mapping[str, object]) -> Sequence[Sighting]:  # noqa: ARG002
        """The worker says that a turn began or ended: look now."""
        with self._lock:
            watched = self._watched.get(session)
        return [] if watched is None or role not in watched.roles else self._look_at_role(watched, role)

    def _look_at(self, watched: _Watched) -> list[Sighting]:
        if not lock.is_held(record.lock_path(watched.places)) and not self._revived(watched):
            return [
                sighting for role in watched.roles for sighting in self._say(watched, role, "gone", "the worker's lock")
            ]
        return [sighting for role in watched.roles for sighting in self._look_at_role(watched, role)]

    def _look_at_role(self, watched: _Watched, role: str) -> list[Sighting]:
        """What the state file says that was not told yet."""
        seen = watched.roles[role]
        stamp = _stamp(record.state_path(watched.places, role))
        if stamp == seen.stamp and seen.told is not None and stamp is not None:
            return []
        seen.stamp = stamp
        state = record.read_state(watched.places, role)
        found = self._ended(watched, role, state)
        if state.status == BUSY:
            return found + self._say(watched, role, "busy", "turn record")
        return found + self._say(watched, role, "idle", "turn record")

    def _ended(self, watched: _Watched, role: str, state: State) -> list[Sighting]:
        """The end of a turn that was not told yet, with all that it says."""
        seen, last, session = watched.roles[role], state.last, watched.spec.session
        if last is None or last.turn <= seen.turn:
            return []
        seen.turn = last.turn
        fields = {"role": role, "outcome": last.outcome, "detail": last.error, "started": last.started_s}
        found = [Sighting(session, "turn.ended", fields, "turn record")]
        if last.error_class == RATE_LIMIT:
            seen.limited = True
            until = last.until_s and last.until_s - time.time() + record.boot_s()
            found.append(
                Sighting(session, "gate.raised", {"gate": RATE_LIMITED, "role": role, "until": until}, "turn record")
            )
        elif seen.limited and last.outcome == "ok":
            seen.limited = False
            found.append(Sighting(session, "gate.cleared", {"gate": RATE_LIMITED, "role": role}, "turn record"))
        if state.exhausted > seen.exhausted:
            seen.exhausted = state.exhausted
            found.append(Sighting(session, "context.exhausted", {"role": role}, "turn record"))
            found.append(Sighting(session, "role.idle", {"role": role}, "turn record"))
            found.append(Sighting(session, "context.fresh", {"role": role}, "turn record"))
        return found

    def _say(self, watched: _Watched, role: str, status: str, evidence: str) -> list[Sighting]:
        seen = watched.roles[role]
        if seen.told == status:
            return []
        seen.told = status
        return [Sighting(watched.spec.session, f"role.{status}", {"role": role}, evidence)]

    def _revived(self, watched: _Watched) -> bool:
        """Start a worker that has died again, unless it keeps dying."""
        if watched.gone:
            return False
        now_s = time.monotonic()
        while watched.started and now_s - watched.started[0] > WITHIN_S:
            watched.started.popleft()
        if len(watched.started) >= TOO_MANY:
            watched.gone = True
            log.error("%s: its worker ended %d times in %d s", watched.spec.session, TOO_MANY, WITHIN_S)
            return False
        watched.started.append(now_s)
        try:
            _start(watched.places)
        except (Unavailable, OSError):
            log.exception("%s: no worker", watched.spec.session)
            return False
        return True

    # -- delivering ------------------------------------------------------------------------------------------------

    def deliver(self, session: str, role: str, text: str, mark: str) -> Outcome:
        """Put one message into the mailbox of an idle role; `submitted` once the worker has claimed it."""
        if mark not in text:
            raise OurMistake(f"The mark {mark!r} is no part of its text.")
        watched = self._session(session)
        places = watched.places
        if not lock.is_held(record.lock_path(places)):
            return Outcome(Verdict.GONE, "no worker holds the session's lock")
        if record.read_state(places, role).status == BUSY:
            return Outcome(Verdict.REFUSED, "a turn runs", gate="busy")
        message, sender = messages.addressed(text)
        letter = envelope.deliver(
            message_id=message or f"m-{time.time_ns()}", sender=sender, to=role, body=text, cycle=None
        )
        box = Mailbox(places, role)
        entered_s = record.boot_s()
        name = box.put(letter)
        end_s = time.monotonic() + CLAIMED_WITHIN_S
        while box.is_pending(name):
            if time.monotonic() > end_s or not lock.is_held(record.lock_path(places)):
                if box.withdraw(name):
                    return Outcome(Verdict.REFUSED, "the worker did not claim it; it was taken back", gate="no-worker")
                break
            time.sleep(_LOOK_S)
        return Outcome(Verdict.SUBMITTED, f"claimed by the worker: {name}", entered_s=entered_s)

    def last_words(self, session: str, role: str) -> str:
        """The end of the newest turn's log."""
        watched = self._session(session)
        with suppress(OSError):
            text = (record.turns_path(watched.places) / f"{role}.log").read_bytes()[-20_000:]
            return text.decode("utf-8", "replace")
        return ""

    def attach(self, session: str, role: str | None) -> Sequence[str]:
        """The argv that follows the logs of the turns. Raises `Unavailable` where there is none yet."""
        watched = self._session(session)
        folder = record.turns_path(watched.places)
        logs = [str(folder / f"{name}.log") for name in ([role] if role else list(watched.roles))]
        if not any(Path(path).exists() for path in logs):
            raise Unavailable(f"{session} has not run a turn yet; look again in a moment")
        return ["tail", "-n", "100", "-F", *logs]

    def _session(self, session: str) -> _Watched:
        with self._lock:
            watched = self._watched.get(session)
        if watched is None:
            raise OurMistake(f"{session} was never adopted.")
        return watched


def _turns(state: State) -> int:
    return state.last.turn if state.last else 0


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns


def _start(places: SessionPlaces) -> None:
    """Start a worker, detached, and wait until it holds the lock. Raises `Unavailable`."""
    with (places.root / "worker.log").open("ab") as out:
        worker = subprocess.Popen(
            [sys.executable, "-m", "baton.worker", str(places.root)],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, cwd="/",
        )  # fmt: skip
    # Reaped when it ends, so that a dead worker of this process is no zombie that looks alive.
    threading.Thread(target=worker.wait, daemon=True).start()
    _wait(
        lambda: lock.is_held(record.lock_path(places)) or worker.poll() is not None,
        STARTS_WITHIN_S,
        f"no worker started; see {places.root / 'worker.log'}",
    )
    if not lock.is_held(record.lock_path(places)):
        raise Unavailable(f"the worker ended at once; see {places.root / 'worker.log'}")


def _stop(places: SessionPlaces, roles: Sequence[str]) -> None:
    pid = lock.holder(record.lock_path(places))
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        try:
            _wait(lambda: not lock.is_held(record.lock_path(places)), ENDS_WITHIN_S, "the worker does not end")
        except Unavailable:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    for role in roles:
        state = record.read_state(places, role)
        if state.pgid is not None and state.born_s is not None and _is_alive(state.pgid, state.born_s):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(state.pgid, signal.SIGKILL)


def _is_alive(pid: int, born_s: float) -> bool:
    try:
        return psutil.Process(pid).create_time() == born_s
    except psutil.Error:
        return False


def _wait(until: Callable[[], bool], timeout_s: float, what: str) -> None:
    """Raises `Unavailable` when it takes too long."""
    end_s = time.monotonic() + timeout_s
    while not until():
        if time.monotonic() > end_s:
            raise Unavailable(what)
        time.sleep(_LOOK_S)
