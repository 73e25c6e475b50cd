"""The program in a real tmux, on a socket of the test's own: what capture-pane, title and cursor say."""

from __future__ import annotations

import shlex
import subprocess
import sys
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import json_lines, wait_for

pytestmark = pytest.mark.live

RULE = "─" * 80
DRAFT = "a draft that is long enough to be wrapped at forty columns"


class Pane:
    """One pane with the program in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tmux = ["tmux", "-u", "-L", f"mat-test-{uuid.uuid4().hex[:12]}", "-f", "/dev/null"]

    def tmux(self, *words: str, stdin: str | None = None) -> str:
        argv = [*self._tmux, *words]
        return subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=20, check=True).stdout

    def start(self, script: str, size: tuple[int, int] = (80, 24)) -> None:
        settled = script if "swallow_enter_ms" in script else f"swallow_enter_ms: 0\n{script}"
        (self.folder / "script.yaml").write_text(settled)
        argv = [
            sys.executable,
            "-m",
            "matcore.scripted",
            "--script",
            "script.yaml",
            "--log",
            "log.jsonl",
            "--role",
            "dev",
        ]
        command = f"cd {shlex.quote(str(self.folder))} && exec {shlex.join(argv)}"
        columns, rows = map(str, size)
        self.tmux("new-session", "-d", "-x", columns, "-y", rows, command, ";", "set-option", "remain-on-exit", "on")
        self.wait_for("Ask me to do anything")

    @property
    def rows(self) -> list[str]:
        return self.tmux("capture-pane", "-p").rstrip("\n").split("\n")

    @property
    def screen(self) -> str:
        return "\n".join(self.rows)

    def told(self, variable: str) -> str:
        return self.tmux("display-message", "-p", f"#{{{variable}}}").rstrip("\n")

    def wait_for(self, text: str) -> None:
        wait_for(lambda: text in self.screen, what=f"{text!r} in the pane")

    def paste(self, text: str) -> None:
        self.tmux("load-buffer", "-b", "ours", "-", stdin=text)
        self.tmux("paste-buffer", "-p", "-r", "-d", "-b", "ours")

    def say(self, text: str) -> None:
        """Pastes, sees it in the composer, presses Enter once."""
        self.paste(text)
        self.wait_for(f"> {text.splitlines()[0]}")
        self.tmux("send-keys", "Enter")
        wait_for(lambda: any(record["text"] == text for record in self.logged("submitted")))

    def resize(self, columns: int, rows: int) -> None:
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def logged(self, what: str) -> list[dict[str, Any]]:
        log = self.folder / "log.jsonl"
        records = json_lines(log)
        return [record for record in records if record["what"] == what]

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, timeout=20, check=False)


def ends_with(pane: Pane, rows: list[str]) -> bool:
    return pane.rows[-len(rows) :] == rows


@pytest.fixture
def pane(tmp_path: Path) -> Iterator[Pane]:
    pane = Pane(tmp_path)
    yield pane
    pane.close()


def test_an_idle_screen_in_tmux(pane: Pane) -> None:
    """Composer between rules, cursor in it, dim suggestion, footer, title; nothing was typed."""
    pane.start("")
    wait_for(lambda: pane.told("pane_title") == "scripted")
    assert pane.rows[-4:] == [RULE, "> Ask me to do anything", RULE, "  ? for shortcuts"]
    assert "\x1b[2mAsk me to do anything" in pane.tmux("capture-pane", "-p", "-e")
    place = (pane.told("cursor_x"), pane.told("cursor_y"), pane.told("cursor_flag"), pane.told("alternate_on"))
    assert place == ("2", str(len(pane.rows) - 3), "1", "0")
    assert pane.logged("bytes") == []


@pytest.mark.parametrize("screen", ["inline", "alternate"])
def test_a_turn_in_tmux(screen: str, pane: Pane) -> None:
    """Pasted, submitted once, busy by title and status row, answered, idle again."""
    pane.start(f"screen: {screen}\ndefault: [{{work: 1.5}}, {{run: echo hi}}, {{print: done}}]")
    pane.say("[relay r-000012 from dev]\nline two")
    pane.wait_for("Working (1s - esc to interrupt)")
    assert pane.told("pane_title") in ("⠂ scripted", "⠐ scripted")
    pane.wait_for("Worked for 1s")
    wait_for(lambda: pane.told("pane_title") == "scripted")
    text = pane.screen
    assert "> [relay r-000012 from dev]\n  line two" in text
    assert "• Ran echo hi\n  └ hi" in text
    assert "Working (" not in text
    assert pane.told("alternate_on") == ("1" if screen == "alternate" else "0")
    assert [record["text"] for record in pane.logged("submitted")] == ["[relay r-000012 from dev]\nline two"]


def test_an_enter_at_once_is_swallowed_in_tmux(pane: Pane) -> None:
    """The text stays in the composer until a later Enter."""
    pane.start("swallow_enter_ms: 3000")
    pane.paste("a relay")
    pane.tmux("send-keys", "Enter")
    wait_for(lambda: pane.logged("swallowed-enter"))
    assert "> a relay" in pane.rows
    assert pane.logged("submitted") == []


def test_a_dialog_in_tmux(pane: Pane) -> None:
    """Title and hidden cursor say so, a paste is dropped, Enter approves."""
    pane.start("default: [{ask: {permission: touch granted}}]")
    pane.say("go")
    pane.wait_for(" > 1. Yes, proceed")
    wait_for(lambda: pane.told("pane_title") == "[!] scripted")
    assert pane.told("cursor_flag") == "0"
    pane.paste("a relay")
    wait_for(lambda: pane.logged("discarded"))
    pane.tmux("send-keys", "Enter")
    wait_for(lambda: pane.logged("answered"))
    pane.wait_for("Ran touch granted")
    assert (pane.folder / "granted").exists()
    assert [record["text"] for record in pane.logged("submitted")] == ["go"]


@pytest.mark.parametrize("screen", ["inline", "alternate"])
def test_resizing_in_tmux(screen: str, pane: Pane) -> None:
    """At each size the composer is whole, exactly once, with the cursor in it."""
    pane.start(f"screen: {screen}\ndefault: [{{flood: {{lines: 60}}}}]")
    pane.say("go")
    pane.wait_for("Worked for")
    pane.paste(DRAFT)
    for columns, rows in ((40, 24), (120, 30), (41, 10), (80, 24)):
        pane.resize(columns, rows)
        draft = [f"> {DRAFT[: columns - 2]}", *([f"  {DRAFT[columns - 2 :]}"] if len(DRAFT) > columns - 2 else [])]
        rule = "─" * columns
        whole = [rule, *draft, rule, "  ? for shortcuts"]
        wait_for(partial(ends_with, pane, whole), what=f"the composer at {columns} columns")
        assert pane.rows.count(rule) == 2
        assert "flood line 60 of 60" in pane.screen or rows == 10
        assert int(pane.told("cursor_y")) == len(pane.rows) - 3


def test_finished_rows_are_in_the_history_once(pane: Pane) -> None:
    """Inline, what scrolls away is kept by the terminal, without spinners and composers in between."""
    pane.start("default: [{work: 0.5}, {flood: {lines: 100}}]")
    pane.say("go")
    pane.wait_for("Worked for")
    history = pane.tmux("capture-pane", "-p", "-S", "-").split("\n")
    flood = [row[2:] for row in history if "flood line" in row]
    assert flood == [f"flood line {n} of 100" for n in range(1, 101)]
    assert not [row for row in history if "esc to interrupt" in row]
    assert history.count(RULE) == 2


def test_a_crash_leaves_a_dead_pane(pane: Pane) -> None:
    """With the exit code that its log names: tmux 3.3a does not always take the dead child off, and then knows none."""
    pane.start("default: [{crash: {code: 3}}]")
    pane.say("go")
    wait_for(lambda: pane.told("pane_dead") == "1")
    assert [record["code"] for record in pane.logged("crash")] == [3]
    assert pane.told("pane_dead_status") in ("3", "")
