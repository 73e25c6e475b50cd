"""The one loop of the program in a terminal: waits for keys, output, time and signals, and paints what has changed."""

from __future__ import annotations

import os
import select
import signal
import time
from types import FrameType

from matcore.scripted import view
from matcore.scripted.agent import Agent
from matcore.scripted.keys import Keys
from matcore.scripted.log import Log
from matcore.scripted.painter import Painter
from matcore.scripted.terminal import Closed, Terminal

ESCAPE_S = 0.05
PASTE_S = 1.0


class Told(Exception):
    """A signal that ends the program."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def run(agent: Agent, terminal: Terminal, log: Log) -> int:
    """Until the agent leaves, the terminal is gone, or a signal says so. Returns the exit code."""
    painter = Painter(alternate=agent.script.options.screen == "alternate")
    wake, waker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGWINCH, _woken)
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, _told)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        terminal.write(painter.begin())
        _until_left(agent, terminal, painter, log, wake)
        if agent.hung:
            _hang()
        terminal.write(painter.end())
    except Closed:
        log.write("exit", why="terminal closed")
        return 129
    except Told as told:
        log.write("exit", why=signal.Signals(told.number).name)
        if told.number == signal.SIGTERM:
            terminal.write(painter.end())
        return 128 + told.number
    else:
        log.write("exit", why="left", code=agent.leave)
        return agent.leave or 0


def _until_left(agent: Agent, terminal: Terminal, painter: Painter, log: Log, wake: int) -> None:
    keys = Keys()
    while True:
        now = time.monotonic()
        agent.advance(now)
        _paint(agent, terminal, painter, now)
        if agent.leave is not None or agent.hung:
            return
        wait = agent.wait_s()
        if keys.pending:
            held_s = PASTE_S if keys.pasting else ESCAPE_S
            wait = held_s if wait is None else min(wait, held_s)
        ready, _, _ = select.select([terminal.source, wake, *agent.fds()], [], [], wait)
        if wake in ready:
            os.read(wake, 512)
        now = time.monotonic()
        if terminal.source in ready:
            data = terminal.read()
            log.received(data)
            last_read = now
            agent.feed(keys.feed(data), now)
        elif keys.pending and now - last_read >= (PASTE_S if keys.pasting else ESCAPE_S):
            agent.feed(keys.flush(), now)


def _paint(agent: Agent, terminal: Terminal, painter: Painter, now: float) -> None:
    seen = agent.view(now)
    if seen is None:
        return
    options = agent.script.options
    columns, rows = size = terminal.size
    title = view.title(options.title, seen) if options.title_state else options.title
    terminal.write(painter.paint(agent.blocks, view.frame(seen, columns, rows), size, title))


def _hang() -> None:
    """Deaf and still, but a hang-up or a termination still ends it."""
    signal.set_wakeup_fd(-1)
    while True:
        signal.pause()


def _woken(_number: int, _frame: FrameType | None) -> None:
    """The wake-up descriptor says it all."""


def _told(number: int, _frame: FrameType | None) -> None:
    raise Told(number)
