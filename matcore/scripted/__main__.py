"""`python -m matcore.scripted --script FILE`: the scripted agent in a terminal, or with `--print` one headless turn."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
from pathlib import Path

from matcore.scripted import hooks, memory
from matcore.scripted.log import Log
from matcore.scripted.reading import ScriptError, load
from matcore.scripted.script import Script

VERSION = "1.0"


def main(argv: list[str] | None = None) -> int:
    """Exit codes: 0 left in good order, 1 the session can't be had or the turn failed, 2 usage or script."""
    asked = _arguments().parse_args(argv)
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
        cwd=str(Path.cwd()),
        prompt_sha256=None if prompt is None else hashlib.sha256(prompt).hexdigest(),
    )
    told = hooks.Hooks(by_event, log)
    if asked.print:
        from matcore.scripted import headless  # not needed before the first paint

        return headless.run(script, session, headless.Surroundings(role, log, told, as_json=asked.json))
    return _in_terminal(script, session, role, log, told)


def _in_terminal(script: Script, session: memory.Memory, role: str, log: Log, told: hooks.Hooks) -> int:
    from matcore.scripted.agent import Agent, Around
    from matcore.scripted.loop import run
    from matcore.scripted.terminal import Terminal

    if not (os.isatty(0) and os.isatty(1)):
        sys.stderr.write("The scripted agent needs a terminal. Use --print for one turn without it.\n")
        return 2
    terminal = Terminal()
    terminal.open()
    agent = Agent(script, session, Around(role, log, told, time.time), time.monotonic())
    code = 1
    try:
        code = run(agent, terminal, log)
    finally:
        agent.close()
        terminal.close()
        told.close(0.0 if code >= 128 else 2.0)
    return code


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
