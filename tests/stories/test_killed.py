"""SIGKILL at every step: of a delivery, a rung, a notification, a spool take-up, a boundary, up, down and restart.

Each story is told once to count its steps, then once for each step, at which the supervisor is killed; another one goes
on with the same files. No relay is lost, none is typed twice, no rung comes twice or is skipped, and the human is told
once where that can be known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from matcore.engine.journal import Journal
from matcore.rules import decisions as d
from matcore.rules.records import parse
from matcore.rules.session import initial, step
from tests.stories.steps import Killed, Steps
from tests.stories.world import World

W = 60.0


@dataclass(frozen=True)
class Act:
    """Something that happens in a story, and how long it takes."""

    do: Callable[[World], object]
    lasts_s: float = 0.0


def _up(world: World) -> None:
    world.up(roles_config={"dev": {"kick": "Work on it"}}, recovery={"window": W, "gate_settle": 1.0})


def _turn(role: str) -> Act:
    def turn(world: World) -> None:
        if ("duo", role) in world.driver.seats:
            world.driver.end_turn("duo", role)
            world.settle()

    return Act(turn)


def _end_agent(world: World) -> None:
    """The reviewer's program ends by itself, a moment before the ladder is due."""
    world.driver.see("duo", "role.gone", "review", resumable=True)
    world.settle()


def _quiet(seconds: float) -> Act:
    return Act(lambda world: world.advance(seconds), seconds)


def _relay(sender: str, to: str, seq: int) -> Act:
    return Act(lambda world: world.relay(sender, to, seq))


def _says(role: str, **record: Any) -> Act:
    return Act(lambda world: world.says(role, **record))


def _human(**record: Any) -> Act:
    return Act(lambda world: world.human(**record))


UP = Act(_up)
BEGIN: Sequence[Act] = (UP, _turn("dev"))
STORIES: dict[str, tuple[Sequence[Act], Sequence[Act]]] = {
    "up": ((), (UP, _turn("dev"), _quiet(5))),
    "delivery": (BEGIN, (_relay("dev", "review", 2), _turn("review"), _turn("review"), _quiet(5))),
    "rungs": ((*BEGIN, _relay("dev", "review", 2), _turn("review"), _turn("review")), (_quiet(3 * W + 10), _quiet(W))),
    "notification": (
        BEGIN,
        (
            _says("dev", request="notify-user", action=True, text="The build is green."),
            _says("dev", fact="question.asked", question="q1", text="Postgres or SQLite?"),
            _says(
                "dev", record="handoff.checked", approved=False, check="file", reason="empty", blocks=3, max_blocks=3,
                file="/h.md",
            ),
        ),
    ),
    "spool": (
        BEGIN,
        (
            _relay("dev", "review", 2),
            _relay("dev", "review", 2),
            _says("dev", request="wait", until_s=30, reason="tests"),
            _says("dev", request="down"),
            _turn("review"),
            _quiet(40),
        ),
    ),
    "boundary": (
        (*BEGIN, _relay("dev", "review", 2), _turn("review"), _turn("review")),
        (
            _says("review", fact="cycle.completed", cycle="c1"),
            _turn("review"),
            _says("review", fact="cycle.opened", goal="more"),
            _relay("review", "dev", 3),
            _turn("dev"),
            _quiet(5),
        ),
    ),
    "restart": (BEGIN, (_human(request="restart", role="review"), _relay("dev", "review", 2), _quiet(5))),
    "revival": (
        (*BEGIN, _relay("dev", "review", 2), _turn("review"), _turn("review"), _quiet(W - 3)),
        (Act(_end_agent), _quiet(30), _turn("review"), _quiet(3 * W)),
    ),
    "down": (BEGIN, (_human(request="down"), _quiet(5))),
}  # fmt: skip


def answers_unknown(world: World) -> list[str]:
    """What a channel took, and the journal did not hear of."""
    watched = world.supervisor.watched.get("duo")
    notices = watched.session.ledger.notices.values() if watched else ()
    return [notice.text for notice in notices if not notice.ok and notice.text in world.told]


def tell(folder: Path, steps: Steps, story: str, fatal: int | None) -> tuple[World, list[str]]:
    """Tell a story, to the end, with another supervisor from the fatal step on.

    Returns the world and what may be told twice, for nobody can know that it was told.
    """
    unknown: list[str] = []
    world = World(folder)
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    before, acts = STORIES[story]
    for act in before:
        act.do(world)
    steps.begin(fatal)
    for act in acts:
        end_s = world.clock.boot_s() + act.lasts_s
        try:
            act.do(world)
        except Killed:
            unknown += answers_unknown(world)
            world.restart()
            world.advance(end_s - world.clock.boot_s())
        world.settle()
    steps.counts = False
    world.advance(2)
    return world, unknown


