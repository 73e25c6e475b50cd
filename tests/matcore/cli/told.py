"""Sessions as the commands find them: journals written by the real book, without a supervisor or an agent."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from matcore.engine.book import RULES_VERSION, Book
from matcore.engine.clock import SystemClock
from matcore.engine.heartbeat import Beat
from matcore.engine.journal import Journal
from matcore.places import StatePlaces
from matcore.rules.decisions import AWAITED

WINDOW_S = 600.0


class Told:
    """One session. `fact` and `note` journal what happens `after` seconds later than the entry before."""

    def __init__(self, state: StatePlaces, session: str, *, ago: float = 3600.0, **config: Any) -> None:
        folder = state.session(session)
        folder.mkdir(parents=True)
        self.state, self.session = state, session
        self.book = Book(Journal.create(state.journal(session), session=session, rules=RULES_VERSION))
        self.now = time.time() - ago
        roles = {name: {"backend": "scripted", "prompt": f"duo-{name}"} for name in ("dev", "review")}
        self.config = {"session": session, "driver": "tmux", "roles": roles, "recovery": {"window": WINDOW_S}, **config}
        configured: dict[str, Any] = {
            "roles": list(roles),
            "policy": {"window": WINDOW_S, "progress_deadline": 0},
            "rules": "1",
        }
        self.fact("session.configured", **configured)
        up: dict[str, Any] = {
            "workdir": str(state.root),
            "path": "/bin",
            "command": "send-relay",
            "size": [80, 24],
            "seats": {},
        }
        self.note("engine.up", session=session, config=self.config, **up)
        self.fact("watch.resumed")

    def fact(self, name: str, after: float = 0.0, **fields: Any) -> Told:
        self.pass_time(after)
        self.book.take(self.now, self.now, name, {key.removesuffix("_"): value for key, value in fields.items()})
        return self

    def note(self, entry: str, after: float = 0.0, **data: Any) -> Told:
        self.pass_time(after)
        self.book.note(self.now, self.now, entry, data)
        return self

    def pass_time(self, seconds: float) -> Told:
        """Whatever falls due meanwhile is decided, and succeeds."""
        until = self.now + seconds
        while (due := self.book.deadline()) is not None and due <= until:
            self.now = due
            for decision in self.book.reach(due, due):
                if type(decision) in AWAITED and getattr(decision, "kind", "idle-recovery") == "idle-recovery":
                    self.fact("effect.ended", decision=decision.number, ok=True)
        self.now = until
        return self

    def working(self, cycle: str = "c1", goal: str = "TASK.md is done") -> Told:
        """A cycle in which the developer has handed over, and the reviewer works."""
        self.fact("cycle.opened", cycle=cycle, goal=goal, by="human")
        self.fact("role.idle", role="dev", evidence="hook")
        self.fact("relay.sent", id="r-000001", from_="dev", to="review", kind="request", seq=1, path="/h/1.md")
        self.fact("relay.delivered", 1, id="r-000001")
        return self.fact("role.busy", 1, role="review", evidence="hook")

    def stalled(self, windows: float = 1.0) -> Told:
        """As `working`, but the reviewer has said its review to nobody, `windows` ago."""
        self.working()
        self.fact("turn.ended", 60, role="review", outcome="ok", evidence="hook")
        self.fact("effect.ended", decision=self.book.journal.tail(1, kinds=["decision"])[0].data["number"], ok=True)
        self.fact("role.busy", role="review", evidence="hook")
        self.fact("turn.ended", 5, role="review", outcome="ok", evidence="hook")
        self.fact("role.idle", role="review", evidence="hook")
        return self.pass_time(windows * WINDOW_S + 1)

    def ended(self) -> Told:
        return self.note("engine.down", 1, by="human")

    def close(self) -> None:
        self.book.close()


@contextmanager
def supervised(state: StatePlaces, *sessions: str, age_s: float = 0.5) -> Iterator[None]:
    """As if a supervisor lived whose last heartbeat is `age_s` old."""
    state.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    clock = SystemClock()
    beat = Beat(4242, clock.boot_id(), clock.boot_s() - age_s, time.time(), time.time(), list(sessions))
    state.heartbeat.write_bytes(msgspec.json.encode(beat))
    fd = os.open(state.lock, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(fd)
