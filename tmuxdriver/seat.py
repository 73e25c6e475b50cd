"""One agent seat as the driver keeps it: what was configured, which pane it is, what is known of it.

Two locks. `lock` guards the fields and is held for moments only, never over a call to tmux, so that the poller and the
loop (`heard`) never wait for a slow terminal. `typing` is held for a whole delivery or restart, so that two texts never
meet in one composer.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from matcore.engine.driver import RoleSpec, SessionSpec, Sighting
from tmuxdriver import seatdata
from tmuxdriver.ends import Ends
from tmuxdriver.evidence import Evidence
from tmuxdriver.left import Left
from tmuxdriver.limits import Limit
from tmuxdriver.panes import Identity, Listing
from tmuxdriver.profile import Profile
from tmuxdriver.screen import Screen
from tmuxdriver.submission import Submission


@dataclass(slots=True)
class Seat:
    """`identity` is None when nothing was ever started here."""

    spec: SessionSpec
    role: RoleSpec
    profile: Profile
    identity: Identity | None
    evidence: Evidence
    lock: threading.RLock = field(default_factory=threading.RLock)
    typing: threading.Lock = field(default_factory=threading.Lock)
    is_typing: bool = False
    ended: bool = False
    """Its session was ended: whatever is about to be started here must not be."""
    misses: int = 0
    changes: tuple[str, ...] | None = None
    captured_wall_s: float = 0.0
    captured_s: float = 0.0
    raw: str | None = None
    read: tuple[Screen, str] | None = None
    pending: list[Sighting] = field(default_factory=list)
    sought: Submission | None = None
    """Our last text, until it is known which agent session it is in."""
    process_key: str | None = None
    process_s: float = 0.0
    absent_s: float | None = None
    tmux_session: str | None = None
    agent_pid: int | None = None
    """The process that was last found to be the agent."""

    @classmethod
    def of(cls, spec: SessionSpec, role: RoleSpec, profile: Profile, seat: Mapping[str, object] | None) -> Seat:
        """`seat` is what `launch` or `restart` returned."""
        alive_since_s = float(str((seat or {}).get("started_s") or 0.0))
        evidence = Evidence(
            spec.session, role.name, alive_since_s=alive_since_s, limit=Limit(profile.resets),
            ends=Ends(profile.submit.begins_s),
        )  # fmt: skip
        if (seat or {}).get("left"):
            evidence.unsent = Left(str((seat or {})["left"]), profile.composer.pasted)
        return cls(spec, role, profile, seatdata.identity_of(seat), evidence)

    def is_resumable(self, listing: Listing) -> bool:
        """Whether its agent, gone by itself, can be started again from here, in its agent session.

        The terminal server still has the environment of `mat up`; variables of the role stand in the tmux session.
        """
        if self.identity is None or not self.profile.launch.resume:
            return False
        mine = (self.identity.server_pid, self.identity.server_start)
        left = [p for p in listing.panes.values() if (p.identity.server_pid, p.identity.server_start) == mine]
        named = any(role.env for role in self.spec.roles)
        return bool(left) and (not named or any(pane.session_id == self.tmux_session for pane in left))
