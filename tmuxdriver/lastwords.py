"""The last lines that a program left on the screen of its dead pane: why it ended, in its own words, for people only.

tmux keeps that screen (`remain-on-exit`) and writes a line of its own below it. A program that a signal ended had no
time to say anything: where its own surface still stands there, its input line and its footer are no last words.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from matcore.engine.driver import Sighting
from tmuxdriver import screen as screens
from tmuxdriver.cells import Capture
from tmuxdriver.panes import PANE_FORMAT, Identity, Pane, parse_pane
from tmuxdriver.profile import Profile
from tmuxdriver.seat import Seat
from tmuxdriver.server import Tmux, TmuxError

log = logging.getLogger("mat.tmux")

LINES, CHARACTERS = 3, 200
_PANES = 20
"""So many are asked in one tick, which must not get slow when all agents end at once."""
_TMUX_SAYS = "Pane is dead"
_NOT_KNOWN = "exit status unknown"
"""What is said of a pane in whose row no exit status stands (yet)."""


def added(tmux: Tmux, found: Sequence[Sighting], seats: Sequence[Seat]) -> list[Sighting]:
    """The sightings, and in each `role.gone` of a pane that is still there as `said` what stands last on its screen."""
    gone = {(each.session, str(each.fields["role"])) for each in found if each.name == "role.gone"}
    if not gone:
        return list(found)
    dead = [
        (key, seat, seat.identity)
        for seat in seats
        if (key := (seat.spec.session, seat.role.name)) in gone and seat.identity is not None
    ]
    left = {key: _left_in(tmux, seat.profile, identity) for key, seat, identity in dead[:_PANES]}
    return [_with(each, left.get((each.session, str(each.fields.get("role"))), _Left())) for each in found]


@dataclass(frozen=True, slots=True)
class _Left:
    """What stands in a dead pane; `ended`: how its program ended, where tmux knows it."""

    said: str = ""
    ended: str = ""


def _left_in(tmux: Tmux, profile: Profile, identity: Identity) -> _Left:
    try:
        return _read(tmux, profile, identity)
    except Exception:  # that it is gone has to be told, with its last words or without
        log.exception("the last words in %s can't be read", identity.pane_id)
        return _Left()


def _read(tmux: Tmux, profile: Profile, identity: Identity) -> _Left:
    found = _look(tmux, identity)
    if found is None:
        return _Left()
    pane, screen = found
    said_so = pane.values["pane_dead_status"] or not pane.dead or not shows_its_surface(profile, screen)
    return _Left(last_lines(screen) if said_so else "", how_it_ended(pane.values))


def how_it_ended(values: Mapping[str, str]) -> str:
    """How the pane's program ended, empty where tmux does not know it, which happens."""
    status, signal = values["pane_dead_status"], values["pane_dead_signal"]
    return f"killed by signal {signal}" if signal else f"exit status {status}" if status else ""


def _look(tmux: Tmux, identity: Identity) -> tuple[Pane, str] | None:
    """The line that tmux writes scrolls a screen, even one that is nearly empty: what it pushed out counts, too."""
    pane = ["-t", identity.pane_id]
    try:
        out = tmux.run(["display-message", "-p", *pane, PANE_FORMAT], ["capture-pane", "-p", "-S", f"-{LINES}", *pane])
    except TmuxError:
        return None
    row, _, screen = out.partition("\n")
    pane_now = parse_pane(row)
    return (pane_now, screen) if pane_now is not None and pane_now.identity == identity else None


def shows_its_surface(profile: Profile, screen: str) -> bool:
    """Whether the program's surface stands there as it does while it runs: an input line, a dialog, marks of work."""
    ours = "\n".join(line for line in screen.split("\n") if not line.startswith(_TMUX_SAYS))
    seen = screens.read(profile, Capture(ours))
    return seen.composer != "absent" or seen.state in ("idle", "busy", "dialog")


def last_lines(screen: str) -> str:
    """The last few lines with something on them, tmux's own left out."""
    lines = [line.strip() for line in screen.split("\n")]
    ours = [line[:CHARACTERS] for line in lines if any(map(str.isalnum, line)) and not line.startswith(_TMUX_SAYS)]
    return "\n".join(ours[-LINES:])


def _with(sighting: Sighting, left: _Left) -> Sighting:
    if sighting.name != "role.gone":
        return sighting
    fields = {**sighting.fields, "said": left.said} if left.said else sighting.fields
    return replace(sighting, fields=fields, evidence=sighting.evidence.replace(_NOT_KNOWN, left.ended or _NOT_KNOWN))
