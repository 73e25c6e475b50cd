"""A session at a glance, as plain data: what `mat status --json` prints and the table and `mat why` are made from.

Times are wall clock (Unix), durations seconds; what is not there is None.
"""

from __future__ import annotations

from typing import Any

import msgspec


class RoleView(msgspec.Struct):
    """`dialog`: the kind of the dialog that stands on its screen (`permission`, `trust`, `login`, `other`), and
    `dialog_since` when.

    Of an agent that has ended: `restarts_at`, when mat starts it again by itself; `crash_loop`, that it does so no
    more; `lived_s`, for how long it ran; `said`, the last lines that it left.
    """

    role: str
    backend: str
    status: str
    since: float
    evidence: str
    agent_session: str | None
    agent_session_since: float | None
    dialog: str | None = None
    dialog_since: float | None = None
    restarts_at: float | None = None
    crash_loop: bool = False
    lived_s: float | None = None
    said: str = ""


class Baton(msgspec.Struct):
    """Who owes the next handoff, for which relay from whom, since when; `delivered`, or still on its way."""

    role: str
    relay: str
    sender: str
    since: float
    delivered: bool


class EpisodeView(msgspec.Struct):
    """`rung`: the last one used up, 0 before the first."""

    episode: int
    rung: int
    opened: float
    stage: str


class Next(msgspec.Struct):
    """What is decided if nothing moves: the event with its keys, and when."""

    at: float
    decision: dict[str, Any]


class Awaits(msgspec.Struct):
    """Something that was decided and carried out, and whose outcome is not known yet."""

    event: str
    role: str | None
    since: float


class GateView(msgspec.Struct):
    """`until`: when it ends, if it names that or settles; the core's own are ended by what they wait for. `cleared`:
    when its reason ended, while it only settles. `due_s`: time for which the ladder was due under it. `escalates_at`:
    None where that is not in sight."""

    gate: str
    since: float
    until: float | None
    cleared: float | None
    due_s: float
    escalated: bool
    escalates_at: float | None
    reason: str


class RelayView(msgspec.Struct):
    """`held_by`: what a pending one waits for: `busy`, `gone`, `unknown` (its role's state), `rounds` (mat's question
    about them), or the name of a gate; None where it is on its way. `held_until`: where a gate says until when.
    `comes_again`: an undeliverable one that is no debt: it is typed once its role's agent is there again."""

    id: str
    sender: str
    to: str
    status: str
    since: float
    held_by: str | None = None
    held_until: float | None = None
    comes_again: bool = False


class NoticeView(msgspec.Struct):
    """A notification that no channel took; `said`: what the channels answered."""

    kind: str
    at: float
    text: str
    said: str


class FailedView(msgspec.Struct):
    """Something that was delivered to `role` and not worked on. `reason`: `gone` (its agent), `error`, or what was said
    of the turn. `text`: of a short message of the human's."""

    relay: str
    sender: str
    role: str
    reason: str
    since: float
    text: str


class QuestionView(msgspec.Struct):
    """`dialog`: it stands on the agent's screen and is answered there. `by_mat`: mat asks, about that role."""

    id: str
    role: str
    text: str
    since: float
    dialog: bool
    by_mat: bool


class TroubleView(msgspec.Struct):
    """Something around the session that is wrong, and was told: `what` is its kind of notification."""

    what: str
    reason: str


class EndedCycle(msgspec.Struct):
    """`outcome`: `completed` or `blocked`."""

    cycle: str
    outcome: str
    by: str
    reason: str | None
    ended: float


class Supervisor(msgspec.Struct):
    """`stale`: it holds its lock, but its heartbeat is old: it hangs, and nothing shown can be trusted.

    `sessions`: those that it watches, None where that is not known. `failed`: those that it can't watch, and why.
    `guarded`: a guard lives, which starts it again. `set_aside`: records of the user's spool, and of hooks, that it
    could not take up.
    """

    alive: bool
    stale: bool
    pid: int | None
    heartbeat_age_s: float | None
    sessions: list[str] | None = None
    failed: dict[str, str] = {}
    set_aside: int = 0
    guarded: bool = False


class Snapshot(msgspec.Struct):
    """`state`: `watched`, `unwatched` (nobody watches it), `hangs` (the supervisor has no heartbeat), `failed` (our
    mistake), `ended`, `unreadable` (`fault` says why; nothing else is known then).

    `needs`: why a person is needed, in a few words; None while nobody is. `due_at`: when quiet makes one window, or
    made it. `next` is the next decision, `then` the next text or notification after it where `next` is none.
    `last_cycle`: the one that ended last, while none is open.
    """

    session: str
    driver: str
    state: str
    now: float
    supervisor: Supervisor
    workdir: str = ""
    ended: float | None = None
    window_s: float = 0.0
    cycle: str | None = None
    goal: str | None = None
    cycle_since: float | None = None
    last_cycle: EndedCycle | None = None
    paused: bool = False
    roles: list[RoleView] = []
    baton: Baton | None = None
    episode: EpisodeView | None = None
    quiet_s: float = 0.0
    quiet: bool = False
    due_at: float | None = None
    awaits: list[Awaits] = []
    next: Next | None = None
    then: Next | None = None
    gates: list[GateView] = []
    relays: list[RelayView] = []
    failed: list[FailedView] = []
    questions: list[QuestionView] = []
    not_delivered: list[NoticeView] = []
    troubles: list[TroubleView] = []
    set_aside: int = 0
    last_decision: dict[str, Any] | None = None
    needs: str | None = None
    fault: str | None = None

    @property
    def is_due(self) -> bool:
        """Whether quiet has lasted its window: only now is anything held back."""
        return self.due_at is not None and self.due_at <= self.now
