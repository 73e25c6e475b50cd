"""The status of sessions as a person reads it: one panel a session, the most urgent thing in it first."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from matcore.engine.book import Book
from matcore.engine.clock import SystemClock
from matcore.places import StatePlaces
from matcore.show import snapshot
from matcore.show.snapshot import Next, RoleView, Snapshot, Supervisor
from matcore.show.text import clock, duration, plain

STYLES = {"busy": "green", "idle": "cyan", "gone": "bold red", "unknown": "yellow"}
BORDERS = {"watched": "green", "unwatched": "bold red", "failed": "bold red", "ended": "dim"}
EVENTS = {
    "episode.opened": "an episode is opened",
    "nudge": "{role} is nudged (rung {rung})",
    "rung.skipped": "rung {rung} is skipped, {role} is gone",
    "notify": "you are told ({kind})",
    "ladder.deferred": "the ladder is deferred by {gates}",
    "gate.escalated": "you are told that {gate} holds",
    "progress.overdue": "you are told that nothing is handed over",
}


def snapshots(state: StatePlaces, sessions: Iterable[str]) -> list[Snapshot]:
    """One for each session that can be read."""
    supervisor = snapshot.supervisor_of(state, SystemClock().boot_s())
    found = []
    for session in sessions:
        book = Book.read(state.journal(session))
        try:
            found.append(snapshot.of(book, supervisor, time.time()))
        finally:
            book.close()
    return found


def render(found: Sequence[Snapshot]) -> RenderableType:
    """All of them, one under the other, and who watches."""
    if not found:
        return Text("no session; start one: mat up")
    return Group(*(panel(each) for each in found), watcher(found[0].supervisor))


def panel(shot: Snapshot) -> Panel:
    parts: list[RenderableType] = [_headline(shot), _roles(shot)]
    lines = [*_alarms(shot), *_ladder(shot)]
    if lines:
        parts.append(Group(*lines))
    title = Text(f" {plain(shot.session)} ")
    title.append(f"({plain(shot.driver)}, {shot.state}) ", style=BORDERS[shot.state])
    return Panel(Group(*parts), title=title, title_align="left", border_style=BORDERS[shot.state])


def watcher(supervisor: Supervisor) -> Text:
    """The supervisor's heartbeat; a stale one is red, never a stale green."""
    age = "" if supervisor.heartbeat_age_s is None else f", heartbeat {duration(supervisor.heartbeat_age_s)} ago"
    if not supervisor.alive:
        return Text(f"supervisor: NOT RUNNING{age}; start it: mat up, or mat supervise", style="bold red")
    if supervisor.stale:
        return Text(f"supervisor: HANGS (pid {supervisor.pid}{age}); what stands here may be old", style="bold red")
    return Text(f"supervisor: watching (pid {supervisor.pid}{age})", style="dim")


def what_next(coming: Next, now: float) -> str:
    """`in 3m 2s review is nudged (rung 1)`."""
    event = str(coming.decision.get("event"))
    values = {key: ", ".join(value) if isinstance(value, list) else value for key, value in coming.decision.items()}
    said = EVENTS.get(event, event).format_map(values)
    return f"in {duration(max(0.0, coming.at - now))} {said}" if coming.at > now else f"now {said}"


def _headline(shot: Snapshot) -> Text:
    if shot.cycle is None:
        return Text("no cycle is open: nobody is woken", style="dim")
    text = Text(f"cycle {plain(shot.cycle)}", style="bold")
    if shot.cycle_since is not None:
        text.append(f" for {duration(shot.now - shot.cycle_since)}", style="")
    if shot.goal:
        text.append(f": {plain(shot.goal)}", style="")
    return text


def _roles(shot: Snapshot) -> Table:
    table = Table.grid(padding=(0, 2))
    for role in shot.roles:
        table.add_row(*_role(shot, role))
    return table


def _role(shot: Snapshot, role: RoleView) -> list[Text]:
    mark = "▶" if shot.baton is not None and shot.baton.role == role.role else " "
    since = duration(max(0.0, shot.now - role.since))
    return [
        Text(f"{mark} {plain(role.role)}", style="bold"),
        Text(f"{role.status} {since}", style=STYLES.get(role.status, "")),
        Text(f"by {plain(role.evidence)}" if role.evidence else "", style="dim"),
        Text(plain(role.backend), style="dim"),
        _holds(shot, role),
    ]


def _holds(shot: Snapshot, role: RoleView) -> Text:
    baton = shot.baton
    if baton is None or baton.role != role.role:
        return Text("")
    return Text(f"holds {plain(baton.relay)} of {plain(baton.sender)} for {duration(shot.now - baton.since)}")


def _alarms(shot: Snapshot) -> list[Text]:
    lines = [
        Text(f"NOT DELIVERED: {plain(n.kind)}, {clock(n.at)}: {plain(n.text.splitlines()[0])}", style="bold red")
        for n in shot.not_delivered
    ]
    for question in shot.questions:
        how = f"mat attach {shot.session} {question.role}" if question.dialog else f"mat answer {shot.session} TEXT"
        lines.append(
            Text(f"{plain(question.role)} asks you: {plain(question.text)[:120]} ({how})", style="bold yellow")
        )
    if shot.state == "failed":
        lines.append(
            Text(f"mat failed in this session: mat log {shot.session} --kind engine.mistake", style="bold red")
        )
    return lines


def _ladder(shot: Snapshot) -> list[Text]:
    lines = []
    if shot.episode is not None:
        opened = duration(shot.now - shot.episode.opened)
        lines.append(Text(f"episode {shot.episode.episode} for {opened}: {shot.episode.stage}", style="bold yellow"))
    if shot.next is not None:
        lines.append(Text(f"if nothing moves: {plain(what_next(shot.next, shot.now))}", style="dim"))
    for gate in shot.gates:
        lines.append(Text(_gate(shot, gate), style="yellow"))
    for relay in shot.relays:
        since = duration(max(0.0, shot.now - relay.since))
        lines.append(
            Text(f"relay {plain(relay.id)} {relay.sender} to {relay.to}: {relay.status} for {since}", "yellow")
        )
    if shot.set_aside:
        lines.append(Text(f"{shot.set_aside} spool files set aside: mat log {shot.session} --kind engine.set_aside"))
    return lines


def _gate(shot: Snapshot, gate: snapshot.GateView) -> str:
    text = f"gate {plain(gate.gate)} for {duration(max(0.0, shot.now - gate.since))}"
    if gate.until is not None:
        text += f", ends in {duration(max(0.0, gate.until - shot.now))}"
    if gate.escalates_at is not None:
        text += f", you are told in {duration(max(0.0, gate.escalates_at - shot.now))}"
    elif gate.escalated:
        text += ", you were told"
    return text
