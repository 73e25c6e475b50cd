"""A session of headless roles with a program that costs two milliseconds a turn, and the worker as a process.

What the program gets is kept: `turns(role)` are its command line and its text, in order. Words in a text say what it
does: `SLEEP`, `FAIL`, `FULL`, `LIMIT`, `CHILD` (leaves a process behind), `STRAY` (one in a session of its own).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import yaml

from baton import envelope, lock, record
from baton.driver import BatonDriver
from baton.mailbox import Mailbox
from matcore.engine.about import make_folders
from matcore.engine.driver import RoleSpec, SessionSpec
from matcore.places import SessionPlaces, StatePlaces, state_dir
from tests.contract import ROLES, SESSION
from tests.waiting import wait_for

PROGRAM = """\
#!/bin/sh
text=$(cat)
printf '%s\\n%s\\0' "$*" "$text" >>"{kept}/$MAT_ROLE"
case "$text" in *STRAY*) setsid sleep 62 & esac
case "$text" in
  *SLEEP*) sleep 60 ;;
  *CHILD*) sleep 61 & ;;
  *FAIL*) echo "it broke" >&2; exit 1 ;;
  *FULL*) echo "the context window is full" >&2; exit 1 ;;
  *LIMIT*) echo "usage limit reached, resets in 90" >&2; exit 1 ;;
esac
echo "noted"
"""
PROFILE = {
    "name": "quick",
    "headless": {
        "fresh": ["{program}", "fresh", "{session_id}", "{args}"],
        "resume": ["{program}", "resume", "{session_id}", "{args}"],
        "takes_prompt": True,
        "classes": {"context-full": "context window is full", "rate-limit": "usage limit"},
        "resets": r"resets in (\d+)",
    },
}


@dataclass
class Rig:
    """One session `duo` in a folder of its own."""

    folder: Path
    roles: tuple[str, ...] = ROLES
    options: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.work = self.folder / "work"
        self.kept = self.folder / "kept"
        backends = self.work / ".mat" / "agents" / "backends"
        for folder in (self.work, self.kept, backends):
            folder.mkdir(parents=True)
        self.program = self.folder / "quick"
        self.program.write_text(PROGRAM.replace("{kept}", str(self.kept)), encoding="utf-8")
        self.program.chmod(0o700)
        self.profile(PROFILE["headless"])
        self.prompt = self.folder / "prompt.md"
        self.prompt.write_text("You are a role.", encoding="utf-8")
        self.places = SessionPlaces.of(self.work, SESSION)
        make_folders(self.places, list(self.roles))
        self.state = StatePlaces(state_dir())
        self.driver = self.new_driver()
        self.workers: list[subprocess.Popen[bytes]] = []

    def profile(self, headless: object) -> None:
        text = yaml.safe_dump({"name": "quick", "headless": headless}).replace("{program}", str(self.program))
        (self.work / ".mat" / "agents" / "backends" / "quick.yaml").write_text(text, encoding="utf-8")

    def new_driver(self) -> BatonDriver:
        return BatonDriver(self.options)

    @property
    def spec(self) -> SessionSpec:
        roles = tuple(RoleSpec(role, "quick", self.work, self.prompt) for role in self.roles)
        return SessionSpec(SESSION, self.work, roles, os.environ["PATH"])

    # the worker

    def up(self) -> None:
        """Launched by the driver, which watches it."""
        self.driver.adopt(self.spec, self.driver.launch(self.spec, resume={}))

    def worker(self, code: str | None = None) -> subprocess.Popen[bytes]:
        """A worker of the test's own, or Python code that becomes one; it serves when this returns."""
        what = ["-c", code] if code else ["-m", "baton.worker", str(self.places.root)]
        started = subprocess.Popen([sys.executable, *what], stderr=subprocess.DEVNULL, start_new_session=True)
        self.workers.append(started)
        wait_for(lambda: self.pid() == started.pid or started.poll() is not None, what="a worker")
        return started

    def pid(self) -> int | None:
        return lock.holder(record.lock_path(self.places))

    def kill(self) -> None:
        """SIGKILL for the worker alone; what it started lives on."""
        pid = self.pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: self.pid() != pid, what="a dead worker")
        for worker in self.workers:
            worker.poll()

    def running(self) -> list[psutil.Process]:
        """The session's worker and all that its turns have started."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                is_ours = str(self.places.root) in process.cmdline()
                is_ours = is_ours or process.environ().get("MAT_DIR") == str(self.places.root)
                if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def end(self) -> None:
        for _ in range(3):
            for process in self.running():
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            for worker in self.workers:
                worker.wait(10)
            if not self.running():
                return

    # messages and turns

    def box(self, role: str) -> Mailbox:
        return Mailbox(self.places, role)

    def put(self, text: str, role: str = "dev", sender: str = "review", message: str = "r-000001") -> str:
        letter = envelope.deliver(message_id=message, sender=sender, to=role, body=text, cycle="c1")
        return self.box(role).put(letter)

    def turns(self, role: str = "dev") -> list[tuple[str, str]]:
        """Command line and text of each turn that has begun."""
        try:
            calls = (self.kept / role).read_text(encoding="utf-8").split("\0")[:-1]
        except FileNotFoundError:
            return []
        return [(line, text) for line, _, text in (call.partition("\n") for call in calls)]

    def texts(self, role: str = "dev") -> list[str]:
        return [text for _, text in self.turns(role)]

    def role_state(self, role: str = "dev") -> record.State:
        return record.read_state(self.places, role)

    def done(self, role: str = "dev") -> list[str]:
        return sorted(path.name for path in (self.box(role).inbox / "done").iterdir())

    def settle(self, role: str = "dev", done: int = 1, timeout_s: float = 20) -> None:
        """Wait until so many messages are done and nothing is open."""
        inbox = self.box(role).inbox

        def over() -> bool:
            return len(self.done(role)) >= done and not [*(inbox / "pending").iterdir(), *(inbox / "claimed").iterdir()]

        wait_for(over, timeout_s, f"{done} messages done")
