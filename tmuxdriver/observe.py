"""One tick for all seats: one list of panes, one batch of captures, and what follows from them.

Only panes that need a look are captured: something was written since the last one, or a claim waits for time to pass.
`window_activity` has a resolution of one second, so a pane is looked at once more after that second is over.
No answer from tmux is the gate `tmux-unreachable` and never "no panes"; an agent is gone after an authoritative answer,
twice.

A seat that can't be looked at, for a mistake of ours or of its profile say, is the gate `driver-failed` of its role,
and costs no other seat. What was found by a tick that failed as a whole is told by the next one.

What hooks tell goes to the engine at once, what a tick finds a moment later, so that an older word may come last. The
tick after a hook or a submission therefore ends by saying each such seat's state once more, and a tick after one that
failed says every seat's: meanwhile the engine may have given up what it could not see.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator, Sequence

from matcore.engine.clock import boot_s
from matcore.engine.driver import Sighting
from tmuxdriver import lastwords, panes
from tmuxdriver.attention import Attention
from tmuxdriver.cells import Capture
from tmuxdriver.compare import picture
from tmuxdriver.panes import Listing, Pane
from tmuxdriver.process import find_agent, in_foreground, is_tmux
from tmuxdriver.rest import OFF_BEAT_S
from tmuxdriver.screen import Screen, read
from tmuxdriver.seat import Seat
from tmuxdriver.server import NoServer, Tmux, TmuxError

log = logging.getLogger("mat.tmux")

WINDOW_S = 600.0
HOOKED_LOOK_S = 5.0
"""While hooks tell of a turn the screen is only looked at for what hooks don't tell."""
ABSENT_S = 2.0
PROCESS_LOOK_S = 5.0
OUT_OF_SIGHT_S = 5.0
"""After so long without a tick (a suspended machine, a halt) a screen may not have gone on yet since the last one."""
_GONE_TICKS = 2
_FAILED = "driver-failed"


