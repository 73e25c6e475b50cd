"""How a session is brought up again: where, for `mat up` reads the duo.yaml of the directory that it is typed in."""

from __future__ import annotations

from shlex import quote


def up(workdir: str) -> str:
    """`cd DIR && mat up`; just `mat up` where the directory is not known."""
    return f"cd {quote(workdir)} && mat up" if workdir else "mat up"


def ended(session: str, workdir: str) -> str:
    """Why nothing can be done with a session that has ended, and the command."""
    return f'session "{session}" has ended; start it again: {up(workdir)}'
