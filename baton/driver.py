"""The baton driver: a session's roles are served by one worker process, and what it writes down is what is seen.

A delivery is an envelope renamed into the role's mailbox; it is `submitted` when the worker has begun with it. One that
nobody claims is taken back, so that nothing is run long after it was given up.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec

from baton import envelope, lock, process, record, runtimes
from baton.envelope import Envelope
from baton.mailbox import Mailbox
from baton.record import BUSY, OUTPUT_BYTES, TURN_TIMEOUT_S, Job, Order, Served
from baton.watch import Watch
from matcore.engine.clock import boot_s
from matcore.engine.driver import SET_ASIDE, Outcome, SessionSpec, Sighting, Verdict, new_session
from matcore.engine.shaped import suggestion
from matcore.errors import BadConfig, OurMistake, Unavailable
from matcore.places import SessionPlaces, StatePlaces, state_dir
from matcore.words import marks

CLAIMED_WITHIN_S = 5.0
LAST_WORDS_BYTES = 20_000
_OPTIONS = ("turn_timeout", "output")


class _Cycle(msgspec.Struct):
    id: str | None = None


class _About(msgspec.Struct):
    """What of `session.json` is read here."""

    cycle: _Cycle | None = None


class BatonDriver:
    """Implements `matcore.engine.driver.Driver`.

    Options: `turn_timeout` (seconds a turn may take), `output` (how many bytes of what it prints are kept in its log).
    Raises `BadConfig` for any other.
    """

    def __init__(self, options: Mapping[str, object]) -> None:
        unknown = [name for name in options if name not in _OPTIONS]
        if unknown:
            raise BadConfig([f'baton: unknown key "{name}"; {suggestion(name, _OPTIONS)}' for name in unknown])
        self._turn_timeout_s = float(str(options.get("turn_timeout") or TURN_TIMEOUT_S))
        self._output_bytes = int(str(options.get("output") or OUTPUT_BYTES))
        self._watched: dict[str, Watch] = {}
        self._lock = threading.Lock()

    # -- life ------------------------------------------------------------------------------------------------------

    def check(self, spec: SessionSpec) -> None:
        """Raises `BadConfig` with all that `launch` would refuse for it. Starts nothing and writes nothing."""
        places = SessionPlaces.of(spec.workdir, spec.session)
        faults: list[str] = []
        for role in spec.roles:
            try:
                self._served(spec, role.name, places, None)
            except BadConfig as error:
                faults += error.faults
            except Unavailable:  # a program that is not there yet is no fault of the file
                pass
        if faults:
            raise BadConfig(faults)

    def launch(self, spec: SessionSpec, *, resume: Mapping[str, str]) -> Mapping[str, Mapping[str, object]]:
        """Start the session's worker if none serves it. Raises `BadConfig`, `Unavailable`; nothing is started then."""
        places = SessionPlaces.of(spec.workdir, spec.session)
        job = self._job(spec, resume)
        for role in spec.roles:
            Mailbox(places, role.name).make()
        serves = process.is_alive(places)
        if not serves:
            record.write(record.job_path(places), job)
            process.start(places)
        else:
            process.keep(places)
        worker = lock.holder(record.lock_path(places))
        return {
            name: {"started": not serves, "worker": worker, "agent_session": role.seat, "opens_late": True}
            for name, role in job.roles.items()
        }

    def _job(self, spec: SessionSpec, resume: Mapping[str, str]) -> Job:
        places = SessionPlaces.of(spec.workdir, spec.session)
        served = {role.name: self._served(spec, role.name, places, resume.get(role.name)) for role in spec.roles}
        limits = self._turn_timeout_s, self._output_bytes
        return Job(spec.session, str(spec.workdir), spec.path, str(StatePlaces(state_dir()).spool), served, *limits)

    def _served(self, spec: SessionSpec, name: str, places: SessionPlaces, resume: str | None) -> Served:
        """A role as its worker must know it, once its first turn is known to be possible."""
        role = next(role for role in spec.roles if role.name == name)
        seat = resume or record.read_state(places, name).seat or _seat_of_job(places, name) or new_session()
        asked = runtimes.Asked(
            session_id=seat, opened=resume is not None, prompt_file=role.prompt_file, mat_dir=places.root, dir=role.dir,
            path=spec.path, args=role.args, permissions=role.permissions,
        )  # fmt: skip
        try:
            runtimes.argv(runtimes.load(role.backend, spec.workdir), asked)
        except BadConfig as error:
            raise BadConfig([f"roles.{name}.{fault}" for fault in error.faults]) from error
        except Unavailable as error:
            raise Unavailable(f"{name}: {error}") from error
        return Served(
            role.backend, str(role.dir), str(role.prompt_file), list(role.args), role.permissions, seat,
            resumed=resume is not None,
        )  # fmt: skip

    def adopt(
        self,
        spec: SessionSpec,
        seats: Mapping[str, Mapping[str, object]],
        typed: Mapping[str, Sequence[str]] | None = None,  # noqa: ARG002 - nobody else types here
    ) -> None:
        """Watch a session from now on, all of it told anew. Who serves it is seen by the lock."""
        resume = {role: str(seat["agent_session"]) for role, seat in seats.items() if seat.get("agent_session")}
        watch = Watch.of(spec, lambda: self._job(spec, resume))
        with self._lock:
            self._watched[spec.session] = watch

    def forget(self, session: str) -> None:
        """Watch it no longer."""
        with self._lock:
            self._watched.pop(session, None)

    def restart(self, session: str, role: str, *, resume: str | None) -> Mapping[str, object]:
        """End the turn that runs and go on in that agent session, or in a new one. Raises `Unavailable`."""
        watch = self._session(session)
        if not process.is_alive(watch.places):
            process.again(watch.places)
        seat = resume or new_session()
        path = record.order_path(watch.places, role)
        record.write(path, Order(str(time.time_ns()), seat, resumed=resume is not None))
        process.wait(lambda: not path.exists(), process.STARTS_WITHIN_S, f"{session}/{role} does not follow")
        watch.anew(role)
        worker = lock.holder(record.lock_path(watch.places))
        return {"started": True, "worker": worker, "agent_session": seat, "opens_late": True}

    def stop(self, session: str) -> None:
        """End the worker and all that its turns have started. Raises `Unavailable`."""
        with self._lock:
            watch = self._watched.pop(session, None)
        if watch is not None:
            process.stop(watch.places, watch.roles)

    # -- seeing ----------------------------------------------------------------------------------------------------

    def observe(self) -> Sequence[Sighting]:
        """One tick for all sessions."""
        with self._lock:
            watched = list(self._watched.values())
        return [sighting for watch in watched for sighting in watch.look()]

    def heard(self, session: str, role: str, hook: Mapping[str, object]) -> Sequence[Sighting]:
        """What the worker has set aside. Its word that a turn ended only has the engine look sooner: what it sees then
        comes in one order, which two ways to see could not promise."""
        data = hook.get("data")
        if hook.get("event") != record.SET_ASIDE or not isinstance(data, Mapping):
            return ()
        fields = {"role": role, "name": data.get("name"), "reason": data.get("reason")}
        return [Sighting(session, SET_ASIDE, fields, "the worker")]

    # -- delivering ------------------------------------------------------------------------------------------------

    def deliver(self, session: str, role: str, text: str, mark: str) -> Outcome:
        """Put one message into the mailbox of an idle role; `submitted` once the worker has begun with it."""
        if mark not in text:
            raise OurMistake(f"The mark {mark!r} is no part of its text.")
        watch = self._session(session)
        if not process.is_alive(watch.places):
            if watch.gone is not None:
                return Outcome(Verdict.GONE, f"no worker serves the session: {watch.gone}")
            return Outcome(Verdict.REFUSED, "the worker has died and is started again", gate="no-worker")
        if record.read_state(watch.places, role).status == BUSY:
            return Outcome(Verdict.REFUSED, "a turn runs", gate="busy")
        message, sender = marks.addressed(text)
        letter = envelope.deliver(
            message_id=message or f"m-{time.time_ns()}", sender=sender, to=role, body=text, cycle=_cycle(watch.places)
        )
        return self._post(watch, role, letter)

    def _post(self, watch: Watch, role: str, letter: Envelope) -> Outcome:
        box = Mailbox(watch.places, role)
        entered_s = boot_s()
        try:
            name = box.put(letter)
        except OSError as error:
            return Outcome(Verdict.REFUSED, f"the mailbox can't be written: {error}", gate="no-mailbox")
        end_s = time.monotonic() + CLAIMED_WITHIN_S
        while time.monotonic() < end_s:
            if record.read_state(watch.places, role).delivery == letter.delivery:
                return Outcome(Verdict.SUBMITTED, f"the worker has begun with {name}", entered_s=entered_s)
            if not process.is_alive(watch.places):
                break
            time.sleep(process.LOOK_S)
        if box.withdraw(name):
            return Outcome(Verdict.REFUSED, "the worker did not claim it; it was taken back", gate="no-worker")
        if box.was_claimed(name):  # the worker, or the one after it, runs it
            return Outcome(Verdict.SUBMITTED, f"claimed by the worker: {name}", entered_s=entered_s)
        return Outcome(Verdict.UNCONFIRMED, f"somebody else has taken it out of the mailbox: {name}")

    def last_words(self, session: str, role: str) -> str:
        """The end of the newest turn's log."""
        places = self._session(session).places
        with suppress(OSError):
            text = (record.turns_path(places) / f"{role}.log").read_bytes()[-LAST_WORDS_BYTES:]
            return text.decode("utf-8", "replace")
        return ""

    def attach(self, session: str, role: str | None) -> Sequence[str]:
        """The argv that follows the logs of the turns."""
        watch = self._session(session)
        turns = str(record.turns_path(watch.places))
        return [sys.executable, "-m", "baton.follow", session, turns, *([role] if role else watch.roles)]

    def _session(self, session: str) -> Watch:
        with self._lock:
            watch = self._watched.get(session)
        if watch is None:
            raise OurMistake(f"{session} was never adopted.")
        return watch


def _cycle(places: SessionPlaces) -> str | None:
    """The open cycle, for whoever reads the envelope."""
    with suppress(OSError, msgspec.MsgspecError):
        cycle = msgspec.json.decode(places.about.read_bytes(), type=_About).cycle
        return cycle.id if cycle else None
    return None


def _seat_of_job(places: SessionPlaces, role: str) -> str | None:
    """What a worker was told that has not written it down yet."""
    if not process.is_alive(places):
        return None
    with suppress(OSError, msgspec.MsgspecError, KeyError):
        return msgspec.json.decode(record.job_path(places).read_bytes(), type=Job).roles[role].seat
    return None
