"""Answers that a full context left owing: one durable marker for each target, taken up by fresh runtimes.

Where the page leaves a choice: a marker whose recovery is on its way is dropped by an answer or a boundary too, and a
late confirmation then opens no wake, for nothing is owed any more. One whose outcome never comes is not handed out a
second time; the debt stays and the ladder sees to it. A higher frontier of the same target waits behind one that is on
its way. A runtime that is fresh while its role still counts as gone takes a marker like any other; if that is confirmed
its wake fails at once, like any delivery to one that is gone.
"""

from __future__ import annotations

from dataclasses import replace

from matcore.rules import texts, wakes
from matcore.rules.decisions import RecoveryDelivered, RecoveryMarked
from matcore.rules.state import Marker, Row, RowStatus
from matcore.rules.work import Work


def exhausted(work: Work, role: str) -> None:
    """All open wakes of the role end, then one marker for each target that waited for a visible reply."""
    frontier: dict[str, int] = {}
    for row in wakes.end_all(work, role, wakes.Event.EXHAUSTED):
        if row.status is not RowStatus.SIGNAL_ONLY:
            frontier[row.target] = max(row.seq, frontier.get(row.target, row.seq))
    for target, seq in frontier.items():
        _mark(work, Marker(f"recovery-{role}-{target}-{seq}", role, target, seq))


def fresh(work: Work, role: str) -> None:
    """A fresh runtime takes the first marker that waits, and only that one."""
    for marker in work.markers:
        if marker.role == role and not marker.taken:
            number = work.decide(RecoveryDelivered, message=marker.id, role=role, target=marker.target)
            _put(work, marker, replace(marker, taken=number))
            texts.sent(work, role, number)
            return


def ended(work: Work, decision: int, *, ok: bool) -> bool:
    """The outcome of a recovery, if this decision is one that still waits for it."""
    for marker in work.markers:
        if marker.taken == decision:
            _arrived(work, marker) if ok else _waits_again(work, marker)
            return True
    return False


def answered(work: Work, role: str, target: str, upto: int) -> None:
    """The role has told the target something that had seen so far."""
    if work.markers:
        work.markers = tuple(
            marker
            for marker in work.markers
            if not (marker.role == role and marker.target == target and marker.seq <= upto)
        )


def _mark(work: Work, marker: Marker) -> None:
    if marker.id in work.marked:
        return
    waiting = next((each for each in work.markers if _same_answer(each, marker) and not each.taken), None)
    if waiting is not None and waiting.seq > marker.seq:
        return
    work.marked = work.marked.plus(marker.id)
    work.decide(RecoveryMarked, message=marker.id, role=marker.role, target=marker.target)
    if waiting is None:
        work.markers = (*work.markers, marker)
    else:
        _put(work, waiting, marker)


def _arrived(work: Work, marker: Marker) -> None:
    work.markers = tuple(each for each in work.markers if each is not marker)
    row = Row(marker.id, marker.role, marker.target, marker.seq, RowStatus.AWAITING_CHECK, work.now_us)
    wakes.open_row(work, row)


def _waits_again(work: Work, marker: Marker) -> None:
    newer = any(_same_answer(each, marker) and each.seq > marker.seq for each in work.markers)
    if newer:
        work.markers = tuple(each for each in work.markers if each is not marker)
    else:
        _put(work, marker, replace(marker, taken=0))


def _same_answer(one: Marker, other: Marker) -> bool:
    return one.role == other.role and one.target == other.target


def _put(work: Work, old: Marker, new: Marker) -> None:
    work.markers = tuple(new if each is old else each for each in work.markers)
