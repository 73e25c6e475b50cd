"""A driver without a terminal: seats are objects, texts are kept, and a test says what an agent does with them.

It passes the contract suite of the real drivers (`tests/contract.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from matcore.engine.driver import Outcome, SessionSpec, Sighting, Verdict, new_session
from matcore.engine.drivers import Drivers

SUBMITTED = Outcome(Verdict.SUBMITTED, "the fake took it")


@dataclass
class FakeSeat:
    """`answers` are the outcomes of the next deliveries, `SUBMITTED` when there is none. `texts` is what arrived.

    `resumable`: it was said so when the agent was seen gone, and is said again to whoever looks next.
    """

    status: str = "idle"
    resumable: bool = False
    texts: list[str] = field(default_factory=list)
    answers: list[Outcome] = field(default_factory=list)


class FakeDriver:
    """One for all sessions. `on_text(session, role, text)` is called when a text was submitted."""

    def __init__(self, boot_s: Callable[[], float]) -> None:
        self.boot_s = boot_s
        self.seats: dict[tuple[str, str], FakeSeat] = {}
        self.adopted: dict[str, SessionSpec] = {}
        self.on_text: Callable[[str, str, str], None] = lambda _session, _role, _text: None
        self.fault: Exception | None = None
        self.stopped: list[str] = []
        self.typed: dict[str, Sequence[str]] = {}
        self.seen_seats: dict[str, Mapping[str, object]] = {}
        self.needs_prompt: set[str] = set()
        self.submitted: list[str] = []
        """Every text that arrived anywhere, those of agents that have been replaced since, too."""
        self._seen: list[Sighting] = []

    def launch(self, spec: SessionSpec, *, resume: Mapping[str, str]) -> Mapping[str, Mapping[str, object]]:
        return {role.name: self._seat(spec.session, role.name, resume.get(role.name)) for role in spec.roles}

    def _seat(self, session: str, role: str, resume: str | None) -> Mapping[str, object]:
        started = (session, role) not in self.seats or self.seats[session, role].status == "gone"
        if started:
            self.seats[session, role] = FakeSeat()
        return {"started": started, "agent_session": resume or f"fake-{session}-{role}"}

    def adopt(
        self,
        spec: SessionSpec,
        seats: Mapping[str, Mapping[str, object]],
        typed: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.typed = dict(typed or {})
        self.seen_seats = dict(seats)
        self.adopted[spec.session] = spec
        for role in seats:
            seat = self.seats[spec.session, role]
            again = {"resumable": True} if seat.status == "gone" and seat.resumable else {}
            self.see(spec.session, f"role.{seat.status}", role, **again)

    def forget(self, session: str) -> None:
        self.adopted.pop(session, None)

    def observe(self) -> Sequence[Sighting]:
        if self.fault is not None:
            raise self.fault
        seen, self._seen = self._seen, []
        return [s for s in seen if s.session in self.adopted]

    @property
    def has_news(self) -> bool:
        """Whether the next look would see something."""
        return self.fault is None and any(s.session in self.adopted for s in self._seen)

    def heard(self, session: str, role: str, hook: Mapping[str, object]) -> Sequence[Sighting]:
        event = str(hook["event"])  # what a test wants to be seen; a start alone is nothing that is seen
        return [] if event == "session-start" else [Sighting(session, event, {"role": role}, "hook")]

    def deliver(self, session: str, role: str, text: str, mark: str) -> Outcome:
        assert mark in text, "a driver must be able to know the text by its mark"
        seat = self.seats[session, role]
        if seat.status == "gone":
            return Outcome(Verdict.GONE, "the fake is gone")
        outcome = seat.answers.pop(0) if seat.answers else SUBMITTED
        if outcome.verdict is Verdict.SUBMITTED:
            seat.texts.append(text)
            self.submitted.append(text)
            seat.status = "busy"
            self.on_text(session, role, text)
        return outcome

    def restart(self, session: str, role: str, *, resume: str | None) -> Mapping[str, object]:
        self.seats[session, role] = FakeSeat()
        untold = resume is None and role in self.needs_prompt
        return {"started": True, "agent_session": resume or new_session(), "needs_prompt": untold}

    def stop(self, session: str) -> None:
        self.stopped.append(session)

    def last_words(self, session: str, role: str) -> str:
        return "\n".join(self.seats[session, role].texts)

    def attach(self, session: str, role: str | None) -> Sequence[str]:
        return ["true", session, role or ""]

    # what a test does

    def see(self, session: str, name: str, role: str, /, **fields: object) -> None:
        """Something happens in a seat; the next look sees it."""
        if name.startswith("role."):
            seat = self.seats[session, role]
            seat.status, seat.resumable = name.removeprefix("role."), bool(fields.get("resumable"))
        self._seen.append(Sighting(session, name, {"role": role, **fields}, "screen"))

    def end_turn(self, session: str, role: str, **fields: object) -> None:
        """The agent of a seat has finished its turn."""
        self.see(session, "turn.ended", role, **fields)
        self.see(session, "role.idle", role)


class FakeDrivers(Drivers):
    """Whatever a session asks for, it is the fake."""

    def __init__(self, driver: FakeDriver) -> None:
        super().__init__()
        self._driver = driver

    def of(self, name: str, options: Mapping[str, object]) -> tuple[str, FakeDriver]:
        return "fake", self._driver