class Watcher:
    """Looks at the panes of one tmux server."""

    def __init__(self, tmux: Tmux, attention: Attention, window_s: float = WINDOW_S) -> None:
        self._tmux = tmux
        self._attention = attention
        self._window_s = window_s
        self._silent_s: float | None = None
        self._gated: set[str] = set()
        self._hooks_s: dict[tuple[str, str], float] = {}
        self._failed = False
        self._ticked_s = 0.0
        self._found: list[Sighting] = []
        self._faulty: set[tuple[str, str]] = set()

    def tick(self, seats: Sequence[Seat]) -> list[Sighting]:
        """What has changed since the last tick."""
        self._tick(seats)
        found, self._found = self._found, []
        return found

    def _tick(self, seats: Sequence[Seat]) -> None:
        now_s = boot_s()
        failed, self._failed = self._failed, True
        out_of_sight, self._ticked_s = now_s - self._ticked_s > OUT_OF_SIGHT_S, now_s
        found = self._found
        try:
            listing = self._listing(seats)
        except TmuxError as err:
            found += self._unreachable(seats, now_s, str(err))
            return
        found += self._answered()
        self._faulty = set()
        anew = self._told_meanwhile(seats) | ({_key(seat) for seat in seats} if failed else set())
        self._attention.saw(listing.clients, now_s, time.time())
        wanted: dict[str, Seat] = {}
        for seat in seats:
            with self._kept_apart(seat):
                if seat.identity is not None and self._listed(seat, listing, now_s, found):
                    wanted[seat.identity.pane_id] = seat
        if out_of_sight:
            for seat in seats:
                with seat.lock:
                    seat.evidence.was_out_of_sight()
        self._looks(wanted)
        self._looks_off_the_beat(wanted)
        found[:] = lastwords.added(self._tmux, found, seats)
        for seat in seats:
            with self._kept_apart(seat), seat.lock:
                if _key(seat) not in self._faulty:
                    found += seat.evidence.gate(_FAILED, False, "it can be looked at")
                now = f"role.{seat.evidence.status}"
                found += [each for each in seat.pending if not each.name.startswith("role.") or each.name == now]
                seat.pending = []
                if _key(seat) in anew and _last_word(found, seat) != now:
                    found.append(Sighting(seat.spec.session, now, {"role": seat.role.name}, "seen again"))
        self._failed = False

    @contextlib.contextmanager
    def _kept_apart(self, seat: Seat) -> Iterator[None]:
        """Whatever fails in here is told of this seat alone, and nothing that was found is lost over it."""
        try:
            yield
        except Exception as err:
            self._faulty.add(_key(seat))
            why = f"{type(err).__name__}: {err}"
            with seat.lock:
                if _FAILED not in seat.evidence.gates:
                    log.exception("%s/%s can't be looked at", *_key(seat))
                self._found += [*seat.evidence.gate(_FAILED, True, why), *seat.evidence.lost(why)]

    def _told_meanwhile(self, seats: Sequence[Seat]) -> set[tuple[str, str]]:
        """The seats of which something was told since the tick before this one began."""
        hooks_s = {}
        anew = set()
        for seat in seats:
            with seat.lock:
                hooks_s[_key(seat)] = seat.evidence.hook_s
                if seat.pending or seat.evidence.hook_s != self._hooks_s.get(_key(seat), 0.0):
                    anew.add(_key(seat))
        self._hooks_s = hooks_s
        return anew

    # -- the list ----------------------------------------------------------------------------------------------------

    def _listing(self, seats: Sequence[Seat]) -> Listing:
        try:
            return panes.look(self._tmux)
        except NoServer:
            pids = {seat.identity.server_pid for seat in seats if seat.identity is not None}
            if any(is_tmux(int(pid)) for pid in pids):
                raise  # its socket was removed, but it lives
            return Listing({}, ())

    def _unreachable(self, seats: Sequence[Seat], now_s: float, why: str) -> list[Sighting]:
        self._silent_s = now_s if self._silent_s is None else self._silent_s
        found = []
        for session in {seat.spec.session for seat in seats} - self._gated:
            self._gated.add(session)
            found.append(Sighting(session, "gate.raised", {"gate": "tmux-unreachable"}, why))
        if now_s - self._silent_s >= self._window_s:
            for seat in seats:
                with seat.lock:
                    found += seat.evidence.lost(f"tmux has not answered for {self._window_s:.0f} s")
        return found

    def _answered(self) -> list[Sighting]:
        found = [Sighting(s, "gate.cleared", {"gate": "tmux-unreachable"}, "tmux answers") for s in sorted(self._gated)]
        self._silent_s = None
        self._gated.clear()
        return found

    def _listed(self, seat: Seat, listing: Listing, now_s: float, found: list[Sighting]) -> bool:
        """Take in a seat's row. Whether its screen needs a look."""
        with seat.lock:
            pane = listing.panes.get(seat.identity.pane_id) if seat.identity is not None else None
            if pane is None or pane.identity != seat.identity or pane.dead:
                found += self._missed(seat, pane, listing)
                return False
            seat.misses, seat.tmux_session = 0, pane.session_id
            found += self._flags(seat, pane, now_s)
            doubtful = _is_doubtful(seat, pane, now_s)
        agent_pid = find_agent(seat.profile, int(pane.identity.pane_pid)) if doubtful else None
        with seat.lock:
            if doubtful:
                seat.agent_pid = agent_pid
                found += _agent_missed(seat, pane, now_s) if agent_pid is None else _agent_found(seat, pane, now_s)
            return not seat.is_typing and _needs_look(seat, pane, now_s)

    def _missed(self, seat: Seat, pane: Pane | None, listing: Listing) -> list[Sighting]:
        seat.misses += 1
        if seat.misses < _GONE_TICKS or seat.evidence.status == "gone" or seat.is_typing:
            return []
        seen = "pane is gone" if pane is None else "another process has the pane's number"
        if pane is not None and pane.identity == seat.identity:
            seen = f"pane is dead, exit status {pane.values['pane_dead_status'] or 'unknown'}"
        return seat.evidence.gone(seen, resumable=seat.is_resumable(listing))

    def _flags(self, seat: Seat, pane: Pane, now_s: float) -> list[Sighting]:
        scrolled = self._attention.is_on(pane, now_s)
        return [
            *seat.evidence.passed(now_s),
            *seat.evidence.gate("copy-mode", scrolled, "tmux"),
            *seat.evidence.gate("input-off", pane.input_off, "tmux"),
            *seat.evidence.gate("synchronized", pane.synchronized, "tmux"),
        ]

    # -- screens -----------------------------------------------------------------------------------------------------

    def _looks(self, wanted: dict[str, Seat]) -> None:
        if not wanted:
            return
        wall_s = time.time()
        try:
            captured = panes.capture(self._tmux, wanted)
        except TmuxError:
            return  # the next list says what is the matter
        now_s = boot_s()
        for pane_id, (pane, capture) in captured.items():
            with self._kept_apart(wanted[pane_id]):
                self._looked(wanted[pane_id], pane, capture, now_s, wall_s)

    def _looked(self, seat: Seat, pane: Pane, capture: Capture, now_s: float, wall_s: float) -> None:
        screen, shown = _read(seat, capture)
        with seat.lock:
            if seat.is_typing or pane.identity != seat.identity or pane.dead:
                return
            seat.changes, seat.captured_s, seat.captured_wall_s = pane.changes, now_s, wall_s
            if "no-agent" not in seat.evidence.gates:
                written, touched = pane.values["window_activity"], pane.values["session_activity"]
                self._found += seat.evidence.looked(now_s, screen, shown, written, touched)

    def _looks_off_the_beat(self, wanted: dict[str, Seat]) -> None:
        """A screen that would prove idle, but for what was written to it between two looks, may keep our own time."""
        for pause_s in OFF_BEAT_S:
            doubtful = {pane_id: seat for pane_id, seat in wanted.items() if seat.evidence.is_doubtful}
            if not doubtful:
                break
            time.sleep(pause_s)
            self._looks(doubtful)


