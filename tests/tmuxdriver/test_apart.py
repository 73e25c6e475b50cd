"""One seat that can't be looked at, or a tick that fails as a whole: what was found meanwhile is told all the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from matcore.engine.driver import RoleSpec, SessionSpec, Sighting
from tests.tmuxdriver.hour.recording import PaneRecord, Played
from tmuxdriver import lastwords, observe
from tmuxdriver.attention import Attention
from tmuxdriver.cells import Capture
from tmuxdriver.observe import Watcher
from tmuxdriver.profile import Profile, load
from tmuxdriver.screen import Screen, read
from tmuxdriver.seat import Seat

RULE = "─" * 30
WORKS = ["> long", "* Working (12s - esc to interrupt)", RULE, "> ", RULE, "  ? for shortcuts"]
VARIABLES = {"pid": "1", "start_time": "2", "window_activity": "100", "cursor_y": "3", "pane_title": "✳ scripted"}


class Host:
    """A tmux with a pane for each of `roles`, in each of which an agent works."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *roles: str) -> None:
        monkeypatch.setattr(observe, "find_agent", lambda *_: 1)
        monkeypatch.setattr(observe, "in_foreground", lambda _: True)
        specs = tuple(RoleSpec(name, "scripted", folder, folder / "prompt.md") for name in roles)
        self.panes: dict[str, Played] = {}
        self.seats: list[Seat] = []
        for number, role in enumerate(specs):
            about = {"pane_id": f"%{number}", "pane_pid": str(10 + number)}
            self.panes[f"%{number}"] = Played(PaneRecord({}, [], []), list(WORKS), {**VARIABLES, **about})
            identity = {"server_pid": "1", "server_start": "2", **about}
            self.seats.append(Seat.of(SessionSpec("duo", folder, specs, ""), role, load("scripted"), identity))
        self.watcher = Watcher(self, Attention())  # type: ignore[arg-type]  # all that is asked of it is `run`

    def run(self, *commands: Sequence[str], **_: object) -> str:
        said = ""
        for command in commands:
            named = command[command.index("-t") + 1] if "-t" in command else None
            asked = self.panes.values() if command[0] == "list-panes" else [self.panes[named or min(self.panes)]]
            said += "".join(pane.run(command) for pane in asked)
        return said

    def tick(self) -> list[str]:
        return [said(each) for each in self.watcher.tick(self.seats)]


def said(sighting: Sighting) -> str:
    return " ".join([sighting.name, *(str(sighting.fields[k]) for k in ("gate", "role") if k in sighting.fields)])


@pytest.mark.field_case("Silence")
def test_a_seat_that_can_t_be_looked_at_is_a_gate_and_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its role is unknown while that lasts, and looked at again each time; it is told once."""
    host = Host(tmp_path, monkeypatch, "dev", "review")
    assert host.tick() == ["role.busy dev", "role.busy review"]
    fails = True

    def broken(profile: Profile, capture: Capture) -> Screen:
        if fails and capture.variables["pane_id"] == "%0":
            raise RecursionError("too deep")
        return read(profile, capture)

    monkeypatch.setattr(observe, "read", broken)
    for pane in host.panes.values():
        pane.rows[0] = "> another"
        pane.variables["cursor_y"] = "4"
    host.panes["%1"].variables["pane_input_off"] = "1"
    assert host.tick() == ["gate.raised input-off review", "gate.raised driver-failed dev", "role.unknown dev"]
    assert host.tick() == []
    fails = False
    assert host.tick() == ["role.busy dev", "gate.cleared driver-failed dev"]


@pytest.mark.field_case("Silence")
def test_what_a_tick_found_that_failed_as_a_whole_is_told_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The evidence has it already, so that nobody would say it again."""
    host = Host(tmp_path, monkeypatch, "dev")
    assert host.tick() == ["role.busy dev"]
    host.panes["%0"].variables["pane_input_off"] = "1"

    def full(*_: object) -> None:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("tmuxdriver.panes.capture", full)
        host.panes["%0"].variables["cursor_y"] = "4"
        with pytest.raises(OSError, match="open files"):
            host.tick()
    assert host.tick() == ["gate.raised input-off dev", "role.busy dev"]


@pytest.mark.field_case("Silence")
def test_an_agent_whose_last_words_can_t_be_read_is_gone_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are for people only."""
    host = Host(tmp_path, monkeypatch, "dev")
    host.tick()

    def broken(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(lastwords, "_look", broken)
    host.panes["%0"].variables["pane_dead"] = "1"
    assert host.tick() == []
    assert host.tick() == ["role.gone dev"]
