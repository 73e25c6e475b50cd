"""How soon a headless turn starts: from the return of an agent's `send-relay` to the start of the other's process.

`python -m benchmarks.handover [--times 60]`. Asked for by `quality.md`: a median of 30 ms. A baton duo with the real
supervisor and worker, in a folder of its own; its agents are a shell script that writes down when it started, so a
figure holds the start of a shell and of `date`, whose floor is measured in turns with it. Each hand-over waits for the
turn before to have ended, and a moment longer.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import yaml

from benchmarks._figures import load, machine, say
from matcore.engine import launch
from matcore.engine.book import Book
from matcore.engine.config import load as load_config
from matcore.places import SessionPlaces, StatePlaces

LIMIT_MS = 30.0
PATIENCE_S = 30.0
PAUSE_S = 0.3
SESSION = "bench-duo"
AGENT = """#!/bin/sh
date +%s%N >>{starts}
cat >/dev/null
echo '{{"is_error": false}}'
"""
PROFILE = {
    "name": "bench",
    "recorded": "1",
    "process": ["bench-agent"],
    "launch": {"argv": ["bench-agent"]},
    "composer": {"mark": "^> ?"},
}


class Duo:
    """A baton duo, up, whose starts of turns stand in a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = StatePlaces(folder / "state" / "mat")
        self.starts = folder / "starts"
        self.starts.touch()
        os.environ |= {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
        os.environ.pop("XDG_CONFIG_HOME", None)
        self.agent = folder / "bench-agent"
        self.agent.write_text(AGENT.format(starts=self.starts), encoding="utf-8")
        self.agent.chmod(0o755)
        profiles = folder / ".config" / "mat" / "agents" / "backends"
        profiles.mkdir(parents=True)
        words = [str(self.agent)]
        profile = {**PROFILE, "headless": {"fresh": words, "resume": words[:], "failed": [{"at": "is_error"}]}}
        (profiles / "bench.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")
        self.work = folder / "work"
        self.work.mkdir()
        self.places = SessionPlaces.of(self.work, SESSION)

    def up(self) -> None:
        roles = {role: {"backend": "bench", "prompt": f"duo-{role}"} for role in ("dev", "review")}
        told = [{"command": ["tee", "-a", str(self.folder / "told.txt")]}]
        config = {"session": SESSION, "driver": "baton", "roles": roles, "notify": told}
        (self.work / "duo.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
        launch.up(self.state, load_config(self.work / "duo.yaml"), self.work)

    def is_free(self) -> bool:
        book = Book.read(self.state.journal(SESSION))
        book.close()
        waits = [relay for relay in book.ledger.relays.values() if relay.status == "pending"]
        return book.ledger.status("review") == "idle" and not waits

    def started_ns(self) -> list[int]:
        return [int(line) for line in self.starts.read_text().split()]

    def hand_over(self, number: int) -> float:
        """Milliseconds from the return of `send-relay` to the start of the turn's process."""
        handoff = self.work / "handoff.md"
        handoff.write_text(f"# Turn {number}\n", encoding="utf-8")
        env = {**os.environ, "MAT_SESSION": SESSION, "MAT_ROLE": "dev", "MAT_DIR": str(self.places.root)}
        before = len(self.started_ns())
        argv = [str(Path(sys.executable).with_name("send-relay")), "review", str(handoff)]
        subprocess.run(argv, cwd=self.work, env=env, check=True, stdout=subprocess.DEVNULL)
        returned_ns = time.time_ns()
        until(lambda: len(self.started_ns()) > before)
        return (self.started_ns()[before] - returned_ns) / 1e6

    def floor(self) -> float:
        """Milliseconds until the agent's script, started by us, has said when that was."""
        start_ns = time.time_ns()
        subprocess.run([str(self.agent)], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return (self.started_ns()[-1] - start_ns) / 1e6

    def end(self) -> None:
        mat = str(Path(sys.executable).parent / "mat")
        subprocess.run([mat, "down", SESSION, "--now"], cwd=self.work, check=False, capture_output=True)
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get("XDG_STATE_HOME") == str(self.folder / "state") and process.pid != os.getpid():
                    process.kill()


def until(what: object) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not what():  # type: ignore[operator]
        if time.monotonic() > end_s:
            raise TimeoutError("no turn was started")
        time.sleep(0.01)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=60)
    given = parser.parse_args()
    print(machine())
    folder = Path(tempfile.mkdtemp(prefix="mat-h-", dir="/var/tmp"))
    duo = Duo(folder)
    try:
        duo.up()
        until(duo.is_free)
        took, floor = [], []
        for number in range(given.times):
            took.append(duo.hand_over(number))
            until(duo.is_free)
            floor.append(duo.floor())
            time.sleep(PAUSE_S)
        say("floor: our own start of the script", floor)
        say("send-relay returns → the turn's process", took, "ms", LIMIT_MS)
        print(f"load {load()}")
    finally:
        duo.end()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
