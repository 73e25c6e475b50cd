"""One session as a person reads it in `mat status`: what matters on top, or all of it on one line.

A panel answers in this order: what waits for you and what to type, or else what goes on; who holds the baton; what the
ladder does next; what holds it; which relays did not arrive; what each role does; what for.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from matcore.show import endings, phrases, waits, why
from matcore.show.phrases import LAST_RUNG
from matcore.show.shapes import EpisodeView, GateView, RelayView, RoleView, Snapshot
from matcore.show.text import duration, moment, plain, short
from matcore.show.waits import Wait

STYLES = {"busy": "green", "idle": "cyan", "gone": "bold red", "unknown": "yellow"}
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
_MOST_TEXT = 160
_MOST_ASKED = 300
_MOST_ROWS = 4
_LABEL = 9
_BESIDE = ("ASKS YOU", "MAT ASKS", "BLOCKED", "NOT DELIVERED")
"""What waits for a person beside what goes on."""
_RELAY_WORDS = {
    "unconfirmed": "typed, but not seen to arrive; it is not typed again, the ladder brings it if nothing moves",
    "undeliverable": "UNDELIVERABLE, {to}'s agent was gone; the ladder brings it when it is back",
}
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
        parts.append(f"baton {plain(shot.baton.role)} for {_for(shot, shot.baton.since)}")
    if shot.episode is not None:
        parts.append(f"EPISODE {shot.episode.episode}, rung {shot.episode.rung} of {LAST_RUNG}")
    if shot.gates:
        parts.append(f"held by {', '.join(plain(gate.gate) for gate in shot.gates)}")
    if shot.relays:
        parts.append(f"{len(shot.relays)} not arrived")
    if shot.not_delivered:
        parts.append(f"{len(shot.not_delivered)} NOT DELIVERED")
    if shot.state == "watched" and all(wait.label in _BESIDE for wait in waits.of(shot)):
        parts.append(_now(shot).plain)
    text = Text().append(plain(shot.session), "bold")
    return text.append(f": {' · '.join(parts)}", "red" if shot.needs is not None else border(shot) if parts else "dim")


def _in(at: float, now: float) -> str:
    return f"in {duration(at - now)}" if at > now else "now"


def _rows(shot: Snapshot, narrow: bool) -> Iterator[Row]:
    found = waits.of(shot)
    yield from ((wait.label, _wait(wait)) for wait in found[:_MOST_ROWS])
    if len(found) > _MOST_ROWS:
        yield "", Text(f"and {len(found) - _MOST_ROWS} more: mat why {plain(shot.session)}", "red")
    if shot.fault is not None:
        return
    if shot.episode is not None and shot.state != "ended":
        yield "EPISODE", _episode(shot, shot.episode)
    if all(wait.label in _BESIDE for wait in found):
        yield "now", _now(shot)
    if shot.state != "ended":
        if shot.cycle is not None or shot.baton is not None:
            yield "baton", _baton(shot)
        yield from _ladder(shot)
        gates = [gate for gate in shot.gates if not why.is_of_dialog(shot, gate)]
        yield from (("gate", Text(_gate(shot, gate), "yellow")) for gate in gates)
        yield from _relays(shot)
        yield "roles" if shot.state == "watched" else "last seen", _roles(shot, narrow)
        yield "goal", _goal(shot)
    if shot.set_aside:
        files = "1 file" if shot.set_aside == 1 else f"{shot.set_aside} files"
        yield "aside", Text(f"{files} of agents set aside: mat log {plain(shot.session)} --kind engine.set_aside")


def _wait(wait: Wait) -> Text:
    text = Text().append(short(wait.what, 2 * _MOST_TEXT), "bold yellow")
    if wait.text:
        text.append(": ", "bold yellow").append(short(wait.text, _MOST_ASKED), "yellow")
    return text.append(f"\n{wait.verb}: ", "").append(wait.command, "bold")


def _now(shot: Snapshot) -> Text:
    """What goes on, where nobody is needed."""
    if shot.state == "ended":
        return Text(f"the session has ended; its journal stays: mat log {plain(shot.session)}", "dim")
    if any(role.status == "gone" for role in shot.roles):
        return _coming_back(shot)
    for status, one, many in (("busy", "works", "work"), ("unknown", "does", "do")):
        found = [role for role in shot.roles if role.status == status]
        if found:
            who = f"{' and '.join(plain(role.role) for role in found)} {one if len(found) == 1 else many}"
            since = _for(shot, min(role.since for role in found))
            said = who if status == "busy" else f"what {who} can't be made out"
            if status == "unknown" and not any(role.evidence for role in found):
                said = f"nothing has been seen of {' and '.join(plain(role.role) for role in found)} yet"
            return Text(f"{said}, for {since}", STYLES[status])
    return _quiet(shot)


def _coming_back(shot: Snapshot) -> Text:
    role = next(role for role in shot.roles if role.status == "gone")
    return Text(endings.told(shot, role), "yellow")


def _quiet(shot: Snapshot) -> Text:
    paused = next((gate for gate in shot.gates if gate.gate == "paused"), None)
    if shot.cycle is None:
        return Text("nobody works, and no cycle is open")
    if paused is not None:
        how = f"mat resume {plain(shot.session)}"
        return Text(f"you paused it {_for(shot, paused.since)} ago, so nobody is woken; free it: {how}", "yellow")
    text = Text(f"nobody works, quiet for {duration(shot.quiet_s)}", STYLES["idle"])
    return text.append("; waking is held back", "yellow") if shot.is_due and shot.gates else text


def _baton(shot: Snapshot) -> Text:
    baton = shot.baton
    if baton is None:
        return Text("nobody owes a handoff", "dim")
    text = Text()
    text.append(plain(baton.role), "bold")
    text.append(f" for {_for(shot, baton.since)}, since {moment(baton.since, shot.now)}", "")
    text.append(f" ({plain(baton.relay)} from {plain(baton.sender)}", "dim")
    text.append("" if baton.delivered else ", not delivered yet", "yellow")
    text.append(")", "dim")
    return text


def _episode(shot: Snapshot, episode: EpisodeView) -> Text:
    text = Text(f"{episode.episode}, rung {episode.rung} of {LAST_RUNG}", "bold yellow")
    return text.append(f", open for {_for(shot, episode.opened)}", "yellow")


def _ladder(shot: Snapshot) -> Iterator[Row]:
    if shot.cycle is None:
        return
    for each in shot.awaits:
        yield (
            "",
            Text(f"{phrases.on_its_way(each.event, each.role or '')}: on its way, {_for(shot, each.since)}", "dim"),
        )
    if shot.next is not None:
        text = Text("if nothing moves: ", "yellow" if shot.episode is not None else "dim")
        text.append(f"{_in(shot.next.at, shot.now)} {phrases.coming(shot.next.decision)}")
        if shot.then is not None:
            said = phrases.coming_then(shot.next.decision, shot.then.decision)
            text.append(f"; then {_in(shot.then.at, shot.now)} {said}")
        yield "next", text


def _gate(shot: Snapshot, gate: GateView) -> str:
    name = plain(gate.gate)
    if gate.cleared is not None:
        left = "" if gate.until is None else f" for {duration(max(0.0, gate.until - shot.now))} more"
        return f"{name} is over, held{left} in case it comes back"
    text = f"{name} for {_for(shot, gate.since)}"
    if gate.until is not None:
        text += f", ends in {duration(max(0.0, gate.until - shot.now))}"
    if gate.escalated:
        text += ", you were told"
    elif gate.escalates_at is not None:
        text += f", you are told in {duration(max(0.0, gate.escalates_at - shot.now))}"
    means = "" if _is_told_above(shot, gate) else phrases.gate(gate.gate, shot.session)
    reason = phrases.gate_reason(gate.reason)
    return f"{text}{f': {means}' if means else ''}{f' ({short(reason, _MOST_TEXT)})' if reason else ''}"


def _is_told_above(shot: Snapshot, gate: GateView) -> bool:
    """Whether another row of the panel says what it is: a dialog, a question, a relay, what you were told."""
    kind = gate.gate.partition("/")[0]
    return waits.is_yours(gate, shot.now) or kind in ("awaiting-human", "relay-pending", "dialog", "login", "paused")


def _relays(shot: Snapshot) -> Iterator[Row]:
    hidden = len(shot.relays) - _MOST_ROWS
    for relay in shot.relays[:_MOST_ROWS]:
        yield "relay", _relay(shot, relay)
    if hidden > 0:
        yield "", Text(f"and {hidden} more", "yellow")


def _relay(shot: Snapshot, relay: RelayView) -> Text:
    way = f"{plain(relay.id)} from {plain(relay.sender)} to {plain(relay.to)}, for {_for(shot, relay.since)}"
    if relay.status == "pending":
        reason = why.held_by(relay, shot.now)
        return Text(f"{way}: not delivered yet{f', {reason}' if reason else ''}", "yellow")
    words = _RELAY_WORDS.get(relay.status, plain(relay.status)).replace("{to}", plain(relay.to))
    return Text(f"{way}: {words}", "red" if relay.status == "undeliverable" else "yellow")


def _roles(shot: Snapshot, narrow: bool) -> RenderableType:
    cells = [_role(shot, role) for role in shot.roles]
    if narrow:
        return Group(*(Text(" ").join([*each[:3], Text("·", "dim"), each[3]]) for each in cells))
    table = Table.grid(padding=(0, 2))
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for each in cells:
        table.add_row(*each)
    return table


def _role(shot: Snapshot, role: RoleView) -> list[Text]:
    """What was seen last is no colour of life where nobody watches."""
    holds = shot.baton is not None and shot.baton.role == role.role
    status = "at a dialog" if role.dialog is not None else role.status
    style = STYLES.get(role.status, "") if shot.state == "watched" else "dim"
    seen = short(phrases.evidence(role.evidence), 80)
    about = ", ".join(part for part in (plain(role.backend), seen) if part)
    return [
        Text(plain(role.role), "bold" if holds else ""),
        Text(status, style),
        Text(_for(shot, role.since)),
        Text(about, "dim"),
    ]


def _goal(shot: Snapshot) -> Text:
    if shot.cycle is None:
        ended = shot.last_cycle
        text = Text("")
        if ended is not None:
            done = f"{plain(ended.cycle)} was {ended.outcome} by {plain(ended.by)} {_for(shot, ended.ended)} ago"
            text.append(f"{done}{f' ({short(ended.reason, _MOST_TEXT)})' if ended.reason else ''}; ")
        how = f'mat cycle open --session {plain(shot.session)} --goal "TEXT"'
        return text.append(f"no cycle is open, so nobody is woken; open one: {how}", "yellow")
    text = Text(short(shot.goal, _MOST_TEXT) if shot.goal else "(none named)", "")
    if shot.cycle_since is not None:
        text.append(f" ({plain(shot.cycle)}, for {_for(shot, shot.cycle_since)})", "dim")
    return text


def _for(shot: Snapshot, since: float) -> str:
    return duration(max(0.0, shot.now - since))
