"""Relays on their way and the baton that each role holds.

A debt is a handoff to a role, from its sending until that role's own next handoff after it was delivered. Where the
page leaves a choice: a second `relay.sent` of a known id, and a self-send, change nothing.
"""

from __future__ import annotations

from dataclasses import replace

from matcore.rules import gates, wakes
from matcore.rules.state import Relay, Way
from matcore.rules.work import Work


def oldest(relays: tuple[Relay, ...]) -> Relay | None:
    """The oldest debt of the session, whoever owes it."""
    return next((relay for relay in relays if relay.owed), None)


def add(work: Work, relay: Relay) -> None:
    work.relays = (*work.relays, relay)
    work.known = work.known.plus(relay.id)
    gates.keep_pending(work, relay.to)


def handed_over(work: Work, role: str) -> None:
    """The role's own handoff: it owes nothing any more of what had been delivered to it."""
    work.relays = tuple(
        relay for relay in work.relays if not (relay.owed and relay.to == role and relay.way is Way.DELIVERED)
    )


def forget_all(work: Work) -> None:
    """A boundary: nobody owes anything. What is on its way still arrives."""
    if work.relays:
        work.relays = tuple(replace(relay, owed=False) for relay in work.relays if relay.way is not Way.DELIVERED)


def delivered(work: Work, name: str | None) -> None:
    """The relay has arrived, for the first time: the role has heard of it, and a wake opens."""
    relay = _on_its_way(work, name)
    if relay is None:
        return
    arrived = replace(relay, way=Way.DELIVERED)
    work.relays = tuple(arrived if each is relay else each for each in work.relays if each is not relay or relay.owed)
    work.late = tuple(late for late in work.late if late.redelivers != name)
    role = work.seat(relay.to)
    work.put(replace(role, heard=_higher(role.heard, relay.sender, relay.seq)))
    gates.keep_pending(work, relay.to)
    wakes.opened(work, relay)


def undeliverable(work: Work, name: str) -> None:
    """It did not arrive and waits for nothing: a debt stays, for rung 1 to deliver it."""
    relay = _on_its_way(work, name)
    if relay is not None:
        lost = replace(relay, way=Way.UNDELIVERABLE)
        work.relays = tuple(lost if each is relay else each for each in work.relays)
        gates.keep_pending(work, relay.to)


def is_on_its_way(work: Work, name: str | None) -> bool:
    return _on_its_way(work, name) is not None


def _on_its_way(work: Work, name: str | None) -> Relay | None:
    for relay in work.relays:
        if relay.id == name and relay.way is not Way.DELIVERED:
            return relay
    return None


def _higher(heard: tuple[tuple[str, int], ...], peer: str, seq: int) -> tuple[tuple[str, int], ...]:
    others = tuple(pair for pair in heard if pair[0] != peer)
    before = next((known for name, known in heard if name == peer), seq)
    return (*others, (peer, max(before, seq)))
