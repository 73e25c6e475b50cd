"""Who speaks, and where to: from the environment that the driver sets and from the session's `session.json`.

Standard library only and few imports: `matcore.places` would cost as much as a whole `send-relay`, so the few paths
that an agent's command needs are joined here as strings; a test holds both to the same places.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping

from matcore.errors import BadConfig, Refused

VARIABLES = ("MAT_SESSION", "MAT_ROLE", "MAT_DIR")
"""What a driver puts into an agent's environment: the session's name, the role, and the session's folder."""


class Seat:
    """One role of a session, with what `session.json` says about the session."""

    __slots__ = ("about", "role", "root", "session")

    def __init__(self, session: str, role: str, root: str, about: dict[str, object]) -> None:
        self.session = session
        self.role = role
        self.root = root
        self.about = about

    @property
    def roles(self) -> dict[str, str]:
        """Each role's directory, in the order of the configuration."""
        return _roles(self.about)

    @property
    def peers(self) -> list[str]:
        """The other roles, in the order of the configuration."""
        return [name for name in self.roles if name != self.role]

    @property
    def spool(self) -> str:
        """This role's own spool."""
        return os.path.join(self.root, "spool", self.role)

    @property
    def state_dir(self) -> str:
        """The supervisor's state folder; the agent's environment may name another."""
        return str(self.about.get("state_dir") or default_state_dir())

    @property
    def workdir(self) -> str:
        """The session's working directory."""
        return str(self.about.get("workdir") or os.path.dirname(os.path.dirname(self.root)))

    @property
    def cycle(self) -> str | None:
        """The id of the open cycle; None where none is open."""
        cycle = self.about.get("cycle")
        return str(cycle["id"]) if isinstance(cycle, dict) and cycle.get("id") else None

    @property
    def required(self) -> list[str]:
        """The keys that a handoff's front matter must have."""
        return _texts(self.about.get("require"))

    @property
    def commands(self) -> list[str]:
        """The checks that agents run themselves (`send-relay --check`); sending runs the others."""
        return _texts(self.about.get("commands"))

    @property
    def max_blocks(self) -> int:
        """After how many refusals in a row of one file the human is told."""
        blocks = self.about.get("max_blocks")
        return blocks if isinstance(blocks, int) else 3

    def delivered(self, peer: str) -> int | None:
        """The number of the newest relay from `peer` that was delivered to this role; None where there was none."""
        frontier = self.about.get("frontier")
        mine = frontier.get(self.role) if isinstance(frontier, dict) else None
        seen = mine.get(peer) if isinstance(mine, dict) else None
        return seen if isinstance(seen, int) and seen > 0 else None


def here(environ: Mapping[str, str], program: str, nothing: str = "nothing sent") -> Seat:
    """The seat of the agent that runs `program`. Raises `BadConfig` outside of a session, `Refused` where it ended.

    `nothing` ends every refusal: `nothing sent`, or what else did not happen.
    """
    missing = [name for name in VARIABLES if not environ.get(name)]
    if missing:
        raise BadConfig(
            [
                f"{program} speaks for a role of a session, and {' and '.join(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} not set. Run it from an agent that `mat up` has started, or "
                "name the role with MAT_SESSION, MAT_ROLE and MAT_DIR (the session's folder, WORKDIR/.mat/SESSION). "
                f"A human says `mat send SESSION ROLE TEXT`; {nothing}"
            ]
        )
    session, role, root = (environ[name] for name in VARIABLES)
    about = read_about(root, session, nothing)
    if role not in _roles(about):
        raise BadConfig(
            [f"MAT_ROLE is {role!r}, and session {session} has the roles {', '.join(_roles(about))}; {nothing}"]
        )
    if about.get("ended"):
        from matcore.words import again  # Only here: whoever speaks in a living session does not pay for it.

        raise Refused(f"{again.ended(session, str(about.get('workdir') or ''))}; {nothing}")
    return Seat(session, role, os.path.abspath(root), about)


def read_about(root: str, session: str, nothing: str = "nothing sent") -> dict[str, object]:
    """What `session.json` says. Raises `Refused` where it can't be read, `BadConfig` where it is another session's."""
    path = os.path.join(root, "session.json")
    try:
        with open(path, encoding="utf-8") as file:
            about = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or "it is no JSON"
        raise Refused(
            f"{path} can't be read ({why}); a running supervisor writes it anew within seconds, "
            f"`mat status {session}` tells whether one runs; {nothing}"
        ) from error
    if not isinstance(about, dict) or not _roles(about):
        raise Refused(f"{path} names no roles; `mat doctor` says more; {nothing}")
    if about.get("session") != session:
        raise BadConfig([f"MAT_SESSION is {session!r}, but {path} is about {about.get('session')!r}; {nothing}"])
    return about


def _roles(about: Mapping[str, object]) -> dict[str, str]:
    roles = about.get("roles")
    listed = roles if isinstance(roles, list) else []
    return {str(r["name"]): str(r.get("dir") or "") for r in listed if isinstance(r, dict) and r.get("name")}


def _texts(value: object) -> list[str]:
    return [str(text) for text in value] if isinstance(value, list) else []


def default_state_dir() -> str:
    """As `matcore.places.state_dir`."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "mat")


def supervised(state_dir: str) -> bool | None:
    """Whether a supervisor lives, told by its lock; None where that can't be seen from here (a sandbox).

    A shared lock, so that two who look do not take each other for the supervisor.
    """
    try:
        handle = os.open(os.path.join(state_dir, "supervisor.lock"), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False if os.path.isdir(state_dir) else None
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(handle)
    return False
