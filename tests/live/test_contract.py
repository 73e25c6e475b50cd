"""The tmux driver keeps what every driver promises: real tmux, scripted agents, no hooks."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence

import psutil
import pytest

from matcore.engine.driver import SessionSpec
from tests.contract import ROLES, SESSION, Contract
from tests.live.rig import Rig
from tests.waiting import wait_for
from tmuxdriver.driver import TmuxDriver

SCRIPT = {"default": [{"work": 0.5}, {"print": "Noted."}]}


class TmuxPlace:
    """The rig as the contract needs it."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.driver = rig.driver

    @property
    def spec(self) -> SessionSpec:
        return self.rig.spec

    def new_driver(self) -> TmuxDriver:
        return self.rig.new_driver()

    def texts(self, role: str) -> list[str]:
        return [record["text"] for record in self.rig.log("submitted") if record["role"] == role]

    def finish(self, role: str) -> None:
        """The agent does so itself."""

    def hold(self, role: str) -> None:
        self.rig.person("send-keys", "-t", f"={SESSION}:={role}", "-l", "a thought")
        shown = ["capture-pane", "-p", "-t", f"={SESSION}:={role}"]
        wait_for(lambda: "a thought" in self.rig.person(*shown), what="the draft")

    def end_agent(self, role: str) -> None:
        os.kill(self.rig.agent_pid(role), signal.SIGKILL)

    def running(self) -> Sequence[object]:
        pids = {int(record["pid"]) for record in self.rig.log("start")}
        return [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]


@pytest.fixture
def place(make_rig: Callable[..., Rig]) -> TmuxPlace:
    return TmuxPlace(make_rig(script=SCRIPT, roles=ROLES))


class TestContract(Contract):
    """See `tests/contract.py`."""
