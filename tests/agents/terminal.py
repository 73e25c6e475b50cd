"""A tmux server of one's own with one pane, for looking at a real agent program the way mat does."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.waiting import wait_for

VARIABLES = {
    "title": "pane_title",
    "cmd": "pane_current_command",
    "cur": "cursor_x},#{cursor_y",
    "flag": "cursor_flag",
    "alt": "alternate_on",
    "mode": "pane_in_mode",
    "dead": "pane_dead",
    "st": "pane_dead_status",
    "hist": "history_size",
    "size": "pane_width}x#{pane_height",
}
CONFIGURATION = """\
set -g remain-on-exit on
set -g status off
set -g exit-empty off
set -s escape-time 0
"""


@dataclass(frozen=True, slots=True)
class Terminal:
    """One pane. `prefix` is an argv that comes before tmux's own (a namespace's); `env` is all that the pane sees."""

    socket: Path
    prefix: tuple[str, ...]
    env: Mapping[str, str]

    def tmux(self, *args: str, stdin: str | None = None) -> str:
        argv = [*self.prefix, "tmux", "-u", "-S", str(self.socket), *args]
        done = subprocess.run(
            argv, input=stdin, env=dict(self.env), capture_output=True, encoding="utf-8", errors="replace", timeout=30
        )
        assert done.returncode == 0, f"{argv}: {done.stderr}"
        return done.stdout

    def start(self, argv: Sequence[str], cwd: Path, size: tuple[int, int] = (120, 40)) -> None:
        configuration = self.socket.with_suffix(".conf")
        configuration.write_text(CONFIGURATION, encoding="utf-8")
        width, height = (str(number) for number in size)
        place = ("-d", "-s", "lab", "-c", str(cwd), "-x", width, "-y", height)
        self.tmux("-f", str(configuration), "new-session", *place, "--", *argv)

    def screen(self, *, styled: bool = False) -> str:
        return self.tmux("capture-pane", "-p", *(["-e"] if styled else []), "-t", "=lab:")

    def both_screens(self) -> tuple[str, str]:
        """The plain screen and the styled one, of one moment."""
        look = ("capture-pane", "-p", "-t", "=lab:")
        rows = self.tmux(*look, ";", *look, "-e").splitlines(keepends=True)
        middle = len(rows) // 2
        return "".join(rows[:middle]), "".join(rows[middle:])

    def variables(self) -> dict[str, str]:
        parts = "\n".join(f"{name}=#{{{format_}}}" for name, format_ in VARIABLES.items())
        lines = self.tmux("display-message", "-p", "-t", "=lab:", parts).splitlines()
        return dict(line.split("=", 1) for line in lines)

    def paste(self, text: str) -> None:
        self.tmux("load-buffer", "-b", "lab", "-", stdin=text)
        self.tmux("paste-buffer", "-p", "-r", "-d", "-b", "lab", "-t", "=lab:")

    def keys(self, *keys: str) -> None:
        self.tmux("send-keys", "-t", "=lab:", *keys)

    def submit(self, text: str) -> None:
        self.paste(text)
        self.keys("Enter")

    def resize(self, width: int, height: int) -> None:
        self.tmux("resize-window", "-t", "=lab:", "-x", str(width), "-y", str(height))

    def wait_for(self, pattern: str, timeout_s: float = 60.0) -> str:
        """The screen as soon as `pattern` is found on it."""

        def found() -> str | None:
            screen = self.screen()
            return screen if re.search(pattern, screen, re.MULTILINE) else None

        return wait_for(found, timeout_s, f"{pattern!r} on the screen") or ""

    def wait_until_gone(self, pattern: str, timeout_s: float = 60.0) -> str:
        def gone() -> str | None:
            screen = self.screen()
            return None if re.search(pattern, screen, re.MULTILINE) else screen

        return wait_for(gone, timeout_s, f"{pattern!r} off the screen") or ""

    def stop(self) -> None:
        """End the server, and with it what runs in the pane. Fine when there is none."""
        argv = [*self.prefix, "tmux", "-S", str(self.socket), "kill-server"]
        subprocess.run(argv, env=dict(self.env), capture_output=True, timeout=30, check=False)
