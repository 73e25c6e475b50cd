"""The morning: what each session did since then, what stood still, what you were told, and what waits for you.

Read from the journals alone. A stall that was open at the beginning of that time counts with all of its length.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

import msgspec

from matcore.engine.book import Book
from matcore.engine.clock import SystemClock
from matcore.engine.journal import Entry, Journal
from matcore.places import StatePlaces
from matcore.rules.facts import HUMAN
from matcore.show import snapshot, waits
from matcore.show.shapes import Snapshot
from matcore.show.text import short

MOST = 120
"""How many characters of a goal, a reason or a question are shown."""
_OF_CYCLES = ("cycle.opened", "cycle.completed", "cycle.blocked")
_OF_STALLS = ("episode.opened", "episode.closed", "nudge", "rung.skipped", "notify")


class CycleView(msgspec.Struct):
    """`outcome`: `open`, `completed`, `blocked`, `replaced` by the next one, or `cut off` by the end of its session.

    `handoffs`, `stalls`: all of it.
    """

    cycle: str
    goal: str | None
    opened: float
    outcome: str = "open"
    ended: float | None = None
    by: str | None = None
    reason: str | None = None
    handoffs: int = 0
    stalls: int = 0


class Stall(msgspec.Struct):
    """One episode. `by`: what closed it, None while it is open; `session` where it was open at the session's end.
    `still_s`: how long nothing was handed over at least, the window before it included. `nudges`: the texts that it
    cost; `told`: it used its last rung."""

    episode: int
    opened: float
    owed: str | None
    relay: str | None
    closed: float | None = None
    by: str | None = None
    still_s: float = 0.0
    nudges: int = 0
    told: bool = False


class Told(msgspec.Struct):
    """`delivered`: None while no channel has answered. `waits`: it is a question that waits for you still."""

    at: float
    kind: str
    action: bool
    text: str
    delivered: bool | None = None
    waits: bool = False


class Wait(msgspec.Struct):
    """Something that a person has to see to, and the command for it."""

    what: str
    command: str


class Recap(msgspec.Struct):
    """One session's part of the page. `handoffs`: by role, in that time. `answered`: questions that you answered."""

    session: str
    state: str
    cycles: list[CycleView]
    handoffs: dict[str, int]
    stalls: list[Stall]
    told: list[Told]
    answered: int
    waits: list[Wait]

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing to say of it."""
        return not (self.cycles or self.handoffs or self.stalls or self.told or self.answered or self.waits)


def page(state: StatePlaces, sessions: Iterable[str], since_s: float, now_s: float) -> list[Recap]:
    """All of these sessions; one whose journal can't be read is on it with that."""
    supervisor = snapshot.supervisor_of(state, SystemClock().boot_s())
    found = []
    for session in sessions:
        shot, book = snapshot.read(state, session, supervisor, now_s)
        if book is None:
            found.append(Recap(session, shot.state, [], {}, [], [], 0, list(_waits(shot))))
        else:
            with book.journal:
                found.append(of(book, shot, since_s))
    return found


def of(book: Book, shot: Snapshot, since_s: float) -> Recap:
    """What `book`'s session did since then (Unix time). `shot` is the session as it is now."""
    journal = book.journal
    first = journal.seq_since(since_s) or journal.last_seq + 1
    down = next(journal.entries(names=["engine.down"], newest_first=True), None) if shot.state == "ended" else None
    over = down is not None and down.seq < first
    handoffs: dict[str, int] = {}
    answered = 0
    for entry in journal.entries(after=first - 1, names=["relay.sent", "question.answered"]):
        if entry.name == "question.answered":
            answered += bool(entry.data.get("relay"))
        elif _is_handoff(entry):
            sender = str(entry.data["from"])
            handoffs[sender] = handoffs.get(sender, 0) + 1
    return Recap(
        session=shot.session,
        state=shot.state,
        cycles=[] if over else list(_cycles(journal, first, down)),
        handoffs=handoffs,
        stalls=[] if over else list(_stalls(journal, first, book.ledger.window_s, shot.now, down)),
        told=list(_told(journal, first, {} if shot.state == "ended" else book.ledger.questions)),
        answered=answered,
        waits=list(_waits(shot)),
    )


