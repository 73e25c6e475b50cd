"""One session as a person reads it in `mat status`: what matters on top, or all of it on one line.

A panel answers in this order: what waits for you and what to type, or else what goes on; who holds the baton; what the
ladder does next; what holds it; which relays did not arrive; what each role does; what for.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from matcore.show import dialogs, phrases, rows, waits
from matcore.show.phrases import LAST_RUNG
from matcore.show.shapes import Snapshot
from matcore.show.text import lasted, plain
from matcore.words.figures import counted

BORDERS = {
    "watched": "green", "unwatched": "bold red", "hangs": "bold red", "failed": "bold red", "unreadable": "bold red",
    "ended": "dim",
}  # fmt: skip
WORDS = {
    "watched": "watched", "unwatched": "NOT WATCHED", "hangs": "SUPERVISOR HANGS", "failed": "FAILED",
    "unreadable": "UNREADABLE", "ended": "ended",
}  # fmt: skip
NARROW = 72
"""Below that many columns labels are folded and each role has lines of its own."""
_MOST_ROWS = 4
_LABEL = 9
_BESIDE = ("ASKS YOU", "MAT ASKS", "BLOCKED", "NOT DELIVERED")
"""What waits for a person beside what goes on."""
Row = tuple[str, RenderableType]


def panel(shot: Snapshot, width: int) -> RenderableType:
    """`width`: columns of the terminal."""
    narrow = width < NARROW
    table = Table.grid(padding=(0, 1 if narrow else 2), expand=False)
    table.add_column(style="dim", no_wrap=not narrow, max_width=_LABEL if narrow else None)
    table.add_column(overflow="fold")
    for label, what in _rows(shot, narrow):
        table.add_row(Text(label, "not dim bold red" if label.isupper() else ""), what)
    title = Text(f" {plain(shot.session)}")
    for part in (plain(shot.driver), WORDS[shot.state]):
        title.append(f" · {part}" if part else "", border(shot))
    title.append(" ")
    return Panel(table, title=title, title_align="left", border_style=border(shot))


def border(shot: Snapshot) -> str:
    """Green is for what needs nobody."""
    if shot.needs is not None:
        return "bold red"
    return "yellow" if shot.state == "watched" and (shot.episode or shot.gates) else BORDERS[shot.state]


def has_trouble(shot: Snapshot) -> bool:
    """Whether there is more to know of it than who works on what."""
    return shot.needs is not None or bool(shot.episode or shot.gates or shot.relays or shot.set_aside)


def line(shot: Snapshot) -> Text:
    """All that matters of a session on one line, as far as that goes: nothing of it is left out."""
    parts = [] if shot.state == "watched" else [WORDS[shot.state]]
    if shot.needs is not None:
        parts.append(shot.needs)
    if shot.baton is not None:
        parts.append(f"baton {plain(shot.baton.role)} for {lasted(shot.baton.since, shot.now)}")
    if shot.episode is not None:
        parts.append(f"EPISODE {shot.episode.episode}, rung {shot.episode.rung} of {LAST_RUNG}")
    if gates := [plain(gate.gate) for gate in shot.gates if not dialogs.explains(shot, gate)]:
        parts.append(f"held by {', '.join(gates)}")
    if shot.relays:
        parts.append(f"{len(shot.relays)} not arrived")
    if shot.not_delivered:
        parts.append(f"{len(shot.not_delivered)} NOT DELIVERED")
    if shot.state == "watched" and all(wait.label in _BESIDE for wait in waits.of(shot)):
        parts.append(rows.now(shot).plain)
    text = Text().append(plain(shot.session), "bold")
    return text.append(f": {' · '.join(parts)}", "red" if shot.needs is not None else border(shot) if parts else "dim")


def _rows(shot: Snapshot, narrow: bool) -> Iterator[Row]:
    found = waits.of(shot)
    yield from ((wait.label, rows.wait(wait)) for wait in found[:_MOST_ROWS])
    if len(found) > _MOST_ROWS:
        yield "", Text(f"and {len(found) - _MOST_ROWS} more: mat why {plain(shot.session)}", "red")
    if shot.fault is not None:
        return
    if shot.episode is not None and shot.state != "ended":
        yield "EPISODE", rows.episode(shot, shot.episode)
    if all(wait.label in _BESIDE for wait in found):
        yield "now", rows.now(shot)
    if shot.state != "ended":
        if shot.cycle is not None or shot.baton is not None:
            yield "baton", rows.baton(shot)
        yield from _ladder(shot)
        gates = [gate for gate in shot.gates if not dialogs.explains(shot, gate)]
        yield from (("gate", Text(rows.gate(shot, gate), "yellow")) for gate in gates)
        yield from _relays(shot)
        yield "roles" if shot.state == "watched" else "last seen", rows.roles(shot, narrow)
        yield "goal", rows.goal(shot)
    if shot.set_aside:
        see = f"mat log {plain(shot.session)} --kind engine.set_aside"
        yield "aside", Text(f"{counted(shot.set_aside, 'file')} of agents set aside: {see}")


def _ladder(shot: Snapshot) -> Iterator[Row]:
    if shot.cycle is None:
        return
    for each in shot.awaits:
        what = phrases.on_its_way(each.event, each.role or "")
        yield "", Text(f"{what}: on its way, {lasted(each.since, shot.now)}", "dim")
    if shot.next is not None:
        text = Text("if nothing moves: ", "yellow" if shot.episode is not None else "dim")
        told = dialogs.as_told(shot, shot.next.decision, shot.next.at)
        text.append(f"{rows.coming_in(shot.next.at, shot.now)} {phrases.coming(told)}")
        if shot.then is not None:
            told = dialogs.as_told(shot, shot.then.decision, shot.then.at)
            said = phrases.coming_then(shot.next.decision, told)
            text.append(f"; then {rows.coming_in(shot.then.at, shot.now)} {said}")
        yield "next", text


def _relays(shot: Snapshot) -> Iterator[Row]:
    hidden = len(shot.relays) - _MOST_ROWS
    for relay in shot.relays[:_MOST_ROWS]:
        yield "relay", rows.relay(shot, relay)
    if hidden > 0:
        yield "", Text(f"and {hidden} more", "yellow")
