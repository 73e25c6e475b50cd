"""The fake that the stories use keeps what the real drivers promise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from matcore.engine.driver import Outcome, RoleSpec, SessionSpec, Verdict
from tests.contract import ROLES, SESSION, Contract
from tests.fakeclock import FakeClock
from tests.fakes import FakeDriver


class FakePlace:
    """Other driver objects see the same seats, as those of real drivers see the same processes."""

    def __init__(self, folder: Path) -> None:
        self.driver = FakeDriver(FakeClock().boot_s)
        roles = tuple(RoleSpec(role, "fake", folder, folder / "prompt.md") for role in ROLES)
        self.spec = SessionSpec(SESSION, folder, roles, "/bin")

    def new_driver(self) -> FakeDriver:
        other = FakeDriver(self.driver.boot_s)
        other.seats = self.driver.seats
        return other

    def texts(self, role: str) -> list[str]:
        return self.driver.seats[SESSION, role].texts

    def finish(self, role: str) -> None:
        self.driver.end_turn(SESSION, role)

    def hold(self, role: str) -> None:
        self.driver.seats[SESSION, role].answers = [Outcome(Verdict.REFUSED, "held", gate="held")]

    def end_agent(self, role: str) -> None:
        self.driver.see(SESSION, "role.gone", role)

    def running(self) -> Sequence[object]:
        return [] if SESSION in self.driver.stopped else list(self.driver.seats)


@pytest.fixture
def place(tmp_path: Path) -> FakePlace:
    return FakePlace(tmp_path)


class TestContract(Contract):
    """See `tests/contract.py`."""
