"""The one loop of the program in a terminal: waits for keys, output, time and signals, and paints what has changed."""

from __future__ import annotations

import signal
import time

from matcore.scripted import view
from matcore.scripted.agent import Agent
from matcore.scripted.keys import Keys
from matcore.scripted.painter import Painter
from matcore.scripted.signals import Signals, Told
from matcore.scripted.terminal import Closed, Terminal

ESCAPE_S = 0.05
PASTE_S = 1.0


def run(agent: Agent, terminal: Terminal) -> int:
    """Until the agent leaves, the terminal is gone, or a signal says so. Returns the exit code."""
    painter = Painter(alternate=agent.pane.script.options.screen == "alternate")
    signals = terminal.signals
    log = agent.pane.around.log
    try:
        terminal.write(painter.begin())
        _until_left(agent, terminal, painter, signals)
        if signals.ending is not signal.SIGHUP:
            terminal.write(painter.end())
    except Closed:
        log.write("exit", why="terminal closed")
        return 128 + signal.SIGHUP
    except Told:
        pass
    if signals.ending is not None:
        log.write("exit", why=signals.ending.name)
        return 128 + signals.ending
    log.write("exit", why="left", code=agent.pane.leave)
    return agent.pane.leave or 0


def _until_left(agent: Agent, terminal: Terminal, painter: Painter, signals: Signals) -> None:
    keys = Keys()
    last_read = 0.0
    while signals.ending is None:
        now = time.monotonic()
        agent.advance(now)
        _paint(agent, terminal, painter, now)
        if agent.pane.leave is not None:
            return
        if agent.pane.hung:
            signals.wait([], None)  # deaf and still, but a hang-up or a termination ends it
            continue
        held_s = PASTE_S if keys.pasting else ESCAPE_S
        wait = agent.wait_s()
        if keys.pending:
            wait = held_s if wait is None else min(wait, held_s)
        ready = signals.wait([terminal.source, *agent.fds()], wait)
        now = time.monotonic()
        if terminal.source in ready:
            data = terminal.read()
            agent.pane.around.log.received(data)
            last_read = now
            agent.feed(keys.feed(data), now)
        elif keys.pending and now - last_read >= held_s:
            agent.feed(keys.flush(), now)


def _paint(agent: Agent, terminal: Terminal, painter: Painter, now: float) -> None:
    seen = agent.view(now)
    if seen is None or agent.pane.hung:
        return
    options = agent.pane.script.options
    columns, rows = size = terminal.size
    title = view.title(options.title, seen) if options.title_state else options.title
    terminal.write(painter.paint(agent.pane.blocks, view.frame(seen, columns, rows), size, title))