def check(world: World, story: str, died_at: str, unknown: Sequence[str]) -> None:
    """The promises."""
    assert not world.supervisor.failed
    journal = Journal.read(world.places.journal("duo"))
    entries = list(journal.entries())
    journal.close()
    assert [e.data for e in entries if e.name == "engine.mistake"] == []
    names = Counter(e.name for e in entries)
    assert names["session.configured"] == 1
    # Relays: each taken up once, each with an end, each typed once at most.
    sent = Counter(e.data["id"] for e in entries if e.name == "relay.sent")
    assert all(count == 1 for count in sent.values()), sent
    texts = world.driver.submitted
    for relay in sent:
        first = [t for t in texts if t.startswith(f"[relay {relay} ") and "[relay-redelivery" not in t]
        ends = [e for e in entries if e.name in ("relay.delivered", "relay.undeliverable") and e.data["id"] == relay]
        assert len(first) <= 1, first
        if story != "down":
            assert len(ends) == 1, (relay, ends)
        if ends and not first:
            assert ends[0].data.get("confirmed") is False, (relay, died_at)
    # Rungs: in order, each counted once.
    rungs = [(e.data["episode"], e.data["rung"], e.data["number"]) for e in entries if e.name == "nudge"]
    ok = {e.data["decision"] for e in entries if e.name == "effect.ended" and e.data["ok"]}
    counted = Counter((episode, rung) for episode, rung, number in rungs if number in ok)
    assert all(count == 1 for count in counted.values()), rungs
    assert list(counted) == sorted(counted)
    nudged = Counter(t for t in texts if "IDLE RECOVERY" in t)
    assert all(count == 1 for count in nudged.values())
    # Notifications: once, unless a channel took it and the kill came before we heard of that.
    told = Counter(world.told)
    assert all(count <= 1 + (text in unknown) for text, count in told.items()), told
    # The journal, fed back, gives the same decisions.
    state, again = initial(), []
    for entry in entries:
        if entry.kind == "fact":
            state, decided = step(state, parse({**entry.data, "fact": entry.name, "at": entry.at}))
            again += [d.record(decision) for decision in decided]
    assert again == [{**e.data, "event": e.name, "at": e.at} for e in entries if e.kind == "decision"]
    OWN[story](Told(world, names, told, unknown))


@dataclass(frozen=True)
class Told:
    """A story at its end: how often each entry is in the journal, how often each text was told."""

    world: World
    names: Counter[str]
    told: Counter[str]
    unknown: Sequence[str]


def _up_told(end: Told) -> None:
    assert end.names["cycle.opened"] == 1
    assert end.names["relay.sent"] == 1


def _delivery_told(end: Told) -> None:
    assert end.names["final_check"] <= 1
    assert end.names["wake.closed"] == end.names["wake.opened"]


def _rungs_told(end: Told) -> None:
    assert end.names["episode.opened"] == 1
    stall = [text for text in end.world.told if "stands still" in text]
    assert 1 <= len(stall) <= 2 if end.unknown else len(stall) == 1
    assert len([n for n in end.world.session().ledger.notices.values() if n.ok]) >= 1


def _notification_told(end: Told) -> None:
    assert len(end.told) == 3, end.told
    assert all(n.ok for n in end.world.session().ledger.notices.values())


def _spool_told(end: Told) -> None:
    assert len([g for g in end.world.entries("gate.raised") if g["gate"] == "declared-wait"]) == 1
    assert len(list((end.world.folder_of().spool("dev") / "new").iterdir())) == 0
    assert len([p for p in (end.world.folder_of().spool("dev") / "aside").iterdir() if p.suffix != ".reason"]) == 1


def _boundary_told(end: Told) -> None:
    assert end.names["cycle.completed"] == 1
    assert end.names["goal.wrapup"] == 1
    wraps = [t for seat in end.world.driver.seats.values() for t in seat.texts if "goal_complete" in t]
    assert len(wraps) <= 1
    typed = [e for e in end.world.entries("engine.injected") if e["kind"] == "wrapup"]
    assert len(typed) == 1
    assert any("completed" in text for text in end.told)
    assert '"id":"c2"' in end.world.folder_of().about.read_text()


def _restart_told(end: Told) -> None:
    assert end.names["engine.seat"] >= 1
    assert not end.world.session().ledger.restarting


def _revival_told(end: Told) -> None:
    assert end.names["engine.seat"] >= 1
    assert end.names["rung.skipped"] == 0
    assert end.names["engine.crash_loop"] == 0
    assert end.names["nudge"] >= 2
    assert "restarting/review" not in end.world.session().ledger.gates


def _down_told(end: Told) -> None:
    assert end.names["engine.down"] == 1
    assert "duo" not in end.world.supervisor.watched
    assert end.world.driver.stopped
    assert '"ended":true' in (end.world.folder / "duo" / ".mat" / "duo" / "session.json").read_text()


OWN = {
    "up": _up_told, "delivery": _delivery_told, "rungs": _rungs_told, "notification": _notification_told,
    "spool": _spool_told, "boundary": _boundary_told, "restart": _restart_told, "revival": _revival_told,
    "down": _down_told,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("story", STORIES)
@pytest.mark.field_case("Lost or twice")
def test_a_kill_at_any_step_loses_nothing_and_repeats_nothing(
    story: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every step of the story: killed there, the next supervisor ends it as promised."""
    steps = Steps(monkeypatch)
    world, unknown = tell(tmp_path / "whole", steps, story, None)
    check(world, story, "nothing", unknown)
    world.end()
    count = len(steps.passed)
    assert count > 10
    failures = []
    for fatal in range(count):
        world, unknown = tell(tmp_path / str(fatal), steps, story, fatal)
        died_at = steps.died_at
        try:
            check(world, story, died_at, unknown)
        except AssertionError as e:
            failures.append(f"killed at step {fatal}, {died_at}: {str(e)[:600]}")
        world.end()
    assert not failures, "\n".join(failures)
