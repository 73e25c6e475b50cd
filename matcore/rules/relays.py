"""What was handed to `send-relay`: it may pass the baton, and it answers what its sender had seen.

Where the page leaves a choice:

- A human who hands over the same content once more has acted as with any relay: somebody is there, and nothing new
  reaches anybody. After rung 3 the ladder would otherwise stay silent for ever.
- Relays run between seats, and from the human to one. What is addressed to the human, who holds none, is no relay: it
  takes no number and answers nothing. `notify-user` and questions reach a human.
"""

from __future__ import annotations

from matcore.rules import debts, human, ladder, recovery, roles, wakes
from matcore.rules.decisions import ClosedBy
from matcore.rules.facts import HUMAN, Kind, RelayAcked, RelayAlreadySent, RelaySent
from matcore.rules.state import Relay, Way
from matcore.rules.work import Work


def sent(work: Work, fact: RelaySent) -> None:
    """A handoff is progress, a relay of the human is the human's act, and any relay settles wakes of its sender."""
    from_human = fact.sender == HUMAN
    if fact.id in work.known or not _between_seats(work, fact.sender, fact.to):
        return
    seq = work.seq + 1 if fact.seq is None else fact.seq
    work.seq = max(work.seq, seq)
    handoff = fact.kind is Kind.REQUEST and not from_human
    if handoff:
        ladder.progress(work, ClosedBy.HANDOFF, relay=fact.id)
        debts.handed_over(work, fact.sender)
    if from_human:
        human.acts(work)
    else:
        roles.was_active(work, fact.sender)
    debts.add(work, Relay(fact.id, fact.sender, fact.to, fact.kind, seq, work.now_us, Way.SENT, handoff))
    _answers(work, fact.sender, fact.to, fact.seen)


def already_sent(work: Work, fact: RelayAlreadySent) -> None:
    """The same content once more: it answers as it did, and is neither progress nor activity."""
    if fact.id in work.known and _between_seats(work, fact.sender, fact.to):
        if fact.sender == HUMAN:
            human.acts(work)
        _answers(work, fact.sender, fact.to, fact.seen)


def acked(work: Work, fact: RelayAcked) -> None:
    wakes.acked(work, fact.id, fact.role)


def _between_seats(work: Work, sender: str, to: str) -> bool:
    known = sender == HUMAN or work.role(sender) is not None
    return known and sender != to and work.role(to) is not None


def _answers(work: Work, sender: str, target: str, seen: int | None) -> None:
    role = work.role(sender)
    if role is None:
        return
    upto = seen if seen is not None else next((seq for peer, seq in role.heard if peer == target), None)
    if upto is not None:
        wakes.settled(work, sender, target, upto)
        recovery.answered(work, sender, target, upto)
