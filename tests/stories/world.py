"""A supervisor in virtual time: a clock that the test moves, a fake driver, effects carried out on the spot.

Only the terminal, the clock and the threads are fakes; spools, journals, loop and core are the real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from matcore import spoolfile
from matcore.engine.effects import Effects
from matcore.engine.events import Event, Polled, SpoolTouched
from matcore.engine.lanes import Work
from matcore.engine.launch import record_of
from matcore.engine.ledger import Ledger
from matcore.engine.notify import Told
from matcore.engine.session import Session
from matcore.engine.supervisor import Supervisor
from matcore.places import SessionPlaces, StatePlaces
from tests.fakeclock import FakeClock
from tests.fakes import FakeDriver, FakeDrivers, FakeSeat

LEAST_STEP_S = 0.001
LONGEST_STEP_S = 60.0
"""The loop must turn once in each window, or it stood still."""


class InlineEffects(Effects):
    """Carries out at once what the real ones do on threads; the outcome still comes back through the queue."""

    def __init__(self, put: Callable[[Event], None], told: list[str]) -> None:
        super().__init__(put)
        self.told = told
        self.channel_works = True
        self.drops = False
        """Effects never end, as when the supervisor is killed before they do."""

    def run(self, session: Session, role: str, work: Work) -> None:
        if not self.drops:
            work()

    def notify(self, key: str, title: str, text: str, session: Session, told: Callable[[Told], None]) -> None:
        if self.channel_works:
            self.told.append(text)
        told(Told(self.channel_works, "fake" if self.channel_works else None, ()))


class World:
    """One supervisor and its sessions. `told` is what reached the human."""

    effects: InlineEffects

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.clock = FakeClock()
        self.driver = FakeDriver(self.clock.boot_s)
        self.places = StatePlaces(folder / "state")
        self.told: list[str] = []
        self.supervisor = self._supervisor()

    def _supervisor(self) -> Supervisor:
        def effects(put: Callable[[Event], None]) -> InlineEffects:
            self.effects = InlineEffects(put, self.told)
            return self.effects

        self.places.root.mkdir(parents=True, exist_ok=True)
        supervisor = Supervisor(self.places, clock=self.clock, drivers=FakeDrivers(self.driver), effects=effects)
        supervisor.begin()
        return supervisor

    # sessions

    def up(
        self,
        session: str = "duo",
        roles: tuple[str, ...] = ("dev", "review"),
        roles_config: Mapping[str, Mapping[str, Any]] | None = None,
        seats: Mapping[str, Mapping[str, Any]] | None = None,
        **config: Any,
    ) -> None:
        """A session as `mat up` hands it over."""
        workdir = self.folder / session
        workdir.mkdir(exist_ok=True)
        settings = {
            "driver": "fake",
            "roles": {role: {"backend": "fake", **(roles_config or {}).get(role, {})} for role in roles},
            "notify": ["fake://"],
        }
        ledger = Ledger(session=session, workdir=str(workdir), path="/bin", config={**settings, **config})
        launched = {}
        for role in roles:
            self.driver.seats.setdefault((session, role), FakeSeat())
            launched[role] = {"started": True, "agent_session": f"a-{role}", **(seats or {}).get(role, {})}
        spoolfile.write(str(self.places.spool), record_of(ledger, launched, None))
        self.settle()

    def session(self, name: str = "duo") -> Session:
        return self.supervisor.watched[name].session

    def folder_of(self, name: str = "duo") -> SessionPlaces:
        return self.session(name).places

    def says(self, role: str, session: str = "duo", **record: Any) -> None:
        """A record in a role's spool, as `send-relay` and the like write it."""
        spoolfile.write(str(self.folder_of(session).spool(role)), {"session": session, **record})
        self.settle()

    def human(self, session: str = "duo", **record: Any) -> None:
        spoolfile.write(str(self.places.spool), {"session": session, **record})
        self.settle()

    def relay(self, sender: str, to: str, seq: int, session: str = "duo", kind: str = "request") -> str:
        """A relay through the spool. Returns its id."""
        message = f"r-{seq:06d}"
        self.says(
            sender, session, fact="relay.sent", schema="baton.message/v1", message_id=message, to=to, kind=kind,
            seq=seq, body="text", path=str(self.folder / "handoff.md"), digest="0" * 64, **{"from": sender},
        )  # fmt: skip
        return message

    # time

    def settle(self) -> None:
        """Let the loop take in all that is there, until nothing more comes of it."""
        self._sweep()
        for _ in range(50):
            self._look()
            self.supervisor.turn(0)
            if self.supervisor.queue.empty() and not self.driver.has_news:
                return
        raise AssertionError("the loop does not come to rest")

    def advance(self, seconds: float) -> None:
        """Time passes: from one moment at which somebody wants to act to the next."""
        end_s = self.clock.boot_s() + seconds
        while (left := end_s - self.clock.boot_s()) > 0:
            due = min((w.session.due_in_s() for w in self.supervisor.watched.values() if not w.fault), default=left)
            self.clock.advance(min(left, max(due, LEAST_STEP_S), LONGEST_STEP_S))
            self.settle()

    def restart(self, *, clean: bool = False) -> None:
        """The supervisor ends (by SIGKILL unless `clean`) and another one starts."""
        if clean:
            self.supervisor.end()
        else:
            for watched in self.supervisor.watched.values():
                watched.session.close()
        self.supervisor = self._supervisor()
        self.settle()

    def end(self) -> None:
        self.supervisor.end()

    def _sweep(self) -> None:
        self.supervisor.queue.put(SpoolTouched(self.places.spool))
        for watched in self.supervisor.watched.values():
            for role in watched.session.roles:
                self.supervisor.queue.put(SpoolTouched(watched.session.places.spool(role)))

    def _look(self) -> None:
        try:
            sightings = self.driver.observe()
        except Exception as e:  # noqa: BLE001 - as the poller does
            self.supervisor.queue.put(Polled("fake", (), str(e)))
        else:
            self.supervisor.queue.put(Polled("fake", sightings))

    # what happened

    def decisions(self, session: str = "duo", *names: str) -> list[dict[str, Any]]:
        """The decisions so far, each with its `event`."""
        journal = self.session(session).book.journal
        found = journal.entries(kinds=["decision"], names=names or None)
        return [{"event": entry.name, "at": entry.at, **entry.data} for entry in found]

    def entries(self, *names: str, session: str = "duo") -> list[dict[str, Any]]:
        journal = self.session(session).book.journal
        return [{"name": e.name, "at": e.at, **e.data} for e in journal.entries(names=names or None)]
