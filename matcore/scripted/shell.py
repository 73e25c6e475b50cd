"""Commands as the shell tool runs them: really, in the agent's folder and environment, in a session of their own.

When the command ends, all that it left behind in its process group is ended too, while its number still belongs to it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess

from matcore.scripted.stage import ShellResult

KEPT = 1 << 20


class RunningShell:
    """One command. `fd` becomes readable when there is output; `poll` tells the result once."""

    def __init__(self, command: str) -> None:
        """Raises OSError when not even the shell can be started."""
        self.command = command
        self._output = bytearray()
        self._process = subprocess.Popen(
            ["bash", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        if self._process.stdout is None:
            message = "no pipe to read the command's output from"
            raise OSError(message)
        self._pipe = self._process.stdout
        os.set_blocking(self._pipe.fileno(), False)
        self._open = True

    @property
    def fd(self) -> int | None:
        """None once the command has closed its output."""
        return self._pipe.fileno() if self._open else None

    def poll(self) -> ShellResult | None:
        """None while it runs."""
        self._read()
        if os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return None
        self._read()
        return ShellResult(self._reap(), self._output.decode("utf-8", "replace"))

    def kill(self) -> None:
        """Ends the command and all that it started. Harmless afterwards."""
        if self._process.returncode is None:
            self._reap()

    def _reap(self) -> int:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._pipe.close()
        self._open = False
        return self._process.wait()

    def _read(self) -> None:
        while self._open:
            try:
                data = os.read(self._pipe.fileno(), 65536)
            except BlockingIOError:
                return
            self._open = bool(data)
            if len(self._output) < KEPT:
                self._output += data