def _key(seat: Seat) -> tuple[str, str]:
    return seat.spec.session, seat.role.name


def _last_word(found: Sequence[Sighting], seat: Seat) -> str | None:
    """The last state of that seat among these."""
    words = (each for each in reversed(found) if (each.session, each.fields.get("role")) == _key(seat))
    return next((each.name for each in words if each.name.startswith("role.")), None)


def _is_doubtful(seat: Seat, pane: Pane, now_s: float) -> bool:
    """The process tree is dear: it is walked when the pane's command changed, and while something is amiss.

    The command alone does not tell: a wrapper that is a shell has the name of the shell that it leaves behind.
    """
    if pane.command != seat.process_key or seat.absent_s is not None:
        return True
    if seat.agent_pid is not None and not in_foreground(seat.agent_pid):
        return True
    return "no-agent" in seat.evidence.gates and now_s - seat.process_s >= PROCESS_LOOK_S


def _agent_found(seat: Seat, pane: Pane, now_s: float) -> list[Sighting]:
    seat.process_key, seat.process_s, seat.absent_s = pane.command, now_s, None
    return seat.evidence.gate("no-agent", False, "process")


def _agent_missed(seat: Seat, pane: Pane, now_s: float) -> list[Sighting]:
    """Missed once is between two commands; `ABSENT_S` later it is gone from its pane."""
    seat.process_key, seat.process_s = pane.command, now_s
    seat.absent_s = now_s if seat.absent_s is None else seat.absent_s
    if now_s - seat.absent_s < ABSENT_S:
        return []
    seat.absent_s = None
    return [*seat.evidence.gate("no-agent", True, "process"), *seat.evidence.left("process")]


def _read(seat: Seat, capture: Capture) -> tuple[Screen, str]:
    """Reading costs a thousand times what comparing costs."""
    cursor = capture.variables["cursor_y"] if seat.profile.composer.cursor else ""
    raw = f"{capture.variables['pane_title']}\n{capture.variables['history_size']}\n{cursor}\n{capture.text}"
    if seat.read is None or seat.raw != raw:
        seat.read, seat.raw = (read(seat.profile, capture), picture(capture)), raw
    return seat.read


def _needs_look(seat: Seat, pane: Pane, now_s: float) -> bool:
    evidence = seat.evidence
    if evidence.screen is None or evidence.asked_by_hook:
        return True
    if evidence.hook_says == "busy" and now_s - seat.captured_s < HOOKED_LOOK_S:
        return evidence.ends.shows(evidence.screen)
    written_since = seat.captured_wall_s < int(pane.values["window_activity"] or 0) + 1.1
    return pane.changes != seat.changes or written_since or evidence.waits()
