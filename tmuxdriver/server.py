"""A small tmux client: an explicit socket, UTF-8, a bound on the time and on the output of every call.

All that mat asks of tmux goes through here: the poll and the guarded steps of a delivery directly, sessions and windows
through libtmux (`tmuxdriver.sessions`), whose `Server.cmd` is this client. A call that gives no answer is
`Unreachable`, which is never "no panes": only `NoServer` is an authoritative no.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CONF = Path(__file__).with_name("tmux.conf")
TIMEOUT_S = 5.0
MOST_OUTPUT = 64 * 1024 * 1024
_OURS = ("TMUX", "TMUX_PANE", "MAT_SESSION", "MAT_ROLE", "MAT_DIR")


class TmuxError(Exception):
    """tmux did not do what it was asked."""


class Unreachable(TmuxError):
    """No answer, or none that can be trusted: it says nothing about any pane."""


class NoServer(TmuxError):
    """The answer is that no server runs on this socket."""


class CommandFailed(TmuxError):
    """The server refused a command. `output` is what the commands before it printed."""

    def __init__(self, said: str, output: str) -> None:
        self.output = output
        super().__init__(said)


@dataclass(frozen=True, slots=True)
class Tmux:
    """One tmux server, named by its socket (a name as for `tmux -L`, or an absolute path)."""

    socket: str = "mat"
    conf: Path = CONF
    binary: str = "tmux"
    timeout_s: float = TIMEOUT_S

    @property
    def prefix(self) -> list[str]:
        """The words in front of every command."""
        where = ["-S", self.socket] if self.socket.startswith("/") else ["-L", self.socket]
        return [self.binary, "-u", *where, "-f", str(self.conf)]

    def run(
        self,
        *commands: Sequence[str],
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> str:
        """What the commands printed; they run in one invocation, in order, up to the first that fails.

        `env` is laid over our own environment: a new pane gets its PATH from there. Raises `NoServer`,
        `CommandFailed` or `Unreachable`.
        """
        words = [*self.prefix]
        for number, command in enumerate(commands):
            words += [";"] if number else []
            words += [_word(word) for word in command]
        environment = {name: value for name, value in os.environ.items() if name not in _OURS} | dict(env or {})
        code, out, err = _exchange(words, environment, stdin.encode("utf-8", "replace"), timeout_s or self.timeout_s)
        if code != 0:
            raise _error(err.strip(), out)
        return out


def _word(word: str) -> str:
    """A final `;` would end the command there."""
    return word[:-1] + "\\;" if word.endswith(";") else word


def _error(said: str, out: str) -> TmuxError:
    if said.startswith(("no server running", "error connecting to")):
        gone = said.startswith("no server") or "No such file" in said or "Connection refused" in said
        return NoServer(said) if gone else Unreachable(said)
    if "server exited" in said or "lost server" in said or not said:
        return Unreachable(said or "tmux failed without a word")
    return CommandFailed(said, out)


def _exchange(argv: Sequence[str], env: Mapping[str, str], stdin: bytes, timeout_s: float) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a program in a process group of its own, ended when it takes too long."""
    deadline = time.monotonic() + timeout_s
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            start_new_session=True,
        )
    except OSError as err:
        raise Unreachable(f"{argv[0]} can't be started: {err}") from err
    with process:
        try:
            out, err_out = _drain(process, stdin, deadline)
            code = process.wait(max(0.05, deadline - time.monotonic()))
        except (TimeoutError, subprocess.TimeoutExpired) as err:
            _end_group(process)
            raise Unreachable(f"tmux gave no answer within {timeout_s:g} s") from err
        except Unreachable:
            _end_group(process)
            raise
    return code, out.decode("utf-8", "replace"), err_out.decode("utf-8", "replace")


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the client and whatever it started, for that may hold our pipes when the client itself has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _drain(process: subprocess.Popen[bytes], stdin: bytes, deadline: float) -> tuple[bytes, bytes]:
    """Both outputs to their ends. Raises TimeoutError, and Unreachable for a flood."""
    assert process.stdout is not None  # noqa: S101 - both are pipes
    assert process.stderr is not None  # noqa: S101
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(stdin)  # always less than a pipe holds, so it can't block
            process.stdin.close()
    parts: dict[int, list[bytes]] = {process.stdout.fileno(): [], process.stderr.fileno(): []}
    size = 0
    with selectors.DefaultSelector() as selector:
        for descriptor in parts:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                data = os.read(key.fd, 65536)
                if not data:
                    selector.unregister(key.fd)
                parts[key.fd].append(data)
                size += len(data)
            if size > MOST_OUTPUT:
                raise Unreachable("tmux printed without end")
    out, err = parts.values()
    return b"".join(out), b"".join(err)
