"""The tmux driver: agents in panes become sightings, texts become keystrokes.

Safe to call from several threads: one poller (`observe`), the loop (`heard`), one thread for each role (`deliver`).
A seat's lock is never held over a call to tmux, so `observe` and `heard` wait for no delivery.
"""

from __future__ import annotations

import fcntl
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from matcore.engine.clock import boot_s
from matcore.engine.driver import AGENT_NAMED, Outcome, RoleSpec, SessionSpec, Sighting, Verdict
from matcore.engine.shaped import suggestion
from matcore.errors import BadConfig, OurMistake, Unavailable
from matcore.places import SessionPlaces
from tmuxdriver import found, installing, layout, panes, seatdata
from tmuxdriver.attention import Attention
from tmuxdriver.cells import Rows
from tmuxdriver.inject import Delivery
from tmuxdriver.left import Left
from tmuxdriver.observe import WINDOW_S, Watcher
from tmuxdriver.plain import sanitise
from tmuxdriver.process import end_agents_of
from tmuxdriver.profile import Profile, load, pattern, project_folder
from tmuxdriver.seat import Seat
from tmuxdriver.server import Tmux, TmuxError
from tmuxdriver.submission import Submission

STORED_S = 60.0
"""How long a program may take until what it was told is in its file."""
CLOCKS_DIFFER_S = 1.0
_OPTIONS = ("socket", "hooks", "profiles", "window_s")


