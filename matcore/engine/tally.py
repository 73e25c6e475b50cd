"""What the journal says about the course of the work: the open cycle's handoffs, stalls and rounds, which questions
were answered by which record, and what is typed for a relay besides its path.

A part of the ledger, folded from the same entries. A *round* is a pair of requests, one each way, between two roles:
the second one completes it, and the next request begins another. `cycle.max_rounds` counts these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_LAST_ANSWERED = 64
MAT = "mat"
"""Who asks about the rounds of a cycle: no role can be named so in the journal's `by`."""


@dataclass(slots=True)
class Letter:
    """What is typed for a relay instead of its plain announcement, until it has arrived.

    `kind`: `hint` (a verdict's), `prompt` (a verdict's, for a new agent session), `answer` (a human's, to `question`,
    which asked `asked`, `by_mat` or by the role). `text` is None where it stands in the file `path` only. `renewed`:
    the new session was opened.
    """

    kind: str
    text: str | None = None
    path: str | None = None
    question: str = ""
    asked: str = ""
    by_mat: bool = False
    renewed: bool = False


@dataclass(slots=True)
class Course:
    """One cycle's course so far, or, of one that has ended, all of it. `holder`: the role that got the last request."""

    cycle: str = ""
    since: float = 0.0
    until: float | None = None
    handoffs: int = 0
    episodes: int = 0
    rounds: int = 0
    half: list[str] = field(default_factory=list)
    holder: str = ""


@dataclass(slots=True)
class Tally:
    """`open`: the open cycle's course; `last`: that of the one that ended last. `asked_rounds`: how often mat has asked
    about rounds; `rounds_question`: the id of the latest of these questions. `woken`: whether anybody was nudged since
    the open episode was opened or rearmed. `answered`: when each of the newest answered questions was. `letters`: by
    the relay's id, until it has arrived."""

    open: Course | None = None
    last: Course | None = None
    asked_rounds: int = 0
    rounds_question: str = ""
    woken: bool = False
    answered: dict[str, float] = field(default_factory=dict)
    letters: dict[str, Letter] = field(default_factory=dict)


def apply(tally: Tally, name: str, at: float, data: Mapping[str, Any]) -> None:
    """Take in one entry of the journal, whatever its kind."""
    handler = _HANDLERS.get(name)
    if handler is not None:
        handler(tally, at, data)


def _opened(tally: Tally, at: float, data: Mapping[str, Any]) -> None:
    _close(tally, at)
    tally.open = Course(data["cycle"], at)


def _ended(tally: Tally, at: float, data: Mapping[str, Any]) -> None:
    if tally.open is not None and tally.open.cycle == data["cycle"]:
        _close(tally, at)


def _close(tally: Tally, at: float) -> None:
    if tally.open is not None:
        tally.open.until = at
        tally.last, tally.open = tally.open, None


def _sent(tally: Tally, _at: float, data: Mapping[str, Any]) -> None:
    letter = data.get("letter")
    if letter:
        tally.letters[data["id"]] = Letter(**letter)
    course = tally.open
    if course is None or data["from"] == "human" or data.get("kind", "request") != "request":
        return
    course.handoffs += 1
    course.holder = data["to"]
    there, back = f"{data['from']}>{data['to']}", f"{data['to']}>{data['from']}"
    if back in course.half:
        course.half.remove(back)
        course.rounds += 1
    elif there not in course.half:
        course.half.append(there)


def _arrived(tally: Tally, _at: float, data: Mapping[str, Any]) -> None:
    tally.letters.pop(data["id"], None)


def _undeliverable(tally: Tally, at: float, data: Mapping[str, Any]) -> None:
    """The human's answer is typed as an answer once the agent is there again; a debt is brought by the ladder."""
    letter = tally.letters.get(data["id"])
    if letter is not None and letter.kind != "answer":
        _arrived(tally, at, data)


def _renewed(tally: Tally, _at: float, data: Mapping[str, Any]) -> None:
    letter = tally.letters.get(str(data.get("relay")))
    if letter is not None:
        letter.renewed = True


def _nudged(tally: Tally, _at: float, _data: Mapping[str, Any]) -> None:
    tally.woken = True


def _rearmed(tally: Tally, _at: float, _data: Mapping[str, Any]) -> None:
    tally.woken = False


def _episode(tally: Tally, _at: float, _data: Mapping[str, Any]) -> None:
    tally.woken = False
    if tally.open is not None:
        tally.open.episodes += 1


def _asked(tally: Tally, _at: float, data: Mapping[str, Any]) -> None:
    tally.answered.pop(data["question"], None)
    if data.get("by") == MAT:
        tally.asked_rounds += 1
        tally.rounds_question = data["question"]


def _answered(tally: Tally, at: float, data: Mapping[str, Any]) -> None:
    tally.answered[data["question"]] = at
    while len(tally.answered) > _LAST_ANSWERED:
        del tally.answered[next(iter(tally.answered))]
    if data["question"] == tally.rounds_question and tally.open is not None:
        tally.open.rounds = 0


_HANDLERS: dict[str, Callable[[Tally, float, Mapping[str, Any]], None]] = {
    "cycle.opened": _opened,
    "cycle.completed": _ended,
    "cycle.blocked": _ended,
    "relay.sent": _sent,
    "relay.delivered": _arrived,
    "relay.undeliverable": _undeliverable,
    "agent.renewed": _renewed,
    "episode.opened": _episode,
    "episode.rearmed": _rearmed,
    "nudge": _nudged,
    "question.asked": _asked,
    "question.answered": _answered,
}
