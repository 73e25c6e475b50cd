"""One step in the making: a state that may be changed until it is frozen again, and the decisions so far.

Frozen data outside, plain assignments inside: a step touches a handful of fields, and the rules read as what they do.
"""

from __future__ import annotations

from collections.abc import Callable

from matcore.rules.decisions import Decision
from matcore.rules.moments import seconds
from matcore.rules.state import Role, State


class Work:
    """The fields are those of `State`."""

    __slots__ = (
        "cycle",
        "cycle_us",
        "decisions",
        "deferred",
        "due",
        "episode",
        "episodes",
        "gap",
        "gates",
        "known",
        "late",
        "marked",
        "markers",
        "now_us",
        "number",
        "policy",
        "progress",
        "questions",
        "quiet",
        "relays",
        "roles",
        "rows",
        "seq",
        "texts",
        "told",
    )

    def __init__(self, state: State) -> None:
        self.decisions: list[Decision] = []
        self.policy = state.policy
        self.roles = state.roles
        self.now_us = state.now_us
        self.number = state.number
        self.seq = state.seq
        self.gap = state.gap
        self.cycle = state.cycle
        self.cycle_us = state.cycle_us
        self.relays = state.relays
        self.known = state.known
        self.rows = state.rows
        self.markers = state.markers
        self.marked = state.marked
        self.texts = state.texts
        self.gates = state.gates
        self.questions = state.questions
        self.episodes = state.episodes
        self.episode = state.episode
        self.late = state.late
        self.quiet = state.quiet
        self.due = state.due
        self.deferred = state.deferred
        self.progress = state.progress
        self.told = state.told

    def freeze(self, horizon_us: int | None) -> State:
        """Positions, not keywords: this runs once for each fact."""
        return State(
            self.policy,
            self.roles,
            self.now_us,
            self.number,
            self.seq,
            self.gap,
            self.cycle,
            self.cycle_us,
            self.relays,
            self.known,
            self.rows,
            self.markers,
            self.marked,
            self.texts,
            self.gates,
            self.questions,
            self.episodes,
            self.episode,
            self.late,
            self.quiet,
            self.due,
            self.deferred,
            self.progress,
            self.told,
            horizon_us,
        )

    def decide(self, make: Callable[..., Decision], **told: object) -> int:
        """Add a decision; its number."""
        self.number += 1
        self.decisions.append(make(number=self.number, at=seconds(self.now_us), **told))
        return self.number

    def role(self, name: str | None) -> Role | None:
        for role in self.roles:
            if role.name == name:
                return role
        return None

    def seat(self, name: str) -> Role:
        """The role of this name, which is known: one that a relay, a wake or a debt names stays for ever."""
        return next(role for role in self.roles if role.name == name)

    def put(self, role: Role) -> None:
        """The role of this name is now so."""
        self.roles = tuple(role if each.name == role.name else each for each in self.roles)
