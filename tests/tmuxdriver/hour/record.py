"""Records the hour that `test_hour.py` replays: real panes of restless agents, each frame with the truth beside it.

    .venv/bin/python -m tests.tmuxdriver.hour.record [--seed 1] [--panes 12] [--minutes 5] [--to FILE]

The panes are recorded side by side, 25 times a second, on a tmux server of its own. People and mat type into them: a
person key by key and at any time, mat as a delivery does and only while nothing runs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.tmuxdriver.hour.recording import Event, PaneRecord, Recording, save
from tests.waiting import wait_for
from tmuxdriver import panes
from tmuxdriver.panes import Pane
from tmuxdriver.server import Tmux

SHOP = Path(__file__).parents[3]
EVERY_S = 0.04
SIZE = (90, 24)
PARKED_S = 66.0
"""So long after an Escape that no hook told of, until the screen alone may say that the turn is over."""
RESTS_S = 3.3
SEEN_TO_END_S = 6.0
LOOKS: tuple[tuple[str, ...], ...] = (
    (),
    ("--untitled",),
    ("--untitled", "--composer", "bordered"),
    ("--screen", "alternate"),
    ("--hooks",),
    ("--hooks", "--untitled", "--composer", "bordered"),
)
KEPT = (
    "pid", "start_time", "pane_id", "pane_pid", "pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized",
    "window_activity", "history_size", "cursor_x", "cursor_y", "cursor_flag", "session_id", "pane_dead_status",
    "session_activity", "alternate_on", "pane_width", "pane_height", "host", "pane_current_command", "pane_title",
)  # fmt: skip
STATES = {"turn-started": "busy", "answered": "busy", "dialog": "dialog", "turn-ended": "idle"}
OF_A_HOOK = ("event", "boot_s", "prompt", "outcome", "turn_started_boot_s")


@dataclass
class Subject:
    """One pane, what is typed into it, and what was seen of it."""

    tmux: Tmux
    folder: Path
    number: int
    look: tuple[str, ...]
    choice: random.Random
    began_s: float
    pane: str = ""
    events: list[Event] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)
    rows: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)
    read_to: int = 0

    @property
    def log(self) -> Path:
        return self.folder / f"{self.number}.log"

    @property
    def hooks(self) -> Path | None:
        return self.folder / f"{self.number}.hooks" if "--hooks" in self.look else None

    def start(self) -> None:
        look = [word for each in self.look for word in ((each, str(self.hooks)) if each == "--hooks" else (each,))]
        argv = [sys.executable, "-m", "tests.tmuxdriver.hour.restless", str(self.number), str(self.log), *look]
        width, height = (str(side) for side in SIZE)
        begin = ["new-session", "-d", "-P", "-F", "#{pane_id}", "-s", f"pane-{self.number}", "-x", width, "-y", height]
        self.pane = self.tmux.run([*begin, "-c", str(SHOP), "--", *argv]).strip()

    # -- what is seen ----------------------------------------------------------------------------------------------

    def saw(self, now_s: float, pane: Pane, text: str) -> None:
        rows = text.split("\n")
        changed = [
            [number, self.texts.setdefault(row, len(self.texts))]
            for number, row in enumerate(rows)
            if number >= len(self.rows) or self.rows[number] != row
        ]
        values = {name: pane.values[name] for name in KEPT}
        other = {name: value for name, value in values.items() if self.variables.get(name) != value}
        if changed or other:
            self.events.append(["f", self._ms(now_s), changed, other])
            self.rows, self.variables = rows, values

    def _ms(self, boot_s: float) -> int:
        return round((boot_s - self.began_s) * 1000)

    def told(self) -> list[dict[str, Any]]:
        """What the agent has logged so far. Called by the thread that types."""
        if self.log.exists():
            with self.log.open("rb") as file:
                file.seek(self.read_to)
                whole, end, _ = file.read().rpartition(b"\n")
            self.read_to += len(whole) + len(end)
            self.lines += [json.loads(line) for line in whole.split(b"\n") if line]
        return self.lines

    def state(self) -> str:
        """`idle`, `busy` or `dialog`, as the agent knows."""
        states = (STATES[line["what"]] for line in reversed(self.told()) if line["what"] in STATES)
        return next(states, "idle")

    # -- what is typed ---------------------------------------------------------------------------------------------

    def live(self, until_s: float) -> None:
        """Turns one after the other, until that boot time."""
        interrupts_at = self.began_s + (until_s - self.began_s) * self.choice.uniform(0.2, 0.6)
        while boot_s() < until_s:
            by_mat = self.choice.random() < 0.5
            least_s = RESTS_S if by_mat and not self.hooks else 0.3  # mat types only where it has seen rest
            time.sleep(least_s + self.choice.choice((0.0, 0.5, 2.0, 4.0, 6.0)) * self.choice.uniform(0.7, 1.3))
            text = f"task {self.choice.randrange(1000)}{self.choice.choice(('', '', ' background'))}"
            type_it = self._mat_types if by_mat else self._person_types
            type_it(text)
            if self.choice.random() < 0.15:
                time.sleep(self.choice.uniform(0.2, 2))
                if self.state() == "busy":
                    self._person_types(f"{text}, and more")
            if boot_s() > interrupts_at:
                interrupts_at = boot_s() + (600 if self.hooks else 60)
                self._interrupt()
            self._see_it_end()

    def _see_it_end(self) -> None:
        while (state := self.state()) != "idle":
            if state == "dialog":
                time.sleep(self.choice.uniform(0.5, 5))
                self._keys("Enter")
                wait_for(lambda: self.state() != "dialog", 10, "an answered dialog")
            time.sleep(0.02)

    def _interrupt(self) -> None:
        time.sleep(self.choice.uniform(0.3, 2))
        if self.state() == "busy":
            self._keys("Escape")
            time.sleep(0.3)
            if self.hooks and self.state() == "idle":  # else a dialog that had just opened took it
                time.sleep(PARKED_S)

    def _mat_types(self, text: str) -> None:
        before = self._count("submitted")
        self.events.append(["types", self._ms(boot_s())])
        name = f"b{uuid.uuid4().hex[:8]}"
        self.tmux.run(
            ["load-buffer", "-b", name, "-"], ["paste-buffer", "-p", "-r", "-d", "-b", name, "-t", self.pane],
            stdin=text,
        )  # fmt: skip
        time.sleep(self.choice.uniform(0.2, 0.3))
        self.events.append(["enters", self._ms(boot_s()), text])
        self._keys("Enter")
        wait_for(lambda: self._count("submitted") > before, 10, "a submitted text")
        time.sleep(self.choice.uniform(0.03, 0.3))
        self.events.append(["landed", self._ms(boot_s())])

    def _person_types(self, text: str) -> None:
        before = self._count("submitted")
        self.events.append(["acts", self._ms(boot_s())])
        for letter in text:
            self._keys("-l", letter)
            time.sleep(self.choice.uniform(0.01, 0.15))
        time.sleep(self.choice.uniform(0.05, 1))
        self._keys("Enter")
        if self.state() != "dialog":  # a dialog that opened meanwhile took the text, or the Enter
            with contextlib.suppress(AssertionError):
                wait_for(lambda: self._count("submitted") > before, 2)

    def _keys(self, *keys: str) -> None:
        self.tmux.run(["send-keys", "-t", self.pane, *keys])

    def _count(self, what: str) -> int:
        return sum(line["what"] == what for line in self.told())

    def _of_hook(self, data: dict[str, Any]) -> dict[str, Any]:
        """What of it `mat hook` would keep, its times since the recording began."""
        kept = {name: data[name] for name in OF_A_HOOK if data.get(name) is not None}
        return {key: round(value - self.began_s, 3) if key.endswith("boot_s") else value for key, value in kept.items()}

    # -- what it comes to --------------------------------------------------------------------------------------------

    def record(self) -> PaneRecord:
        log = self.told()
        truth: list[Event] = []
        for line in log:
            if line["what"] == "turn-started":
                truth.append(["began", self._ms(line["boot_s"])])
            if line["what"] == "turn-ended":
                truth.append(["ended", self._ms(line["boot_s"]), line["outcome"]])
        if self.hooks is not None:
            ended = [self._ms(line["boot_s"]) for line in log if line["what"] == "hook"]
            truth += [["hook", ms, self._of_hook(data)] for ms, data in zip(ended, hooks_of(self.hooks), strict=True)]
        about = {"look": list(self.look), "hooks": self.hooks is not None}
        return PaneRecord(about, list(self.texts), sorted([*self.events, *truth], key=lambda event: int(event[1])))


def hooks_of(path: Path) -> list[dict[str, Any]]:
    """What a file of hooks was told, in order."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def boot_s() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def watch(tmux: Tmux, subjects: list[Subject], stopped: threading.Event) -> None:
    by_pane = {subject.pane: subject for subject in subjects}
    while not stopped.is_set():
        start_s = boot_s()
        for pane_id, (pane, capture) in panes.capture(tmux, by_pane).items():
            by_pane[pane_id].saw(boot_s(), pane, capture.text)
        time.sleep(max(0.0, EVERY_S - (boot_s() - start_s)))


