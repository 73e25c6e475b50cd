"""Sessions of a tmux server as libtmux's objects, each call through our client: bounded, in UTF-8, on its socket.

Of libtmux only what goes through `Server.cmd` is used for mat itself. Its listings (`sessions`, `windows`, `panes`,
`refresh`) start a tmux of their own, without a bound on the time and without `-u`, so a stopped server would hold them
for ever: the driver polls with `tmuxdriver.panes`. It injects with `tmuxdriver.inject`, for a guarded step is several
commands in one invocation with the text on stdin, which libtmux's calls are not.
"""

from __future__ import annotations

import time
from typing import Any

import libtmux
from libtmux.common import tmux_cmd
from libtmux.exc import LibTmuxException

from tmuxdriver.server import CommandFailed, NoServer, Tmux, Unreachable

ENDS_S = 0.2


class Answer(tmux_cmd):
    """What libtmux makes of a finished command, without having run one."""

    def __init__(self, words: list[str], out: str, err: str, code: int) -> None:
        self.cmd = words
        self.returncode = code
        self.stdout = out.removesuffix("\n").split("\n") if out else []
        self.stderr = [line for line in err.split("\n") if line]


class Server(libtmux.Server):
    """A `libtmux.Server` whose `cmd` gives an answer in bounded time or raises `Unreachable`.

    That no server runs, and that it refused the command, are answers: libtmux tells them as its own errors.
    """

    def __init__(self, tmux: Tmux) -> None:
        is_path = tmux.socket.startswith("/")
        super().__init__(
            socket_name=None if is_path else tmux.socket,
            socket_path=tmux.socket if is_path else None,
            config_file=str(tmux.conf),
            tmux_bin=tmux.binary,
        )
        self.tmux = tmux

    def cmd(self, cmd: str, *args: Any, target: str | int | None = None) -> tmux_cmd:  # noqa: ANN401 - libtmux's signature
        """One command. A lone `;` is a word of it, never the beginning of another one. Raises `Unreachable`."""
        words = [cmd, *(["-t", str(target)] if target is not None else []), *(str(word) for word in args)]
        try:
            return Answer(words, self.tmux.run(words), "", 0)
        except CommandFailed as err:
            return Answer(words, err.output, str(err) or "tmux refused the command", 1)
        except NoServer as err:
            return Answer(words, "", str(err), 1)


def has_session(tmux: Tmux, name: str) -> bool:
    """Whether there is a session of exactly that name. Raises `Unreachable`."""
    return Server(tmux).has_session(name)


def end_session(tmux: Tmux, name: str) -> None:
    """End a session with its windows; one that is not there has ended. Raises `TmuxError`."""
    server = Server(tmux)
    try:
        server.kill_session(f"={name}")
    except Unreachable:
        time.sleep(ENDS_S)  # a server that loses its last session ends, sometimes before it has answered
        if server.has_session(name):
            raise
    except LibTmuxException as err:
        if server.has_session(name):
            raise CommandFailed(f"{name} could not be ended: {err}", "") from err
