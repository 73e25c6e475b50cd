"""A network with nothing in it but loopback, so that a real agent program can reach the scripted model and nobody else.

The namespace is held open by one sleeping process; everything else is put into it by a prefix of its argv. Needs root,
or a kernel that lets users make namespaces of their own.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

READY = "up"
HOLD = f"ip link set lo up && echo {READY} && exec sleep infinity"


class NoNamespace(Exception):
    """This machine lets us make none. The sentence says why."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace while it lasts. `prefix` is the argv that puts a command into it."""

    holder: int
    prefix: tuple[str, ...]

    def members(self) -> list[psutil.Process]:
        """All living processes in the namespace, daemons too. None but ours can be in it."""
        ours = _network_of(self.holder)
        return [process for process in psutil.process_iter() if _network_of(process.pid) == ours]


@contextlib.contextmanager
def loopback_only() -> Iterator[Namespace]:
    """Make a namespace; end everything in it at the end. Raises `NoNamespace`."""
    as_root = os.geteuid() == 0
    unshare = ["unshare", "--net"] if as_root else ["unshare", "--map-root-user", "--net"]
    try:
        holder = subprocess.Popen(
            [*unshare, "sh", "-c", HOLD], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except FileNotFoundError as error:
        message = f"{error.filename} is not installed"
        raise NoNamespace(message) from error
    assert holder.stdout is not None
    assert holder.stderr is not None
    with holder.stdout, holder.stderr:
        try:
            if holder.stdout.readline().strip() != READY.encode():
                raise NoNamespace(holder.stderr.read().decode(errors="replace").strip() or "unshare gave no reason")
            enter = [] if as_root else ["--user", "--preserve-credentials"]
            namespace = Namespace(holder.pid, ("nsenter", f"--target={holder.pid}", "--net", *enter, "--"))
            try:
                yield namespace
            finally:
                _end(namespace)
        finally:
            holder.kill()
            holder.wait()


def _end(namespace: Namespace) -> None:
    """Ask the members to end, then insist. The holder goes last: the namespace is known by it."""
    members = [process for process in namespace.members() if process.pid != namespace.holder]
    for process in members:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    _, alive = psutil.wait_procs(members, timeout=2)
    for process in alive:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, timeout=2)


def _network_of(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        return None
