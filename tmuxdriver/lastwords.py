"""The last lines that a program left on the screen of its dead pane: why it ended, in its own words, for people only.

tmux keeps that screen (`remain-on-exit`) and writes a line of its own below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matcore.engine.driver import Sighting
from tmuxdriver.panes import PANE_FORMAT, Identity, parse_pane
from tmuxdriver.seat import Seat
from tmuxdriver.server import Tmux, TmuxError

LINES, CHARACTERS = 3, 200
_PANES = 20
"""So many are asked in one tick, which must not get slow when all agents end at once."""
_TMUX_SAYS = "Pane is dead"


def added(tmux: Tmux, found: Sequence[Sighting], seats: Sequence[Seat]) -> list[Sighting]:
    """The sightings, and in each `role.gone` of a pane that is still there as `said` what stands last on its screen."""
    gone = {(each.session, str(each.fields["role"])) for each in found if each.name == "role.gone"}
    if not gone:
        return list(found)
    identities = {
        key: seat.identity
        for seat in seats
        if (key := (seat.spec.session, seat.role.name)) in gone and seat.identity is not None
    }
    said = {key: _left_in(tmux, identity) for key, identity in list(identities.items())[:_PANES]}
    return [_with(each, said.get((each.session, str(each.fields.get("role"))), "")) for each in found]


def _left_in(tmux: Tmux, identity: Identity) -> str:
    """The line that tmux writes scrolls a screen, even one that is nearly empty: what it pushed out counts, too."""
    pane = ["-t", identity.pane_id]
    try:
        out = tmux.run(["display-message", "-p", *pane, PANE_FORMAT], ["capture-pane", "-p", "-S", f"-{LINES}", *pane])
    except TmuxError:
        return ""
    row, _, screen = out.partition("\n")
    pane_now = parse_pane(row)
    return last_lines(screen) if pane_now is not None and pane_now.identity == identity else ""


def last_lines(screen: str) -> str:
    """The last few lines with something on them, tmux's own left out."""
    lines = [line.strip() for line in screen.split("\n")]
    ours = [line[:CHARACTERS] for line in lines if any(map(str.isalnum, line)) and not line.startswith(_TMUX_SAYS)]
    return "\n".join(ours[-LINES:])


def _with(sighting: Sighting, said: str) -> Sighting:
    if sighting.name != "role.gone" or not said:
        return sighting
    return replace(sighting, fields={**sighting.fields, "said": said})
