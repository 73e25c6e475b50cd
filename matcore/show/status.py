"""The status of sessions as a person reads it: what needs them first, then one panel a session, what matters on top.

A panel answers in this order: what did not reach you, what waits for you, who holds the baton, what the ladder does
next, what holds it, what each role does, and what for.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from matcore.engine.book import Book
from matcore.engine.clock import SystemClock
from matcore.errors import MatError
from matcore.places import StatePlaces
from matcore.show import phrases, snapshot
from matcore.show.phrases import LAST_RUNG
from matcore.show.snapshot import GateView, Next, RelayView, RoleView, Snapshot, Supervisor
from matcore.show.text import duration, moment, plain, short

STYLES = {"busy": "green", "idle": "cyan", "gone": "bold red", "unknown": "yellow"}
BORDERS = {
    "watched": "green", "unwatched": "bold red", "hangs": "bold red", "failed": "bold red", "unreadable": "bold red",
    "ended": "dim",
}  # fmt: skip
WORDS = {
    "watched": "watched", "unwatched": "NOT WATCHED", "hangs": "SUPERVISOR HANGS", "failed": "FAILED",
    "unreadable": "UNREADABLE", "ended": "ended",
}  # fmt: skip
WIDEST = 110
_MOST_TEXT = 160
_MOST_ROWS = 4
_RELAY_WORDS = {
    "pending": "not delivered yet",
    "unconfirmed": "typed, but not seen to arrive; it is not typed again",
    "undeliverable": "UNDELIVERABLE",
}
Row = tuple[str, RenderableType]


class Look(msgspec.Struct):
    """All sessions at one moment, and who watches them."""

    supervisor: Supervisor
    sessions: list[Snapshot]

    def without_ended(self) -> Look:
        return Look(self.supervisor, [shot for shot in self.sessions if shot.state != "ended"])


def look(state: StatePlaces, sessions: Iterable[str]) -> Look:
    """One whose journal can't be read says so, and hides no other."""
    supervisor = snapshot.supervisor_of(state, SystemClock().boot_s())
    return Look(supervisor, [_snapshot(state, session, supervisor) for session in sessions])


def _snapshot(state: StatePlaces, session: str, supervisor: Supervisor) -> Snapshot:
    try:
        book = Book.read(state.journal(session))
    except MatError as error:
        return snapshot.unreadable(session, str(error), supervisor, time.time())
    except Exception as error:  # noqa: BLE001 - entries that this mat can't fold: whatever it is, it is this session's
        fault = f"{state.journal(session)}: this mat can't follow its entries ({error}); see: mat verify {session}"
        return snapshot.unreadable(session, fault, supervisor, time.time())
    with book.journal:
        shot = snapshot.of(book, supervisor, time.time())
    shot.session = session  # a put-aside one is known by its folder's name
    return shot


def render(seen: Look) -> RenderableType:
    """All of them, one under the other, and who watches: on top when nobody does."""
    found, supervisor = seen.sessions, seen.supervisor
    last = watcher(supervisor)
    if not found:
        return Group(Text("No session is up. Start one: mat up (in a directory with a duo.yaml; mat init writes one)"))
    trusted = supervisor.alive and not supervisor.stale
    asked = _asked_for(found) if len(found) > 1 else []
    parts: list[RenderableType] = [*([] if trusted else last), *asked, *(panel(each) for each in found)]
    return Group(*parts, *(last if trusted else []))


def _asked_for(found: Sequence[Snapshot]) -> list[Text]:
    """The sessions that need somebody, so that a page of panels need not be read for them."""
    needing = [shot for shot in found if shot.needs is not None]
    if not needing:
        return [Text(f"{len(found)} sessions, none needs you.", style="dim")]
    head = Text(f"{len(needing)} of {len(found)} sessions need you:", style="bold red")
    return [head, *(Text(f"  {plain(shot.session)}: {shot.needs}", style="red") for shot in needing)]