def record(seed: int, count: int, minutes: float, folder: Path) -> Recording:
    tmux = Tmux(socket=str(folder / "s"))
    began_s, wall_s = boot_s(), time.time()
    subjects = [
        Subject(tmux, folder, n, LOOKS[n % len(LOOKS)], random.Random(f"{seed} {n}"), began_s) for n in range(count)
    ]
    stopped = threading.Event()
    try:
        for subject in subjects:
            subject.start()
        with ThreadPoolExecutor(count + 1) as threads:
            watching = threads.submit(watch, tmux, subjects, stopped)
            try:
                for lived in [threads.submit(subject.live, began_s + minutes * 60) for subject in subjects]:
                    lived.result()
                time.sleep(SEEN_TO_END_S)
            finally:
                stopped.set()
            watching.result()
    finally:
        tmux.run(["kill-server"])
    version = subprocess.run(["tmux", "-V"], capture_output=True, text=True, check=True).stdout.strip()
    head = {"seed": seed, "wall_s": wall_s, "tmux": version, "minutes": minutes, "size": list(SIZE)}
    return Recording(head, [subject.record() for subject in subjects])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--panes", type=int, default=12)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--to", type=Path, default=Path(__file__).with_name("hour.xz"))
    asked = parser.parse_args()
    os.environ["PYTHONPATH"] = str(SHOP)
    with tempfile.TemporaryDirectory(prefix="mat-hour-", dir="/tmp") as folder:
        recording = record(asked.seed, asked.panes, asked.minutes, Path(folder))
    save(asked.to, recording)
    turns = sum(len(pane.turns()) for pane in recording.panes)
    frames = sum(event[0] == "f" for pane in recording.panes for event in pane.events)
    hours = sum(pane.events[-1][1] for pane in recording.panes) / 3.6e6
    sys.stdout.write(f"{hours:.2f} h, {turns} turns, {frames} frames, {asked.to.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
