"""The program in a bare pty: its bytes, its signals, its end. tmux comes in `test_tmux.py`."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.waiting import json_lines, wait_for

PROGRAM = [sys.executable, "-m", "matcore.scripted", "--script", "script.yaml", "--log", "log.jsonl"]


class Pty:
    """The program with a pty as its controlling terminal. `seen` is all that it has written."""

    def __init__(self, folder: Path, script: str) -> None:
        self.folder = folder
        (folder / "script.yaml").write_text(script)
        self.master, slave = pty.openpty()
        self.resize(80, 24)
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            ["setsid", "-c", "-w", *PROGRAM], cwd=folder, stdin=slave, stdout=slave, stderr=slave
        )
        self.slave = slave
        self.seen = ""

    @property
    def program(self) -> psutil.Process:
        """The agent itself, below `setsid`."""
        own = psutil.Process(self.process.pid)
        return next((child for child in own.children() if "matcore.scripted" in child.cmdline()), own)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str | bytes) -> None:
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    def read(self) -> str:
        """All that has come so far."""
        with contextlib.suppress(OSError):
            while select.select([self.master], [], [], 0)[0]:
                self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
        return self.seen

    def wait_for(self, text: str) -> None:
        wait_for(lambda: text in self.read(), what=f"{text!r} on the screen")

    def logged(self, what: str) -> list[dict[str, Any]]:
        log = self.folder / "log.jsonl"
        records = json_lines(log)
        return [record for record in records if record["what"] == what]

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.master)
        os.close(self.slave)
        if self.process.poll() is None:
            with contextlib.suppress(psutil.Error):
                self.program.kill()
        self.process.wait(10)


@pytest.fixture
def terminals() -> Iterator[list[Pty]]:
    opened: list[Pty] = []
    yield opened
    for each in opened:
        each.close()


def start(terminals: list[Pty], folder: Path, script: str = "") -> Pty:
    terminals.append(Pty(folder, script))
    terminals[-1].wait_for("Ask me")
    return terminals[-1]


def test_it_asks_for_framed_pastes_and_puts_the_terminal_back(terminals: list[Pty], tmp_path: Path) -> None:
    """Raw while it runs; after `/exit` the tty is as it was, frames off."""
    agent = start(terminals, tmp_path)
    assert "\x1b[?2004h" in agent.seen
    assert not termios.tcgetattr(agent.slave)[3] & termios.ICANON
    agent.type("/exit\r")
    assert agent.process.wait(10) == 0
    assert agent.read().endswith("\r\n")
    assert "\x1b[?2004l" in agent.seen
    assert termios.tcgetattr(agent.slave) == agent.before


def test_the_alternate_screen_is_left_again(terminals: list[Pty], tmp_path: Path) -> None:
    """`screen: alternate`."""
    agent = start(terminals, tmp_path, "screen: alternate")
    agent.type("\x03")
    agent.wait_for("Press Ctrl-C again")
    agent.type("\x03")
    assert agent.process.wait(10) == 0
    agent.read()
    assert agent.seen.index("\x1b[?1049h") < agent.seen.index("\x1b[?1049l")


def test_it_is_still_while_idle(terminals: list[Pty], tmp_path: Path) -> None:
    """Not one byte is written after a turn until something happens."""
    agent = start(terminals, tmp_path, "default: [{print: answered}]")
    agent.type("x\r")
    agent.wait_for("Worked for")
    agent.type("y")
    agent.wait_for("> y")
    length = len(agent.seen)
    assert not select.select([agent.master], [], [], 0.5)[0]
    assert len(agent.seen) == length


def test_a_hang_up_ends_it_with_its_children(terminals: list[Pty], tmp_path: Path) -> None:
    """Also in the middle of a command."""
    agent = start(terminals, tmp_path, "default: [{run: 'sleep 60 & echo $! > child; wait'}]")
    agent.type("x\r")
    child = tmp_path / "child"
    pid = int(wait_for(lambda: child.exists() and child.read_text().strip()))
    agent.program.send_signal(signal.SIGHUP)
    assert agent.process.wait(10) == 128 + signal.SIGHUP
    wait_for(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie")
    assert agent.logged("exit")[0]["why"] == "SIGHUP"


@pytest.mark.parametrize("script", ["", "default: [{hang: true}]", "default: [{work: 60}]"])
def test_a_closed_terminal_ends_it(script: str, terminals: list[Pty], tmp_path: Path) -> None:
    """At once, whatever it is doing, even hung."""
    agent = start(terminals, tmp_path, script)
    agent.type("x\r")
    wait_for(lambda: agent.logged("turn-started"))
    program = agent.program
    os.close(agent.master)
    wait_for(lambda: not program.is_running() or program.status() == "zombie", what="the end of the program")


def test_a_hung_program_neither_reads_nor_paints(terminals: list[Pty], tmp_path: Path) -> None:
    """It looks busy for ever, and a termination still ends it."""
    agent = start(terminals, tmp_path, "default: [{hang: true}]")
    agent.type("x\r")
    wait_for(lambda: agent.logged("hang"))
    agent.wait_for("Working (0s")
    length = len(agent.read())
    agent.type("more\r")
    agent.resize(60, 20)
    assert not select.select([agent.master], [], [], 0.3)[0]
    assert len(agent.seen) == length
    assert len(agent.logged("bytes")) == 1
    agent.program.terminate()
    assert agent.process.wait(10) == 128 + signal.SIGTERM


@pytest.mark.parametrize(("step", "code"), [("crash: {code: 3}", 3), ("exit: 5", 5)])
def test_it_ends_as_the_script_says(step: str, code: int, terminals: list[Pty], tmp_path: Path) -> None:
    """On the spot or in good order."""
    agent = start(terminals, tmp_path, f"default: [{{{step}}}]")
    agent.type("x\r")
    assert agent.process.wait(10) == code
    assert ("\x1b[?2004l" in agent.read()) == step.startswith("exit")


def test_every_byte_is_logged(terminals: list[Pty], tmp_path: Path) -> None:
    """In the order in which it came, so that a test can say that nothing was typed."""
    agent = start(terminals, tmp_path)
    assert agent.logged("bytes") == []
    agent.type(b"\x1b[200~a paste\x1b[201~")
    agent.type(b"\xff")
    wait_for(lambda: "".join(record["text"] for record in agent.logged("bytes")) == "\x1b[200~a paste\x1b[201~\\xff")
    assert sum(record["count"] for record in agent.logged("bytes")) == 20


def test_garbage_does_not_end_it(terminals: list[Pty], tmp_path: Path) -> None:
    """Random bytes, at random sizes of the screen; afterwards a message is answered."""
    agent = start(terminals, tmp_path, "rules: [{when: after all, steps: [{print: still here}]}]")
    chance = random.Random(11)
    harmful = {3, 0x21}  # Ctrl-C, and commands that would be run
    for n in range(40):
        agent.type(bytes(byte for byte in (chance.randrange(256) for _ in range(200)) if byte not in harmful))
        agent.resize(chance.randrange(1, 90), chance.randrange(1, 30))
        agent.read()
        assert agent.process.poll() is None, n
    agent.resize(80, 24)
    wait_for(lambda: agent.read() and agent.logged("bytes"))

    def answered() -> bool:
        agent.type("\x1b[201~\x15after all\r")
        select.select([agent.master], [], [], 0.3)
        return "still here" in agent.read()

    wait_for(answered, timeout_s=20, what="an answer after the garbage")


def test_a_large_paste_arrives_whole(terminals: list[Pty], tmp_path: Path) -> None:
    """200 KB in one frame, one submission."""
    agent = start(terminals, tmp_path)
    text = "".join(f"line {n} äöü\n" for n in range(14_000))
    data = f"\x1b[200~{text}\x1b[201~".encode()
    while data:
        data = data[os.write(agent.master, data[:2048]) :]
        agent.read()
    agent.wait_for("[Pasted text #1 +14000 lines]")

    def submitted() -> list[dict[str, Any]]:
        agent.type("\r")
        return agent.logged("submitted")

    assert [record["text"] for record in wait_for(submitted)] == [text]
