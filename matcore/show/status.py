"""The status of sessions as a person reads it: what needs them first, then one panel a session.

Where there are more sessions than fit, those of which there is nothing to say but who works are one line each, then
those that need nobody, then all: whatever is on the page, nothing that needs somebody is off it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

import msgspec
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from matcore.engine.book import Book
from matcore.engine.clock import SystemClock
from matcore.errors import MatError
from matcore.places import StatePlaces
from matcore.show import panel, snapshot, waits
from matcore.show.shapes import Snapshot, Supervisor
from matcore.show.text import duration, moment, plain

_MANY = 4
"""So many sessions and more are not all shown in full."""


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
    return _Page(seen)


class _Page:
    """Takes the size of the place that it is drawn in; a height is only known on a screen of its own."""

    def __init__(self, seen: Look) -> None:
        self.seen = seen

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = self.seen.sessions
        if not found:
            yield Text("No session is up. Start one: mat up (in a directory with a duo.yaml; mat init writes one)")
            return
        levels = [_group(self.seen, options.max_width, level) for level in range(len(_IN_FULL))]
        if options.height is None:
            yield levels[0 if len(found) < _MANY else 1]
            return
        free = options.update(height=None)
        yield next((each for each in levels if len(console.render_lines(each, free)) <= options.height), levels[-1])


_IN_FULL: tuple[Callable[[Snapshot], bool], ...] = (
    lambda _shot: True,
    panel.has_trouble,
    lambda shot: shot.needs is not None,
    lambda _shot: False,
)
"""Which sessions have a panel, from the most of them to none."""


def _group(seen: Look, width: int, level: int) -> Group:
    found, supervisor = seen.sessions, seen.supervisor
    last = watcher(supervisor, found[0].now)
    trusted = supervisor.alive and not supervisor.stale
    in_full = [shot for shot in found if _IN_FULL[level](shot)]
    brief = [shot for shot in found if not _IN_FULL[level](shot)]
    asked = _asked_for(found) if len(found) > 1 else []
    parts: list[RenderableType] = [*([] if trusted else last), *asked, *(panel.panel(each, width) for each in in_full)]
    return Group(*parts, *(panel.line(each) for each in brief), *(last if trusted else []))


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
        said = [Text(f"supervisor NOT RUNNING{seen}. Nobody watches. Start it: mat up, or mat supervise", "bold red")]
    elif supervisor.stale:
        text = (
            f"supervisor HANGS (pid {supervisor.pid}): {age}. What stands here may be old. Its guard restarts it soon"
        )
        said = [Text(f"{text}; see: mat doctor", "bold red")]
    elif not age:
        said = [Text("supervisor starting: no heartbeat yet", "yellow")]
    else:
        said = [Text(f"supervisor watching (pid {supervisor.pid}), {age}, seen {moment(now, now)}", "dim")]
    if supervisor.set_aside:
        said.append(
            Text(f"{supervisor.set_aside} records of yours or of hooks were set aside; see: mat doctor", "yellow")
        )
    return said