def _is_handoff(entry: Entry) -> bool:
    return entry.data["from"] != HUMAN and entry.data.get("kind", "request") == "request"


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _before(journal: Journal, first: int, names: tuple[str, ...]) -> Iterator[Entry]:
    """The entries of these names before `first`, newest first."""
    return journal.entries(before=first, names=names, newest_first=True)


def _cycles(journal: Journal, first: int, down: Entry | None) -> Iterator[CycleView]:
    """Those that were open at some moment since then. `down`: the end of the session."""
    last = next(_before(journal, first, _OF_CYCLES), None)
    start = last.seq if last is not None and last.name == "cycle.opened" else first
    current: CycleView | None = None
    for entry in journal.entries(after=start - 1, names=[*_OF_CYCLES, "relay.sent", "episode.opened"]):
        data = entry.data
        if entry.name == "cycle.opened":
            if current is not None:
                current.outcome, current.ended = "replaced", entry.wall
                yield current
            current = CycleView(str(data["cycle"]), _text(data.get("goal")), entry.wall)
        elif current is not None and entry.name == "relay.sent":
            current.handoffs += _is_handoff(entry)
        elif current is not None and entry.name == "episode.opened":
            current.stalls += 1
        elif current is not None and data.get("cycle") == current.cycle:
            current.outcome, current.ended = entry.name.removeprefix("cycle."), entry.wall
            current.by, current.reason = _text(data.get("by")), _text(data.get("reason"))
            yield current
            current = None
    if current is not None and down is not None:
        current.outcome, current.ended = "cut off", down.wall
    if current is not None:
        yield current


def _stalls(journal: Journal, first: int, window_s: float, now_s: float, down: Entry | None) -> Iterator[Stall]:
    """Those that were open at some moment since then. `down`: the end of the session."""
    last = next(_before(journal, first, ("episode.opened", "episode.closed")), None)
    start = last.seq if last is not None and last.name == "episode.opened" else first
    current: Stall | None = None
    for entry in journal.entries(after=start - 1, names=_OF_STALLS):
        data = entry.data
        if entry.name == "episode.opened":
            current = Stall(int(str(data["episode"])), entry.wall, _text(data.get("owed")), _text(data.get("relay")))
        elif current is None or data.get("episode") != current.episode:
            continue
        elif entry.name == "episode.closed":
            current.closed, current.by = entry.wall, str(data["by"])
            current.still_s = entry.wall - current.opened + window_s
            yield current
            current = None
        else:
            current.nudges += entry.name == "nudge"
            current.told = current.told or entry.name == "notify"
    if current is not None:
        if down is not None:
            current.closed, current.by = down.wall, "session"
        current.still_s = (now_s if down is None else down.wall) - current.opened + window_s
        yield current


def _told(journal: Journal, first: int, open_questions: Container[str]) -> Iterator[Told]:
    found: dict[str, Told] = {}
    for entry in journal.entries(after=first - 1, names=["engine.telling", "engine.told"]):
        data = entry.data
        if entry.name == "engine.telling":
            line = waits.gist(str(data["text"]))
            told = Told(entry.wall, str(data["kind"]), bool(data["action"]), line)
            cause = data.get("cause")
            told.waits = isinstance(cause, dict) and str(cause.get("question")) in open_questions
            found[str(data["notice"])] = told
        elif str(data["notice"]) in found:
            found[str(data["notice"])].delivered = bool(data["ok"])
    yield from found.values()


def _waits(shot: Snapshot) -> Iterator[Wait]:
    for wait in waits.of(shot):
        yield Wait(f"{wait.what}{f': {short(wait.text, MOST)}' if wait.text else ''}", wait.command)
