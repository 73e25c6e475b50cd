"""Several sessions of scripted agents under one supervisor and on one tmux server, and what agents do in them."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from tests.duo import Duo
from tests.waiting import wait_for

QUIET = [{"work": 0.2}, {"print": "Noted."}]


class Many:
    """`duos` share the first one's state folder, socket and notifications."""

    def __init__(self, folder: Path, *names: str, window: float = 60.0, **config: Any) -> None:
        self.duos = [Duo(folder / name, session=name, window=window, **config) for name in names]
        first = self.duos[0]
        for duo in self.duos:
            duo.socket, duo.server, duo.state, duo.env = first.socket, first.server, first.state, first.env
            duo.config["tmux"] = {"socket": str(first.socket)}
            duo.config["notify"] = config.get("notify") or first.config["notify"]
            for role in ("dev", "review"):
                duo.role(role, {"default": QUIET}, prompt="duo-dev")

    def up(self) -> None:
        for duo in self.duos:
            duo.up()
        for duo in self.duos:
            for role in duo.config["roles"]:
                duo.wait("role.idle", 30, role=role)

    def end(self) -> None:
        """At once, and by pid."""
        for process in [*self.duos[0].ours(), *servers(self.duos[0])]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()
                process.kill()


def servers(duo: Duo) -> list[psutil.Process]:
    """The tmux server of that socket."""
    return [
        process
        for process in psutil.process_iter(["name", "cmdline"])
        if str(duo.socket) in (process.info["cmdline"] or []) and process.info["name"].startswith("tmux")
    ]


def server_pid(duo: Duo) -> int:
    return int(duo.tmux("display-message", "-p", "#{pid}"))


def env_of(duo: Duo, role: str) -> dict[str, str]:
    """The environment of a role's commands."""
    return {**duo.env, "MAT_SESSION": duo.session, "MAT_ROLE": role, "MAT_DIR": str(duo.places.root)}


def hand_over(duo: Duo, sender: str, to: str, text: str) -> str:
    """What the agent `sender` would do with `send-relay`: the relay's id."""
    path = duo.work / f"{sender}-{to}-{time.monotonic_ns()}.md"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [str(Path(sys.executable).parent / "send-relay"), to, str(path)],
        cwd=duo.work, env=env_of(duo, sender), capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return str(re.findall(r"r-\d{6}", done.stdout)[0])


def copies(duo: Duo, role: str, relay: str) -> list[str]:
    """The prompts of a role that carry that relay."""
    return [text for text in duo.submitted(role) if f"[relay {relay} from " in text]


def arrives(duo: Duo, role: str, relay: str, within_s: float = 30) -> None:
    """Waits until the agent has been given that relay."""
    try:
        wait_for(lambda: copies(duo, role, relay), within_s, f"{relay} at {role}")
    except AssertionError as e:
        raise AssertionError(f"{e}\n{duo.story()}") from None


def quiet_for(seconds: float) -> None:
    """For promises of silence: as long as it would have taken, and more."""
    time.sleep(seconds)


def kill_supervisor(duo: Duo) -> None:
    """SIGKILL, and wait for the one that the guard starts."""
    before = duo.supervisor_pid()
    with contextlib.suppress(ProcessLookupError):
        os.kill(before, 9)
    wait_for(lambda: duo.supervisor_pid() != before, 30, "another supervisor")
