"""A machine that was suspended, or a tmux that stood still: what the first look afterwards shows is from before."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from matcore.engine.driver import RoleSpec, SessionSpec
from tests.tmuxdriver.hour.recording import PaneRecord, Played
from tmuxdriver.attention import Attention
from tmuxdriver.observe import Watcher
from tmuxdriver.profile import load
from tmuxdriver.seat import Seat

RULE = "─" * 30
IDENTITY = {"server_pid": "1", "server_start": "2", "pane_id": "%0", "pane_pid": "3"}
VARIABLES = {
    "pid": "1", "start_time": "2", "pane_id": "%0", "pane_pid": "3", "window_activity": "100", "cursor_y": "4",
    "pane_title": "✳ scripted",
}  # fmt: skip
HALTED_S = 3600.0


def rows(working: bool) -> list[str]:
    work = "* Working (12s - esc to interrupt)" if working else ""
    return ["> long", "• Let me see.", work, RULE, "> ", RULE, "  ? for shortcuts"]


@pytest.mark.field_case("Restarts")
@pytest.mark.parametrize("works_on", [True, False])
def test_a_pause_from_before_a_halt_ends_no_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, works_on: bool
) -> None:
    """A pause between two tool calls that stands there for an hour of the clock, and for no moment of the program's;
    where it does stand, the turn ends as ever."""
    now_s = 10.0
    played = Played(PaneRecord({}, [], []), rows(working=True), dict(VARIABLES))

    def sleep(for_s: float) -> None:
        nonlocal now_s
        now_s += for_s
        played.rows = rows(working=works_on)

    monkeypatch.setattr("tmuxdriver.observe.boot_s", lambda: now_s)
    monkeypatch.setattr("tmuxdriver.observe.time", SimpleNamespace(time=lambda: 100 + now_s, sleep=sleep))
    monkeypatch.setattr("tmuxdriver.observe.find_agent", lambda *_: 1)
    monkeypatch.setattr("tmuxdriver.observe.in_foreground", lambda _: True)
    role = RoleSpec("dev", "scripted", tmp_path, tmp_path / "prompt.md")
    seat = Seat.of(SessionSpec("duo", tmp_path, (role,), ""), role, load("scripted"), IDENTITY)
    watcher = Watcher(played.tmux, Attention())

    assert [each.name for each in watcher.tick([seat])] == ["role.busy"]
    now_s, played.rows, played.variables["window_activity"] = now_s + 1, rows(working=False), "111"
    assert watcher.tick([seat]) == []
    now_s += HALTED_S
    told = [each.name for each in watcher.tick([seat])]
    assert told == ([] if works_on else ["turn.ended", "role.idle"])