def panel(shot: Snapshot) -> RenderableType:
    table = Table.grid(padding=(0, 2), expand=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, what in _rows(shot):
        table.add_row(Text(label, "bold red" if label.isupper() else ""), what)
    title = Text(f" {plain(shot.session)}")
    for part in (plain(shot.driver), WORDS[shot.state]):
        title.append(f" · {part}" if part else "", BORDERS[shot.state])
    title.append(" ")
    return Panel(table, title=title, title_align="left", border_style=_border(shot))


def _border(shot: Snapshot) -> str:
    """Green is for what needs nobody."""
    if shot.needs is not None:
        return "bold red"
    return "yellow" if shot.state == "watched" and (shot.episode or shot.gates) else BORDERS[shot.state]


def watcher(supervisor: Supervisor) -> list[Text]:
    """The supervisor's heartbeat; a stale one is red, never a stale green."""
    age = "" if supervisor.heartbeat_age_s is None else f"heartbeat {duration(supervisor.heartbeat_age_s)} ago"
    if not supervisor.alive:
        seen = f"; its last {age}" if age else ""
        said = [Text(f"supervisor NOT RUNNING{seen}. Nobody watches. Start it: mat up, or mat supervise", "bold red")]
    elif supervisor.stale:
        text = (
            f"supervisor HANGS (pid {supervisor.pid}): {age}. What stands here may be old. Its guard restarts it soon"
        )
        said = [Text(f"{text}; see: mat doctor", "bold red")]
    elif not age:
        said = [Text("supervisor starting: no heartbeat yet", "yellow")]
    else:
        said = [Text(f"supervisor watching (pid {supervisor.pid}), {age}", "dim")]
    if supervisor.set_aside:
        said.append(
            Text(f"{supervisor.set_aside} records of yours or of hooks were set aside; see: mat doctor", "yellow")
        )
    return said


def what_next(coming: Next, now: float) -> str:
    """`in 3m 2s review is nudged (rung 1)`."""
    said = phrases.coming(coming.decision)
    return f"in {duration(coming.at - now)} {said}" if coming.at > now else f"now {said}"


def _rows(shot: Snapshot) -> Iterator[Row]:
    if shot.fault is not None:
        yield "fault", Text(plain(shot.fault), "red")
        return
    yield from _alarms(shot)
    if shot.state != "ended":
        yield "baton", _baton(shot)
        yield from _ladder(shot)
        yield from (("gate", Text(_gate(shot, gate), "yellow")) for gate in shot.gates)
        yield from _relays(shot)
        yield "roles", _roles(shot)
    yield "goal", _goal(shot)
    if shot.set_aside:
        files = "1 file" if shot.set_aside == 1 else f"{shot.set_aside} files"
        yield "aside", Text(f"{files} of agents set aside: mat log {plain(shot.session)} --kind engine.set_aside")


def _alarms(shot: Snapshot) -> Iterator[Row]:
    name = plain(shot.session)
    if shot.state == "failed":
        yield "FAILED", Text(f"mat itself failed here: mat log {name} --kind engine.mistake", "bold red")
    hidden = len(shot.not_delivered) - _MOST_ROWS
    for notice in shot.not_delivered[-_MOST_ROWS:]:
        text = Text(f"{plain(notice.kind)}, {moment(notice.at, shot.now)}: ", "bold red")
        text.append(short(_first_line(notice.text), _MOST_TEXT))
        text.append(f" ({short(notice.said, _MOST_TEXT)})" if notice.said else "", "dim")
        yield "NOT DELIVERED", text
    if hidden > 0:
        yield "", Text(f"and {hidden} more: mat log {name} --kind engine.told", "red")
    for question in shot.questions:
        role = plain(question.role)
        how = f"mat attach {name} {role}" if question.dialog else f'mat answer {name} "TEXT"'
        asked = Text(f"{role}: {short(question.text, _MOST_TEXT)} ", "bold yellow")
        asked.append(f"({duration(max(0.0, shot.now - question.since))} ago; {how})", "yellow")
        yield "ASKS YOU", asked


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _baton(shot: Snapshot) -> Text:
    baton = shot.baton
    if baton is None:
        return Text("nobody owes a handoff", "dim")
    text = Text()
    text.append(plain(baton.role), "bold")
    text.append(f" for {duration(shot.now - baton.since)}, since {moment(baton.since, shot.now)}", "")
    text.append(f" ({plain(baton.relay)} from {plain(baton.sender)}", "dim")
    text.append("" if baton.delivered else ", not delivered yet", "yellow")
    text.append(")", "dim")
    return text


def _ladder(shot: Snapshot) -> Iterator[Row]:
    if shot.cycle is None:
        return
    coming = "" if shot.next is None else what_next(shot.next, shot.now)
    if shot.episode is None:
        if coming:
            yield "next", Text(f"if nothing moves: {coming}", "dim")
        return
    episode = shot.episode
    text = Text(f"{episode.episode}, rung {episode.rung} of {LAST_RUNG}", "bold yellow")
    text.append(f", open for {duration(shot.now - episode.opened)}", "yellow")
    yield "EPISODE", text
    if episode.rung >= LAST_RUNG:
        yield (
            "",
            Text(
                f"you were told; nothing more is tried until somebody acts: mat why {plain(shot.session)}", "bold red"
            ),
        )
    elif coming:
        yield "next", Text(f"if nothing moves: {coming}", "yellow")


def _gate(shot: Snapshot, gate: GateView) -> str:
    text = f"{plain(gate.gate)} for {duration(max(0.0, shot.now - gate.since))}"
    if gate.until is not None:
        text += f", ends in {duration(max(0.0, gate.until - shot.now))}"
    if gate.escalated:
        text += ", you were told"
    elif gate.escalates_at is not None:
        text += f", you are told in {duration(max(0.0, gate.escalates_at - shot.now))}"
    return f"{text} ({short(gate.reason, _MOST_TEXT)})" if gate.reason else text


def _relays(shot: Snapshot) -> Iterator[Row]:
    hidden = len(shot.relays) - _MOST_ROWS
    for relay in shot.relays[:_MOST_ROWS]:
        yield "relay", _relay(shot, relay)
    if hidden > 0:
        yield "", Text(f"and {hidden} more", "yellow")


def _relay(shot: Snapshot, relay: RelayView) -> Text:
    since = duration(max(0.0, shot.now - relay.since))
    way = f"{plain(relay.id)} from {plain(relay.sender)} to {plain(relay.to)}"
    words = _RELAY_WORDS.get(relay.status, plain(relay.status))
    return Text(f"{way}, for {since}: {words}", "red" if relay.status == "undeliverable" else "yellow")


def _roles(shot: Snapshot) -> Table:
    table = Table.grid(padding=(0, 2))
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for role in shot.roles:
        table.add_row(*_role(shot, role))
    return table


def _role(shot: Snapshot, role: RoleView) -> list[Text]:
    holds = shot.baton is not None and shot.baton.role == role.role
    seen = f", {short(phrases.evidence(role.evidence), 60)}" if role.evidence else ""
    agent = f"{plain(role.backend)}{seen}"
    return [
        Text(plain(role.role), "bold" if holds else ""),
        Text(role.status, STYLES.get(role.status, "")),
        Text(duration(max(0.0, shot.now - role.since))),
        Text(agent, "dim"),
    ]


def _goal(shot: Snapshot) -> RenderableType:
    if shot.state == "ended":
        return Text(f"the session has ended; its journal stays: mat log {plain(shot.session)}", "dim")
    if shot.cycle is None:
        how = f"mat cycle open --session {plain(shot.session)} --goal TEXT"
        return Padding(Text(f"no cycle is open, so nobody is woken; open one: {how}", "yellow"), 0)
    text = Text(short(shot.goal, _MOST_TEXT) if shot.goal else "(none named)", "")
    if shot.cycle_since is not None:
        text.append(f" ({plain(shot.cycle)}, for {duration(shot.now - shot.cycle_since)})", "dim")
    return text