class TmuxDriver:
    """Implements `matcore.engine.driver.Driver`.

    Options: `socket` (as for `tmux -L`, or an absolute path; `mat`), `hooks` (are the agents' hooks switched on? true),
    `profiles` (folders that are searched for profiles first), `window_s` (after that long without an answer from tmux
    the roles are unknown). Raises `BadConfig` for any other.
    """

    def __init__(self, options: Mapping[str, object]) -> None:
        unknown = [name for name in options if name not in _OPTIONS]
        if unknown:
            raise BadConfig([f'tmux: unknown key "{name}"; {suggestion(name, _OPTIONS)}' for name in unknown])
        self._tmux = Tmux(socket=str(options.get("socket", "mat")))
        self._hooks = bool(options.get("hooks", True))
        folders = options.get("profiles", ())
        self._folders = tuple(Path(str(folder)) for folder in folders) if isinstance(folders, list | tuple) else ()
        self._attention = Attention()
        self._watcher = Watcher(self._tmux, self._attention, float(str(options.get("window_s", WINDOW_S))))
        self._lock = threading.Lock()
        self._seats: dict[tuple[str, str], Seat] = {}
        self._profiles: dict[str, Profile] = {}

    # -- life ------------------------------------------------------------------------------------------------------

    def check(self, spec: SessionSpec) -> None:
        """Raises `BadConfig` with all that `launch` would refuse for it. Starts nothing and writes nothing."""
        faults: list[str] = []
        for role in spec.roles:
            try:
                layout.check(spec, role, self._profile(spec, role.backend), hooks=self._hooks)
            except BadConfig as err:
                faults += err.faults
        if faults:
            raise BadConfig(faults)

    def launch(self, spec: SessionSpec, *, resume: Mapping[str, str]) -> Mapping[str, Mapping[str, object]]:
        """Start what is missing of a session. Two at once are one after the other, so nothing starts twice.

        Raises `Refused` too: the agents there are another project's.
        """
        if shutil.which(self._tmux.binary) is None:
            raise Unavailable(f"tmux is not on PATH; nothing was started. First: {installing.command('tmux')}")
        places = SessionPlaces.of(spec.workdir, spec.session)
        places.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (places.root / "tmux.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                return self._launch(spec, resume)
            except TmuxError as err:
                raise Unavailable(f"tmux could not start {spec.session}: {err}") from err

    def _launch(self, spec: SessionSpec, resume: Mapping[str, str]) -> dict[str, Mapping[str, object]]:
        running = layout.find(self._tmux, spec.session)
        layout.take_over_none(self._tmux, spec, running)
        plans = {
            role.name: layout.plan(
                spec, role, self._profile(spec, role.backend), resume=resume.get(role.name), hooks=self._hooks
            )
            for role in spec.roles
            if role.name not in running or running[role.name].dead
        }
        seats: dict[str, Mapping[str, object]] = {}
        for role in spec.roles:
            pane = running.get(role.name)
            if role.name not in plans and pane is not None:
                seats[role.name] = seatdata.of(pane.identity, seatdata.noted(pane), started=False)
                continue
            what = plans[role.name]
            begin = layout.start if pane is None else layout.restart
            self._end_others(spec, role)
            identity = begin(self._tmux, spec, role.name, what)
            seats[role.name] = seatdata.of(identity, what.seat, started=True)
        return seats

    def adopt(
        self,
        spec: SessionSpec,
        seats: Mapping[str, Mapping[str, object]],
        typed: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Watch a session from now on. Raises `BadConfig` when a profile is gone or broken."""
        made = {
            (spec.session, role.name): Seat.of(spec, role, self._profile(spec, role.backend), seats.get(role.name))
            for role in spec.roles
        }
        for (_, name), seat in made.items():
            seat.evidence.recent += [Submission(text, 0.0) for text in (typed or {}).get(name, ())]
        with self._lock:
            for key, seat in made.items():
                known = self._seats.get(key)
                if known is None or known.identity != seat.identity:
                    seat.pending += known.evidence.replaced("started anew") if known is not None else []
                    self._seats[key] = seat

    def forget(self, session: str) -> None:
        """Watch it no longer."""
        with self._lock:
            self._seats = {key: seat for key, seat in self._seats.items() if key[0] != session}

    def restart(self, session: str, role: str, *, resume: str | None) -> Mapping[str, object]:
        """End the seat's agent and start it anew. Raises `Unavailable`."""
        seat = self._seat(session, role)
        with seat.typing:
            what = layout.plan(seat.spec, seat.role, seat.profile, resume=resume, hooks=self._hooks)
            with seat.lock:
                seat.is_typing = True  # that it ends meanwhile is our doing
            try:
                self._end_others(seat.spec, seat.role)
                identity = layout.restart(self._tmux, seat.spec, role, what)
                if seat.ended:
                    layout.stop(self._tmux, session)
                    raise Unavailable(f"{session} was ended meanwhile")
            except TmuxError as err:
                raise Unavailable(f"tmux could not start {session}/{role} anew: {err}") from err
            finally:
                self._typed(seat)
        data = seatdata.of(identity, what.seat, started=True)
        fresh = Seat.of(seat.spec, seat.role, seat.profile, data)
        with seat.lock:
            fresh.pending += seat.evidence.replaced("started anew")
        with self._lock:
            if seat.ended:  # since then, so that the new agent has been ended, too, or is about to be
                raise Unavailable(f"{session} was ended meanwhile")
            if (session, role) in self._seats:
                self._seats[session, role] = fresh
        return data

    def stop(self, session: str) -> None:
        """End the session's agents, one that is just being started too. Raises `Unavailable`."""
        with self._lock:
            seats = [seat for (name, _), seat in self._seats.items() if name == session]
            for seat in seats:
                seat.ended = True
        self.forget(session)
        try:
            layout.stop(self._tmux, session)
        except TmuxError as err:
            raise Unavailable(f"tmux could not end {session}: {err}") from err
        # A server whose socket was removed has no panes for us, and lives on with all of its agents.
        own = {seat.role.name: (seat.profile, layout.own(seat.spec, seat.role.name)) for seat in seats}
        left = [role for role, (profile, variables) in own.items() if not end_agents_of(profile, variables)]
        if left:
            raise Unavailable(f"the agents of {session} can't be ended: {', '.join(left)}")

    # -- seeing ----------------------------------------------------------------------------------------------------

    def observe(self) -> Sequence[Sighting]:
        """One tick for all adopted sessions."""
        with self._lock:
            seats = list(self._seats.values())
        seen = list(self._watcher.tick(seats)) if seats else []
        return [*seen, *(named for seat in seats if seat.sought is not None for named in self._named(seat))]

    def heard(self, session: str, role: str, hook: Mapping[str, object]) -> Sequence[Sighting]:
        """What a record of `mat hook` means; nothing for a seat that is not watched, or an event without meaning."""
        with self._lock:
            seat = self._seats.get((session, role))
        if seat is None:
            return []
        data = hook.get("data")
        facts = dict(data) if isinstance(data, Mapping) else {}
        event = str(hook.get("event"))
        event, _, outcome = seat.profile.hooks.events.get(event, event).partition(":")
        if outcome:
            facts.setdefault("outcome", outcome)
        if facts.get("outcome") == "error" and _is_exhausted(seat.profile, facts):
            facts["outcome"] = "exhausted"
        at = hook.get("boot_s")
        with seat.lock:
            return seat.evidence.heard(event, float(at) if isinstance(at, int | float) else boot_s(), facts)

    def deliver(self, session: str, role: str, text: str, mark: str) -> Outcome:
        """Submit `text` once. Raises `OurMistake` for a text that no agent may be given."""
        clean = sanitise(text)
        if mark not in text:
            raise OurMistake(f"The mark {mark!r} is no part of its text.")
        seat = self._seat(session, role)
        with seat.typing:
            if seat.identity is None:
                return Outcome(Verdict.GONE, "nothing was ever started in this seat")
            with seat.lock:
                seat.is_typing = True
            delivery = Delivery(self._tmux, seat, seat.identity, clean, self._attention)
            try:
                outcome = delivery.run()
            finally:
                self._typed(seat)
            with seat.lock:
                if outcome.verdict is Verdict.SUBMITTED:
                    seat.evidence.unsent = None
                elif outcome.verdict is Verdict.UNCONFIRMED:
                    seat.evidence.unsent = Left(clean, seat.profile.composer.pasted, delivery.typed_upon)
                if outcome.verdict is Verdict.SUBMITTED and delivery.submission is not None:
                    seat.pending += seat.evidence.submitted(delivery.submission)
                    seat.sought = delivery.submission if seat.profile.launch.finds else None
        return outcome

    def _named(self, seat: Seat) -> list[Sighting]:
        """The agent session that our last text is in now is the seat's. A program may be slow to write that down."""
        finds = seat.profile.launch.finds
        with seat.lock:
            sought = seat.sought
        if finds is None or sought is None:
            return []
        ago_s = boot_s() - sought.entered_s
        named = found.agent_session(finds, sought.text, time.time() - ago_s - CLOCKS_DIFFER_S)
        with seat.lock:
            if seat.sought is sought and (named is not None or ago_s > STORED_S):
                seat.sought = None
        fields = {"role": seat.role.name, "agent_session": named}
        return [Sighting(seat.spec.session, AGENT_NAMED, fields, "the program's own file")] if named else []

    def _typed(self, seat: Seat) -> None:
        """The screen is looked at anew: what held us back is to be seen there, or it is over."""
        with seat.lock:
            seat.is_typing = False
            seat.evidence.screen, seat.changes = None, None

    def last_words(self, session: str, role: str) -> str:
        """The last screen of a seat, without styles; empty when there is none."""
        seat = self._seat(session, role)
        if seat.identity is None:
            return ""
        try:
            found = panes.capture(self._tmux, [seat.identity.pane_id]).get(seat.identity.pane_id)
        except TmuxError:
            return ""
        return "\n".join(Rows(found[1]).text).strip("\n") if found and found[0].identity == seat.identity else ""

    def attach(self, session: str, role: str | None) -> Sequence[str]:
        """The argv that shows the session to a person."""
        return layout.attach_argv(self._tmux, session, role)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _seat(self, session: str, role: str) -> Seat:
        with self._lock:
            seat = self._seats.get((session, role))
        if seat is None:
            raise OurMistake(f"{session}/{role} was never adopted.")
        return seat

    def _end_others(self, spec: SessionSpec, role: RoleSpec) -> None:
        """An agent that outlived its pane is on the session that is about to be taken up. Raises `Unavailable`."""
        if not end_agents_of(self._profile(spec, role.backend), layout.own(spec, role.name)):
            raise Unavailable(f"{role.name}: an agent of before still runs and can't be ended; nothing was started.")

    def _profile(self, spec: SessionSpec, backend: str) -> Profile:
        folders = (*self._folders, project_folder(spec.workdir))
        key = f"{backend} {spec.workdir}"
        if key not in self._profiles:
            self._profiles[key] = load(backend, folders=folders)
        return self._profiles[key]


def _is_exhausted(profile: Profile, told: Mapping[str, object]) -> bool:
    """Whether what the hook of a failed turn says of its error names a context that is full."""
    said = f"{told.get('error')} {told.get('error_details')}"
    return profile.hooks.exhausted is not None and bool(pattern(profile.hooks.exhausted).search(said))
