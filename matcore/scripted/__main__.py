"""`python -m matcore.scripted --script FILE`: the scripted agent in a terminal, or with `--print` one headless turn."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
from pathlib import Path

from matcore.scripted import hooks, memory
from matcore.scripted.agent import Agent, Pane
from matcore.scripted.around import Around
from matcore.scripted.log import Log
from matcore.scripted.loop import run
from matcore.scripted.reading import ScriptError, load
from matcore.scripted.script import Script
from matcore.scripted.signals import Signals
from matcore.scripted.terminal import Terminal

VERSION = "1.0"


def main(argv: list[str] | None = None) -> int:
    """Exit codes: 0 left in good order, 1 the session can't be had or the turn failed, 2 usage or script."""
    asked = _arguments().parse_args(argv)
    cwd = _cwd()
    role = asked.role or os.environ.get("MAT_ROLE", "")
    log_path = asked.log or os.environ.get("MAT_SCRIPTED_LOG")
    try:
        script = load(Path(asked.script))
        by_event = hooks.commands(script.options.hooks, asked.hooks)
        prompt = Path(asked.prompt).read_bytes() if asked.prompt else None
        log = Log(Path(log_path) if log_path else None, role)
    except (ScriptError, OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    try:
        kept_in = memory.folder(asked.state)
        resumed = asked.resume is not None
        if resumed:
            session = memory.Memory.resumed(kept_in, asked.resume)
        else:
            session = memory.Memory.opened(kept_in, asked.session_id)
    except (memory.SessionError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    log.write(
        "start",
        session=session.session,
        resumed=resumed,
        argv=sys.argv[1:],
        cwd=cwd,
        prompt_sha256=None if prompt is None else hashlib.sha256(prompt).hexdigest(),
    )
    around = Around(role, cwd, log, hooks.Hooks(by_event, log))
    if asked.print:
        from matcore.scripted import headless  # not needed before the first paint

        return headless.run(headless.Headless(script, session, around, Signals()), as_json=asked.json)
    return _in_terminal(script, session, around)


def _in_terminal(script: Script, session: memory.Memory, around: Around) -> int:
    if not (os.isatty(0) and os.isatty(1)):
        sys.stderr.write("The scripted agent needs a terminal. Use --print for one turn without it.\n")
        return 2
    terminal = Terminal(Signals())
    terminal.open()
    agent = Agent(Pane(script, session, around), time.monotonic())
    code = 1
    try:
        code = run(agent, terminal)
    finally:
        agent.close()
        terminal.close()
        around.hooks.close(0.0 if code >= 128 else 2.0)
    return code


def _cwd() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # the folder was removed
        return os.environ.get("PWD", "?")


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m matcore.scripted", description=__doc__, allow_abbrev=False)
    parser.add_argument("--script", required=True, metavar="FILE", help="the YAML script to play")
    parser.add_argument("--role", metavar="NAME", help="for {{role}} and the log; default $MAT_ROLE")
    parser.add_argument("--prompt", metavar="FILE", help="the role prompt; only its digest is kept, in the log")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--session-id", metavar="ID", help="open a session with this id")
    which.add_argument("--resume", metavar="ID", help="go on with a session")
    parser.add_argument("--state", metavar="DIR", help="where sessions are kept; default $MAT_DIR/scripted")
    parser.add_argument("--log", metavar="FILE", help="JSON lines of all that happened; default $MAT_SCRIPTED_LOG")
    parser.add_argument("--hooks", metavar="COMMAND", help="for each event, like 'mat hook scripted {event}'")
    parser.add_argument("--print", action="store_true", help="read one message from stdin, print the answer, exit")
    parser.add_argument("--json", action="store_true", help="with --print: the result as one JSON object")
    parser.add_argument("--version", action="version", version=f"scripted {VERSION}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
