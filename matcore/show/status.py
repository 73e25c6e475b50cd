"""The status of sessions as a person reads it: what needs them first, then one panel a session.

Where there are more sessions than fit, those of which there is nothing to say but who works are one line each, then
those that need nobody, then all: whatever is on the page, nothing that needs somebody is off it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import msgspec
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from matcore.engine.clock import SystemClock
from matcore.places import StatePlaces
from matcore.show import panel, snapshot, waits
from matcore.show.shapes import Snapshot, Supervisor
from matcore.show.text import duration, moment, plain

_LATE_S, _DOUBT = 5.0, ("dim", "yellow")
"""After this long a heartbeat that comes every second is late: the colours of one in time and of a late one."""
_MANY = 4
"""From this many sessions on, not all are shown in full."""


class Look(msgspec.Struct):
    """All sessions at one moment, and who watches them."""

    supervisor: Supervisor
    sessions: list[Snapshot]

    def without_ended(self) -> Look:
        """The same without sessions that have ended."""
        return Look(self.supervisor, [shot for shot in self.sessions if shot.state != "ended"])


def look(state: StatePlaces, sessions: Iterable[str]) -> Look:
    """One whose journal can't be read says so, and hides no other."""
    supervisor = snapshot.supervisor_of(state, SystemClock().boot_s())
    return Look(supervisor, [snapshot.read(state, session, supervisor, time.time())[0] for session in sessions])


def render(seen: Look, *, on_screen: bool = False) -> RenderableType:
    """All of them, one under the other, and who watches: on top when nobody does. `on_screen`: on a screen of its own,
    with no more lines than that has."""
    return _Page(seen, on_screen)


class _Page:
    """Takes the size of the terminal that it is drawn on."""

    def __init__(self, seen: Look, on_screen: bool) -> None:
        self.seen = seen
        self.on_screen = on_screen

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found, width = self.seen.sessions, options.max_width
        if not found:
            yield Text("No session is up. Start one: mat up (in a directory with a duo.yaml; mat init writes one)")
        elif not self.on_screen:
            yield _group(self.seen, width, 0 if len(found) < _MANY else 1)
        else:
            free, rows = options.update(height=None), options.size.height

            def fits(group: Group) -> bool:
                return len(console.render_lines(group, free)) <= rows

            pages = chain(
                (_group(self.seen, width, level) for level in range(len(_IN_FULL))),
                (_cropped(self.seen, left_out) for left_out in range(len(found) + 1)),
            )
            yield next((page for page in pages if fits(page)), _cropped(self.seen, len(found)))


_IN_FULL: tuple[Callable[[Snapshot], bool], ...] = (
    lambda _shot: True,
    panel.has_trouble,
    lambda shot: shot.needs is not None,
    lambda _shot: False,
)
"""Which sessions have a panel, from the most of them to none; the others have a line."""


def _group(seen: Look, width: int, level: int) -> Group:
    found, in_full = sorted(seen.sessions, key=lambda shot: shot.needs is None), _IN_FULL[level]
    parts: list[RenderableType] = [] if len(found) == 1 else list(_asked_for(found))
    parts += (panel.panel(shot, width) for shot in found if in_full(shot))
    return _watched(seen, [*parts, *(panel.line(shot) for shot in found if not in_full(shot))])


def _cropped(seen: Look, left_out: int) -> Group:
    """Only the names of those that need somebody, and lines of the others, of which so many are left out."""
    quiet = [shot for shot in seen.sessions if shot.needs is None]
    shown = quiet[: max(0, len(quiet) - left_out)]
    hidden = len(quiet) - len(shown)
    rest = [Text(f"and {hidden} more sessions, none of them needs you", "dim")] if hidden else []
    return _watched(seen, [*_asked_for(seen.sessions), *(panel.line(shot) for shot in shown), *rest])


def _watched(seen: Look, parts: Sequence[RenderableType]) -> Group:
    """Who watches goes on top when nobody does."""
    last = watcher(seen.supervisor, seen.sessions[0].now)
    return Group(*parts, *last) if seen.supervisor.alive and not seen.supervisor.stale else Group(*last, *parts)


def _asked_for(found: Sequence[Snapshot]) -> list[Text]:
    """The sessions that need somebody, so that a page of panels need not be read for them."""
    needing = [shot for shot in found if shot.needs is not None]
    if not needing:
        return [Text(f"{len(found)} sessions, none needs you.", style="dim")]
    head = Text(f"{len(needing)} of {len(found)} sessions need you:", style="bold red")
    return [head, *(_need(shot) for shot in needing)]


def _need(shot: Snapshot) -> Text:
    return Text(f"  {plain(shot.session)}: {shot.needs}", style="red").append(f" ({waits.of(shot)[0].command})", "dim")


def watcher(supervisor: Supervisor, now: float) -> list[Text]:
    """The supervisor's heartbeat; a stale one is red, never a stale green. And when this was seen."""
    age = "" if supervisor.heartbeat_age_s is None else f"heartbeat {duration(supervisor.heartbeat_age_s)} ago"
    if not supervisor.alive:
        seen = f"; its last {age}" if age else ""
        then = "Its guard starts it again" if supervisor.guarded else "Start it: mat up, or mat supervise"
        said = [Text(f"supervisor NOT RUNNING{seen}. Nobody watches. {then}", "bold red")]
    elif supervisor.stale:
        text = (
            f"supervisor HANGS (pid {supervisor.pid}): {age}. What stands here may be old. Its guard restarts it soon"
        )
        said = [Text(f"{text}; see: mat doctor", "bold red")]
    elif not age:
        said = [Text("supervisor starting: no heartbeat yet", "yellow")]
    else:
        late = (supervisor.heartbeat_age_s or 0.0) > _LATE_S
        said = [Text(f"supervisor watching (pid {supervisor.pid}), {age}, seen {moment(now, now)}", _DOUBT[late])]
    if supervisor.set_aside:
        said.append(
            Text(f"{supervisor.set_aside} records of yours or of hooks were set aside; see: mat doctor", "yellow")
        )
    return said
