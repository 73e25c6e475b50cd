"""What every driver promises, told once: the fake, the tmux driver and the baton driver pass the same tests.

A driver's own test module has a fixture `place` (a `Place`) and a class that inherits from `Contract`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from matcore.engine.driver import Driver, SessionSpec, Sighting, Verdict
from tests.waiting import wait_for

SESSION = "duo"
ROLES = ("dev", "review")
WITHIN_S = 20.0


class Place(Protocol):
    """A driver, a session of two roles that can be launched on it, and what happens to them."""

    @property
    def driver(self) -> Driver: ...

    @property
    def spec(self) -> SessionSpec: ...

    def new_driver(self) -> Driver:
        """As the next supervisor has one: it knows nothing of the first."""
        ...

    def texts(self, role: str) -> list[str]:
        """What the role's agent was given, in order."""
        ...

    def finish(self, role: str) -> None:
        """Let the turn that was begun by a text end, where it doesn't end by itself."""
        ...

    def hold(self, role: str) -> None:
        """Something is in the way of a delivery to this role."""
        ...

    def end_agent(self, role: str) -> None:
        """The role's agent dies, and whatever started it again gives up."""
        ...

    def running(self) -> Sequence[object]:
        """What of the session still runs."""
        ...


class Watcher:
    """Ticks and keeps what was seen."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.seen: list[Sighting] = []

    def tick(self) -> list[Sighting]:
        self.seen += self.driver.observe()
        return self.seen

    def wait(self, name: str, role: str, after: int = 0) -> int:
        """The place in `seen` of the first such sighting from `after` on, as soon as there is one."""

        def found() -> list[int]:
            self.tick()
            return [
                n + 1 for n, s in enumerate(self.seen) if n >= after and s.name == name and s.fields.get("role") == role
            ]

        return wait_for(found, WITHIN_S, f"{name} of {role}")[0] - 1


def up(place: Place) -> Watcher:
    """Launched, adopted, and every role idle."""
    place.driver.adopt(place.spec, place.driver.launch(place.spec, resume={}))
    watcher = Watcher(place.driver)
    for role in ROLES:
        watcher.wait("role.idle", role)
    return watcher


class Contract:
    """Inherited by each driver's tests."""

    def test_launching_twice_starts_once(self, place: Place) -> None:
        """The second launch finds what the first started, with the same agent sessions."""
        first = place.driver.launch(place.spec, resume={})
        second = place.new_driver().launch(place.spec, resume={})
        assert [first[role]["started"] for role in ROLES] == [True, True]
        assert [second[role]["started"] for role in ROLES] == [False, False]
        sessions = [first[role]["agent_session"] for role in ROLES]
        assert all(isinstance(session, str) and session for session in sessions)
        assert len(set(sessions)) == 2
        assert [second[role]["agent_session"] for role in ROLES] == sessions

    def test_each_role_is_reported_after_adopt(self, place: Place) -> None:
        """Whoever adopts a session learns of every role what it does, a second supervisor too."""
        up(place)
        seats = place.new_driver().launch(place.spec, resume={})
        other = place.new_driver()
        other.adopt(place.spec, seats)
        watcher = Watcher(other)
        for role in ROLES:
            watcher.wait("role.idle", role)

    def test_a_text_is_submitted_once_and_its_turn_is_seen(self, place: Place) -> None:
        """`submitted` means that the agent got it, whole and once; the turn's end says when it began."""
        watcher = up(place)
        before = len(watcher.seen)
        outcome = place.driver.deliver(SESSION, "dev", "[mat] first line\nsecond line", "[mat] first")
        assert outcome.verdict is Verdict.SUBMITTED
        assert outcome.evidence
        place.finish("dev")
        ended = watcher.wait("turn.ended", "dev", before)
        watcher.wait("role.idle", "dev", ended)
        started = watcher.seen[ended].fields.get("started")
        assert started is None or outcome.entered_s is None or float(str(started)) >= outcome.entered_s - 0.001
        assert place.texts("dev") == ["[mat] first line\nsecond line"]
        assert place.texts("review") == []

    def test_what_is_in_the_way_is_named_and_nothing_is_delivered(self, place: Place) -> None:
        """`refused` has a gate, and not one byte has reached the agent."""
        up(place)
        place.hold("dev")
        before = place.texts("dev")
        outcome = place.driver.deliver(SESSION, "dev", "[mat] not now", "[mat] not")
        assert outcome.verdict is Verdict.REFUSED
        assert outcome.gate
        assert place.texts("dev") == before

    def test_an_agent_that_is_gone_is_seen_and_gets_nothing(self, place: Place) -> None:
        """`role.gone`, once, and the outcome `gone`."""
        watcher = up(place)
        place.end_agent("dev")
        gone = watcher.wait("role.gone", "dev")
        outcome = place.driver.deliver(SESSION, "dev", "[mat] too late", "[mat] too")
        assert outcome.verdict is Verdict.GONE
        for _ in range(3):
            watcher.tick()
        assert [s.name for s in watcher.seen[gone + 1 :] if s.fields.get("role") == "dev"] == []

    def test_a_restart_resumes_the_agent_session(self, place: Place) -> None:
        """The seat has a new agent on the session that was named, and is reported anew."""
        place.driver.adopt(place.spec, seats := place.driver.launch(place.spec, resume={}))
        watcher = Watcher(place.driver)
        watcher.wait("role.idle", "dev")
        place.driver.deliver(SESSION, "dev", "[mat] before", "[mat] before")
        place.finish("dev")
        watcher.wait("role.idle", "dev", watcher.wait("turn.ended", "dev"))
        session = str(seats["dev"]["agent_session"])
        seat = place.driver.restart(SESSION, "dev", resume=session)
        assert (seat["started"], seat["agent_session"]) == (True, session)
        place.driver.adopt(place.spec, {**seats, "dev": seat})
        watcher.wait("role.idle", "dev", len(watcher.seen))
        assert place.driver.deliver(SESSION, "dev", "[mat] after", "[mat] after").verdict is Verdict.SUBMITTED

    def test_a_restart_without_a_session_opens_another(self, place: Place) -> None:
        """What was said before is not gone on with."""
        seats = place.driver.launch(place.spec, resume={})
        place.driver.adopt(place.spec, seats)
        Watcher(place.driver).wait("role.idle", "dev")
        seat = place.driver.restart(SESSION, "dev", resume=None)
        assert seat["agent_session"] not in (None, seats["dev"]["agent_session"])

    def test_a_gone_agent_can_be_started_again(self, place: Place) -> None:
        """After `restart` the role is idle and takes texts."""
        watcher = up(place)
        place.end_agent("dev")
        watcher.wait("role.gone", "dev")
        seat = place.driver.restart(SESSION, "dev", resume=None)
        place.driver.adopt(place.spec, {"dev": seat, "review": seat})
        watcher.wait("role.idle", "dev", len(watcher.seen))
        assert place.driver.deliver(SESSION, "dev", "[mat] again", "[mat] again").verdict is Verdict.SUBMITTED

    def test_a_session_that_was_forgotten_is_seen_no_more(self, place: Place) -> None:
        """`forget` ends the watch and nothing else."""
        up(place)
        place.driver.forget(SESSION)
        assert list(place.driver.observe()) == []
        assert place.running()

    def test_stopping_leaves_nothing(self, place: Place) -> None:
        """No agent and nothing that was started for one."""
        up(place)
        place.driver.deliver(SESSION, "dev", "[mat] busy when it ends", "[mat] busy")
        place.driver.stop(SESSION)
        wait_for(lambda: not place.running(), WITHIN_S, "nothing left")
        assert list(place.driver.observe()) == []

    def test_attaching_names_a_program_and_the_last_words_are_text(self, place: Place) -> None:
        """A person is given an argv; what was on the screen or in the log is for people only."""
        up(place)
        for role in (None, "review"):
            argv = place.driver.attach(SESSION, role)
            assert argv
            assert all(isinstance(word, str) for word in argv)
        assert isinstance(place.driver.last_words(SESSION, "dev"), str)
