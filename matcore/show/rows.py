"""What stands in each row of a session's panel in `mat status`."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from matcore.show import endings, phrases, waits, why
from matcore.show.phrases import LAST_RUNG
from matcore.show.shapes import EpisodeView, GateView, RelayView, RoleView, Snapshot
from matcore.show.text import duration, lasted, moment, plain, short
from matcore.show.waits import Wait

STYLES = {"busy": "green", "idle": "cyan", "gone": "bold red", "unknown": "yellow"}
_MOST_TEXT = 160
_MOST_ASKED = 300
_RELAY_WORDS = {
    "unconfirmed": "typed, but not seen to arrive; it is not typed again, the ladder brings it if nothing moves",
    "undeliverable": "UNDELIVERABLE, {to}'s agent was gone; the ladder brings it when it is back",
    "comes_again": "UNDELIVERABLE, {to}'s agent was gone; it is typed when that is back",
}


def wait(found: Wait) -> Text:
    """What waits, what somebody said of it, and below it what to type."""
    text = Text().append(short(found.what, 2 * _MOST_TEXT), "bold yellow")
    if found.text:
        text.append(": ", "bold yellow").append(short(found.text, _MOST_ASKED), "yellow")
    return text.append(f"\n{found.verb}: ", "").append(found.command, "bold")


def now(shot: Snapshot) -> Text:
    """What goes on, where nobody is needed."""
    if shot.state == "ended":
        return Text(f"the session has ended; its journal stays: mat log {plain(shot.session)}", "dim")
    if any(role.status == "gone" for role in shot.roles):
        return _coming_back(shot)
    for status, one, many in (("busy", "works", "work"), ("unknown", "does", "do")):
        found = [role for role in shot.roles if role.status == status]
        if found:
            who = f"{' and '.join(plain(role.role) for role in found)} {one if len(found) == 1 else many}"
            since = lasted(min(role.since for role in found), shot.now)
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
        return Text(f"you paused it {lasted(paused.since, shot.now)} ago, so nobody is woken; free it: {how}", "yellow")
    text = Text(f"nobody works, quiet for {duration(shot.quiet_s)}", STYLES["idle"])
    return text.append("; waking is held back", "yellow") if shot.is_due and shot.gates else text


def baton(shot: Snapshot) -> Text:
    """Who owes the next handoff, since when and for what."""
    held = shot.baton
    if held is None:
        return Text("nobody owes a handoff", "dim")
    text = Text().append(plain(held.role), "bold")
    text.append(f" for {lasted(held.since, shot.now)}, since {moment(held.since, shot.now)}")
    text.append(f" ({plain(held.relay)} from {plain(held.sender)}", "dim")
    return text.append("" if held.delivered else ", not delivered yet", "yellow").append(")", "dim")


def episode(shot: Snapshot, opened: EpisodeView) -> Text:
    """How far the ladder has come."""
    text = Text().append(f"{opened.episode}, rung {opened.rung} of {LAST_RUNG}", "bold yellow")
    return text.append(f", open for {lasted(opened.opened, shot.now)}", "yellow")


def gate(shot: Snapshot, held: GateView) -> str:
    """What holds waking, for how long it has and will, and what it means; or that it is over and settles."""
    name = plain(held.gate)
    if held.cleared is not None:
        left = "" if held.until is None else f" for {duration(max(0.0, held.until - shot.now))} more"
        return f"{name} is over, held{left} in case it comes back"
    text = f"{name} for {lasted(held.since, shot.now)}"
    if held.until is not None:
        text += f", ends in {duration(max(0.0, held.until - shot.now))}"
    if held.escalated:
        text += ", you were told"
    elif held.escalates_at is not None:
        text += f", you are told in {duration(max(0.0, held.escalates_at - shot.now))}"
    means = "" if _is_told_above(shot, held) else phrases.gate(held.gate, shot.session)
    reason = phrases.gate_reason(held.reason)
    return f"{text}{f': {means}' if means else ''}{f' ({short(reason, _MOST_TEXT)})' if reason else ''}"


def _is_told_above(shot: Snapshot, gate: GateView) -> bool:
    """Whether another row of the panel says what it is: a dialog, a question, a relay, what you were told."""
    kind = gate.gate.partition("/")[0]
    return waits.is_yours(gate, shot.now) or kind in ("awaiting-human", "relay-pending", "dialog", "login", "paused")


def relay(shot: Snapshot, sent: RelayView) -> Text:
    """One that did not arrive, or may not have, and why."""
    way = f"{plain(sent.id)} from {plain(sent.sender)} to {plain(sent.to)}, for {lasted(sent.since, shot.now)}"
    if sent.status == "pending":
        reason = why.held_by(sent, shot.now)
        return Text(f"{way}: not delivered yet{f', {reason}' if reason else ''}", "yellow")
    known_as = "comes_again" if sent.comes_again else sent.status
    words = _RELAY_WORDS.get(known_as, plain(sent.status)).replace("{to}", plain(sent.to))
    return Text(f"{way}: {words}", "red" if sent.status == "undeliverable" else "yellow")


def roles(shot: Snapshot, narrow: bool) -> RenderableType:
    """What each does, for how long, and what that was seen by."""
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
    """Where nobody watches, what was seen last is not shown in the colour of life."""
    holds = shot.baton is not None and shot.baton.role == role.role
    status = "at a dialog" if role.dialog is not None else role.status
    style = STYLES.get(role.status, "") if shot.state == "watched" else "dim"
    seen = short(phrases.evidence(role.evidence), 80)
    about = ", ".join(part for part in (plain(role.backend), seen) if part)
    return [
        Text(plain(role.role), "bold" if holds else ""),
        Text(status, style),
        Text(lasted(role.since, shot.now)),
        Text(about, "dim"),
    ]


def goal(shot: Snapshot) -> Text:
    """What all of it is for, or how that ended and how the next one begins."""
    if shot.cycle is None:
        ended = shot.last_cycle
        text = Text("")
        if ended is not None:
            done = f"{plain(ended.cycle)} was {ended.outcome} by {plain(ended.by)} {lasted(ended.ended, shot.now)} ago"
            text.append(f"{done}{f' ({short(ended.reason, _MOST_TEXT)})' if ended.reason else ''}; ")
        how = f'mat cycle open --session {plain(shot.session)} --goal "TEXT"'
        return text.append(f"no cycle is open, so nobody is woken; open one: {how}", "yellow")
    text = Text(short(shot.goal, _MOST_TEXT) if shot.goal else "(none named)", "")
    if shot.cycle_since is not None:
        text.append(f" ({plain(shot.cycle)}, for {lasted(shot.cycle_since, shot.now)})", "dim")
    return text


def coming_in(at: float, now_s: float) -> str:
    """`in 3m 2s`, or `now`."""
    return f"in {duration(at - now_s)}" if at > now_s else "now"
