"""The last lines that a program left on the screen of its dead pane: why it ended, in its own words, for people only.

tmux keeps that screen (`remain-on-exit`) and writes a line of its own below it. A program that a signal ended had no
time to say anything: where its own surface still stands there, its input line and its footer are no last words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from matcore.engine.driver import Sighting
from tmuxdriver import screen as screens
from tmuxdriver.cells import Capture
from tmuxdriver.panes import PANE_FORMAT, Identity, parse_pane
from tmuxdriver.profile import Profile
from tmuxdriver.seat import Seat
from tmuxdriver.server import Tmux, TmuxError

LINES, CHARACTERS = 3, 200
_PANES = 20
"""So many are asked in one tick, which must not get slow when all agents end at once."""
_TMUX_SAYS = "Pane is dead"
_NOT_KNOWN = "exit status unknown"
"""What the list of panes says of one that a signal ended."""


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
    """What stands in a dead pane; `signal` is the number of the one that ended its program, where tmux knows it."""

    said: str = ""
    signal: str = ""


def _left_in(tmux: Tmux, profile: Profile, identity: Identity) -> _Left:
    """The line that tmux writes scrolls a screen, even one that is nearly empty: what it pushed out counts, too."""
    pane = ["-t", identity.pane_id]
    try:
        out = tmux.run(["display-message", "-p", *pane, PANE_FORMAT], ["capture-pane", "-p", "-S", f"-{LINES}", *pane])
    except TmuxError:
        return _Left()
    row, _, screen = out.partition("\n")
    pane_now = parse_pane(row)
    if pane_now is None or pane_now.identity != identity:
        return _Left()
    signal = pane_now.values["pane_dead_signal"]
    return _Left("" if signal and shows_its_surface(profile, screen) else last_lines(screen), signal)


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
    known = f"killed by signal {left.signal}" if left.signal else _NOT_KNOWN
    return replace(sighting, fields=fields, evidence=sighting.evidence.replace(_NOT_KNOWN, known))
