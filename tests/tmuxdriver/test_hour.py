"""An hour of recorded frames: whoever looks once a second, at whatever moment, never takes work for rest.

`hour/record.py` recorded them from real panes, with the truth beside them; here they go through the watcher as a tick
of the supervisor reads them, for ten moments of the second.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from matcore.engine.driver import RoleSpec, SessionSpec, Sighting
from tests.tmuxdriver.hour.recording import Event, PaneRecord, Played, Recording, load
from tmuxdriver.attention import Attention
from tmuxdriver.observe import Watcher
from tmuxdriver.profile import Profile
from tmuxdriver.profile import load as load_profile
from tmuxdriver.seat import Seat
from tmuxdriver.submission import Submission

HOUR = Path(__file__).parent / "hour" / "hour.xz"
PHASES = tuple(tenth / 10 for tenth in range(10))
TICK_S = 1.005
"""The pause between two ticks, and what a tick takes."""
LAGS_S = 0.1
"""So long after a turn has begun its first frame may not have been painted, or its first hook not been heard."""
BY_SCREEN_S, BY_HOOK_S, PARKED_S = 3.2, 0.5, 66.0
UNSEEN_S = 1.3
"""A turn that is shorter than a tick leaves nothing to be seen, where no hook and no delivery tells of it."""


@functools.cache
def hour() -> Recording:
    return load(HOUR)


@functools.cache
def profile() -> Profile:
    return load_profile("scripted")


@dataclass
class Replay:
    """One pane as the watcher sees it at `phase` seconds after each full one."""

    record: PaneRecord
    phase: float
    now_s: float = 0.0
    taken: int = 0
    told: list[tuple[float, str, str]] = field(default_factory=list)
    """When what was said, on what evidence."""
    statuses: list[tuple[float, str]] = field(default_factory=list)
    """What was held to be true after each tick and each hook."""

    def __post_init__(self) -> None:
        self.played = Played(self.record)
        role = RoleSpec("dev", "scripted", Path("/"), Path())
        spec = SessionSpec("duo", Path("/"), (role,), "")
        first = next(event[3] for event in self.record.events if event[0] == "f")
        identity = {
            name: first[key]
            for name, key in (
                ("server_pid", "pid"), ("server_start", "start_time"), ("pane_id", "pane_id"), ("pane_pid", "pane_pid"),
            )
        }  # fmt: skip
        self.seat = Seat.of(spec, role, profile(), identity)
        self.watcher = Watcher(self.played.tmux, Attention())

    def run(self) -> None:
        last_s = self.record.events[-1][1] / 1000 + BY_SCREEN_S
        tick_s = self.phase
        while tick_s < last_s:
            self._until(tick_s)
            if self.played.rows:
                self._say(self.watcher.tick([self.seat]))
            tick_s = self.now_s + TICK_S

    def _until(self, then_s: float) -> None:
        while self.taken < len(self.record.events) and self.record.events[self.taken][1] / 1000 <= then_s:
            event = self.record.events[self.taken]
            self.now_s = event[1] / 1000
            self.taken += 1
            self._take(event)
        self.now_s = then_s

    def _take(self, event: Event) -> None:
        evidence = self.seat.evidence
        match event[0]:
            case "f":
                self.played.show(event)
            case "hook":
                self._say(evidence.heard(event[2]["event"], event[2]["boot_s"], event[2]))
            case "types":
                self.seat.is_typing = True
            case "enters":
                evidence.entering(Submission(event[2], self.now_s))
            case "landed":
                self.seat.is_typing = False
                evidence.screen, self.seat.changes = None, None
                self.seat.pending += evidence.submitted(evidence.recent[-1])
            case _:
                pass  # the truth, which nobody sees

    def sleep(self, for_s: float) -> None:
        """Time goes on within a tick, and the screen with it."""
        self._until(self.now_s + for_s)

    def _say(self, sightings: Iterable[Sighting]) -> None:
        self.told += [(self.now_s, sighting.name, sighting.evidence) for sighting in sightings]
        if not self.seat.is_typing:
            self.statuses.append((self.now_s, self.seat.evidence.status))


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Callable[[PaneRecord, float], Replay]:
    """Plays a pane; the clocks are those of the recording, and its agent is always there."""

    def play(record: PaneRecord, phase: float) -> Replay:
        played = Replay(record, phase)
        clock = SimpleNamespace(time=lambda: hour().wall_s + played.now_s, sleep=played.sleep)
        monkeypatch.setattr("tmuxdriver.observe.boot_s", lambda: played.now_s)
        monkeypatch.setattr("tmuxdriver.observe.time", clock)
        monkeypatch.setattr("tmuxdriver.observe.find_agent", lambda *_: 1)
        monkeypatch.setattr("tmuxdriver.observe.in_foreground", lambda _: True)
        played.run()
        return played

    return play


@pytest.mark.field_case("Idle and busy")
@pytest.mark.parametrize("number", range(12))
def test_an_hour_of_random_work_is_never_taken_for_rest(
    number: int, replay: Callable[[PaneRecord, float], Replay]
) -> None:
    """Idle is claimed at no moment of a turn, whenever in a second somebody looks; and each turn's end is found."""
    record = hour().panes[number]
    wrong = []
    for phase in PHASES:
        played = replay(record, phase)
        wrong += [f"{phase}: {fault}" for fault in (*wrong_idles(played), *missed_ends(played))]
    assert not wrong, "\n".join(wrong)


def test_the_recording_is_an_hour_of_every_kind() -> None:
    """Panes with hooks and without, some hundred turns, gaps and all."""
    record = hour()
    assert sum(pane.events[-1][1] for pane in record.panes) >= 3_600_000
    assert sum(len(pane.turns()) for pane in record.panes) >= 250
    assert {pane.about["hooks"] for pane in record.panes} == {True, False}


def wrong_idles(played: Replay) -> Iterator[str]:
    """Each moment at which idle was held although a turn ran."""
    turns = iter(played.record.turns())
    turn = next(turns, None)
    for now_s, status in played.statuses:
        while turn is not None and turn[1] <= now_s:
            turn = next(turns, None)
        if turn is not None and status == "idle" and turn[0] + LAGS_S < now_s:
            yield f"idle at {now_s:.1f} s in a turn from {turn[0]:.1f} to {turn[1]:.1f} s"


def missed_ends(played: Replay) -> Iterator[str]:
    """Each turn's end that was not told in time, though nothing came after it."""
    turns = played.record.turns()
    hooks = bool(played.record.about["hooks"])
    ends = [now_s for now_s, name, _ in played.told if name == "turn.ended"]
    if len(ends) > len(turns):
        yield f"{len(ends)} ends of {len(turns)} turns"
    typed = [event[1] / 1000 for event in played.record.events if event[0] == "enters"]
    acts = [event[1] / 1000 for event in played.record.events if event[0] in ("types", "acts", "began")]
    for began_s, end_s, outcome in turns:
        by_hook = hooks and outcome != "interrupted"
        most_s = BY_HOOK_S if by_hook else PARKED_S if hooks else BY_SCREEN_S
        ours = any(began_s - 0.2 <= enter_s <= began_s for enter_s in typed)
        seen = by_hook or ours or end_s - began_s > UNSEEN_S
        alone = not any(end_s - 0.1 <= act_s <= end_s + most_s for act_s in acts)
        if seen and alone and not any(end_s <= told_s <= end_s + most_s for told_s in ends):
            yield f"the end at {end_s:.1f} s of a turn from {began_s:.1f} s was not told in {most_s:g} s"
