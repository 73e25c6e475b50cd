"""The console script `mat`: what agents and hooks call hundreds of times a day starts without click and its friends.

`mat hook`, `mat wait` and an agent's `mat cycle` are answered here; everything else, help and completion too, is
`matcore.cli.main`.
"""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run `mat` with `sys.argv`. Returns the exit code; the full command exits by itself."""
    argv = sys.argv[1:]
    if argv and "_MAT_COMPLETE" not in os.environ:
        if argv[0] == "hook" and argv[1:] not in (["--help"], ["-h"]):
            from matcore.said_hook import hook_main  # Not by way of `said`, which loads what a hook does not need.

            return hook_main(argv[1:])
        if _from_agent(argv):
            from matcore import said

            return said.wait_main(argv[1:]) if argv[0] == "wait" else said.cycle_main(argv[1:])
    from matcore.cli.main import main as full

    full()
    return 0


def _from_agent(argv: list[str]) -> bool:
    """Whether it is an agent's: a human names the session of a cycle, and both may ask for help."""
    if argv[0] not in ("wait", "cycle") or "--help" in argv or "-h" in argv:
        return False
    named = any(word == "--session" or word.startswith("--session=") for word in argv)
    return argv[0] == "wait" or (not named and bool(os.environ.get("MAT_SESSION")))
