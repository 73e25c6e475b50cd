"""A duo as a user has it, for tests: a folder with duo.yaml and scripts, real tmux, real supervisor, real commands.

Everything lives in places of the test's own; `end` leaves no process and no tmux server behind.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import yaml

from matcore.engine import heartbeat
from matcore.engine.journal import Entry, Journal
from matcore.places import SessionPlaces, StatePlaces
from tests.waiting import json_lines, wait_for
from tmuxdriver.server import Tmux, TmuxError
from tmuxdriver.sessions import Server

MAT = [str(Path(sys.executable).parent / "mat")]
UP_WITHIN_S = 40.0


class Duo:
    """One session. `log(role)` is what the scripted agent says of itself: each byte that it got, each turn."""

    def __init__(self, folder: Path, *, session: str = "duo", window: float = 5.0, **config: Any) -> None:
        self.folder = folder
        self.session = session
        self.work = folder / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self.socket = folder / "s"
        self.server = Server(Tmux(socket=str(self.socket)))
        self.state = StatePlaces(folder / "state" / "mat")
        self.env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)}
        self.config: dict[str, Any] = {
            "session": session,
            "driver": "tmux",
            "roles": {},
            "recovery": {"window": window, "gate_settle": "1s"},
            "tmux": {"socket": str(self.socket)},
            "notify": [{"command": ["tee", "-a", str(self.told_file)]}],
            **config,
        }

    @property
    def told_file(self) -> Path:
        return self.folder / "told.txt"

    @property
    def places(self) -> SessionPlaces:
        return SessionPlaces.of(self.work, self.session)

    def role(self, name: str, script: Mapping[str, Any], **config: Any) -> None:
        """A role played by the scripted agent."""
        path = self.folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(dict(script)), encoding="utf-8")
        args = ["--script", str(path), "--log", str(self.folder / f"{name}.log")]
        self.config["roles"][name] = {"backend": "scripted", "prompt": f"duo-{name}", "args": args, **config}

    def mat(
        self, *args: str, check: bool = True, stdin: str = "", timeout_s: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as its user would. With `check`, exit code 0 is asserted."""
        done = subprocess.run(
            [*MAT, *args], cwd=self.work, env=self.env, input=stdin, capture_output=True, text=True, timeout=timeout_s,
            check=False,
        )  # fmt: skip
        assert not check or done.returncode == 0, f"mat {args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def up(self, *args: str) -> subprocess.CompletedProcess[str]:
        (self.work / "duo.yaml").write_text(yaml.safe_dump(self.config, sort_keys=False), encoding="utf-8")
        return self.mat("up", *args, timeout_s=UP_WITHIN_S)

    def tmux(self, *args: str, check: bool = True) -> str:
        """A command to the session's server, as a person would give it; what it printed."""
        done = self.server.cmd(*args)
        assert not check or done.returncode == 0, f"tmux {args}: {done.stderr}"
        return "".join(f"{line}\n" for line in done.stdout)

    def pane(self, role: str) -> str:
        """The pane id of a role's seat."""
        ours = f"#{{&&:#{{==:#{{@mat_session}},{self.session}}},#{{==:#{{@mat_role}},{role}}}}}"
        return self.tmux("list-panes", "-a", "-f", ours, "-F", "#{pane_id}").strip()

    def screen(self, role: str) -> str:
        return self.tmux("capture-pane", "-p", "-t", self.pane(role))

    def seen(self, role: str) -> str:
        """As `screen`, and why not where there is none."""
        try:
            return self.screen(role)
        except AssertionError as e:
            return str(e)

    def keys(self, role: str, *keys: str) -> None:
        """A person types into a role's pane."""
        self.tmux("send-keys", "-t", self.pane(role), *keys)

    # what happened

    def entries(self, *names: str, **match: Any) -> list[Entry]:
        """The journal's entries of these names whose data has these values."""
        journal = Journal.read(self.state.journal(self.session))
        with journal:
            found = list(journal.entries(names=names or None))
        return [e for e in found if all(e.data.get(key) == value for key, value in match.items())]

    def wait(self, name: str, timeout_s: float = 30, count: int = 1, **match: Any) -> Entry:
        """The `count`th such entry, as soon as it is there."""

        def there() -> list[Entry]:
            found = self.entries(name, **match)
            return found if len(found) >= count else []

        try:
            return wait_for(there, timeout_s, f"{count} x {name} {match}")[count - 1]
        except AssertionError as e:
            raise AssertionError(f"{e}\n{self.story()}") from None

    def story(self) -> str:
        """The journal and the screens, for a failing test."""
        with suppress(Exception):
            lines = [f"{e.at:.2f} {e.kind} {e.name} {json.dumps(e.data)[:300]}" for e in self.entries()]
            screens = [f"--- {role}\n{self.seen(role)}" for role in self.config["roles"]]
            log = self.state.log.read_text() if self.state.log.exists() else ""
            return "\n".join([*lines, *screens, "--- log", log[-3000:]])
        return "(no story)"

    def log(self, role: str, *whats: str) -> list[dict[str, Any]]:
        path = self.folder / f"{role}.log"
        lines = json_lines(path)
        return [line for line in lines if not whats or line["what"] in whats]

    def submitted(self, role: str) -> list[str]:
        """The texts that a role's agent was given, in order."""
        return [line["text"] for line in self.log(role, "submitted")]

    def told(self) -> str:
        return self.told_file.read_text(encoding="utf-8") if self.told_file.exists() else ""

    def supervisor_pid(self) -> int:
        beat = wait_for(lambda: heartbeat.read(self.state), 10, "a heartbeat")
        assert beat is not None
        return beat.pid

    # the end

    def end(self) -> None:
        """`mat down`, then whatever is still there, by its pid."""
        if self.state.journal(self.session).exists():
            with suppress(subprocess.TimeoutExpired):
                self.mat("down", self.session, "--now", check=False, timeout_s=40)
        with suppress(AssertionError):
            wait_for(lambda: not self.ours(), 10, "no process left")
        for process in self.ours():
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        if self.socket.exists():
            with suppress(TmuxError):  # some tests have stopped it
                self.server.kill()

    def ours(self) -> list[psutil.Process]:
        """Guard and supervisor of this test's state folder."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                command = process.cmdline()
                ours = "matcore.engine.guard" in command or "supervise" in command
                if ours and _state_of(process.environ()) == _state_of(self.env):
                    found.append(process)
        return found


def _state_of(env: Mapping[str, str]) -> str | None:
    """What tells the state folders of two tests apart."""
    return env.get("XDG_STATE_HOME") or env.get("HOME")
