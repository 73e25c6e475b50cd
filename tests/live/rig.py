"""A duo of scripted agents on a tmux server of its own, and a person who may do anything to it."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import yaml

from matcore.engine.driver import Outcome, RoleSpec, SessionSpec, Sighting
from tests.waiting import json_lines, wait_for
from tmuxdriver.driver import TmuxDriver
from tmuxdriver.profile import shipped_folder
from tmuxdriver.server import Tmux, TmuxError
from tmuxdriver.sessions import Server

READY = "> Ask me to do anything"


@dataclass
class Rig:
    """One session `duo` of one or more scripted agents. Without hooks: what is known is seen on the screen."""

    folder: Path
    script: Mapping[str, Any] = field(default_factory=dict)
    roles: tuple[str, ...] = ("dev",)
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Laid over the shipped profile, key by key."""
    size: tuple[int, int] = (100, 30)

    def __post_init__(self) -> None:
        self.socket = f"mat-{uuid.uuid4().hex[:12]}"
        self.tmux = Tmux(socket=self.socket)
        self.server = Server(self.tmux)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.log_file = self.folder / "log.jsonl"
        (self.folder / "prompt.md").write_text("You are dev.", encoding="utf-8")
        (self.folder / "script.yaml").write_text(yaml.safe_dump(dict(self.script)), encoding="utf-8")
        profile = yaml.safe_load((shipped_folder() / "scripted.yaml").read_text(encoding="utf-8"))
        for key, value in self.changes.items():
            profile[key] = {**profile[key], **value} if isinstance(value, dict) else value
        (self.folder / "scripted.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")
        self.driver = self.new_driver()
        self.sightings: list[Sighting] = []
        self.clients: list[subprocess.Popen[bytes]] = []

    def new_driver(self) -> TmuxDriver:
        return TmuxDriver({"socket": self.socket, "hooks": False, "profiles": [str(self.folder)]})

    @property
    def spec(self) -> SessionSpec:
        args = ("--script", str(self.folder / "script.yaml"), "--log", str(self.log_file))
        roles = tuple(RoleSpec(r, "scripted", self.work, self.folder / "prompt.md", args=args) for r in self.roles)
        return SessionSpec("duo", self.work, roles, os.environ["PATH"], size=self.size)

    def up(self, *, ready: bool = True) -> None:
        """Launched and adopted; `ready`: every agent shows its empty composer."""
        self.seats = self.driver.launch(self.spec, resume={})
        self.driver.adopt(self.spec, self.seats)
        if ready:
            for role in self.roles:
                self.wait_for_screen(READY, role)

    def down(self) -> None:
        for client in self.clients:
            client.kill()
            client.wait()
        pids = [record["pid"] for record in self.log() if record["what"] == "start"]
        with contextlib.suppress(TmuxError):  # some tests have stopped it
            self.server.kill()
        left = [process for pid in set(pids) if psutil.pid_exists(pid) for process in [psutil.Process(pid)]]
        for process in left:
            process.kill()
        psutil.wait_procs(left, timeout=5)

    # -- what the agent got ----------------------------------------------------------------------------------------

    def log(self, what: str | None = None) -> list[dict[str, Any]]:
        return [record for record in json_lines(self.log_file) if what in (None, record["what"])]

    def typed(self) -> str:
        """Every byte that any agent has received."""
        return "".join(record["text"] for record in self.log("bytes"))

    def messages(self) -> list[str]:
        """The prompts that agents took, in order."""
        return [record["text"] for record in self.log("submitted")]

    # -- what mat does ---------------------------------------------------------------------------------------------

    def deliver(self, text: str, role: str = "dev") -> Outcome:
        return self.driver.deliver("duo", role, text, text.split()[0])

    def tick(self) -> Sequence[Sighting]:
        seen = self.driver.observe()
        self.sightings += seen
        return seen

    def wait_to_see(self, name: str, timeout_s: float = 10.0, **fields: object) -> Sighting:
        """Ticks until such a sighting has come since the rig was made; it is taken away then."""

        def found() -> Sighting | None:
            self.tick()
            for sighting in self.sightings:
                if sighting.name == name and fields.items() <= dict(sighting.fields).items():
                    self.sightings.remove(sighting)
                    return sighting
            return None

        seen = wait_for(found, timeout_s, f"{name} {fields}")
        assert seen is not None
        return seen

    def saw(self, name: str) -> list[Sighting]:
        return [sighting for sighting in self.sightings if sighting.name == name]

    # -- the person ------------------------------------------------------------------------------------------------

    def pane(self, role: str = "dev") -> str:
        return str(self.seats[role]["pane_id"])

    def person(self, *command: str) -> str:
        return self.tmux.run(list(command))

    def keys(self, *keys: str, role: str = "dev") -> None:
        self.person("send-keys", "-t", self.pane(role), *keys)

    def screen(self, role: str = "dev") -> str:
        return self.person("capture-pane", "-p", "-t", self.pane(role))

    def wait_for_screen(self, text: str, role: str = "dev", timeout_s: float = 10.0) -> None:
        wait_for(lambda: text in self.screen(role), timeout_s, f"{text!r} on the screen of {role}")

    def attach(self) -> Callable[[bytes], None]:
        """A person at a terminal of their own. Returns how they press keys."""
        parent, child = pty.openpty()
        argv = self.driver.attach("duo", None)
        env = {**os.environ, "TERM": "xterm-256color"}
        self.clients.append(
            subprocess.Popen(argv, stdin=child, stdout=child, stderr=child, env=env, start_new_session=True)
        )
        os.close(child)
        wait_for(lambda: self.person("list-clients"), what="an attached client")

        def press(keys: bytes) -> None:
            os.write(parent, keys)

        return press

    def activity(self) -> str:
        """The second in which somebody last pressed a key, as tmux tells it."""
        return self.person("display-message", "-p", "-t", self.pane(), "#{session_activity}")

    def agent_pid(self, role: str = "dev") -> int:
        return next(int(r["pid"]) for r in reversed(self.log("start")) if r["role"] == role)

    def settled(self, seconds: float = 0.4) -> None:
        """For claims that something did not happen: as long as it would have taken at most, and half as much again."""
        time.sleep(seconds)
