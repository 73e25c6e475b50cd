"""The core against a plain second telling of the ladder, one tick a second: the same decisions at the same times."""

from __future__ import annotations

import random

import pytest

from matcore.rules import decisions as d
from tests.matcore.rules.happenings import LARGE
from tests.matcore.rules.naive import Naive, Told
from tests.matcore.rules.play import Play

WINDOW, SETTLE, DEADLINE, TICKS = 20, 5, 150, 900
TEAMS = (("solo",), ("dev", "review"), ("plan", "dev", "review"))
CHUNKS = 8
RUNS_IN_CHUNK = 400 if LARGE else 12


SAID: dict[type[d.Decision], tuple[str, ...]] = {
    d.EpisodeOpened: ("episode", "owed", "relay"),
    d.EpisodeClosed: ("episode", "by", "rungs"),
    d.EpisodeRearmed: ("episode",),
    d.Nudge: ("rung", "role"),
    d.RungSkipped: ("rung", "role"),
    d.LadderDeferred: ("gates",),
    d.GateEscalated: ("gate",),
    d.ProgressOverdue: ("cycle",),
    d.Notify: ("kind",),
}
"""What both tell of the ladder; wakes are not the naive one's business."""


def brief(decision: d.Decision) -> Told:
    words = (getattr(decision, name) for name in SAID[type(decision)])
    return (int(decision.at), d.EVENTS[type(decision)], *words)


def happening(choice: random.Random, roles: tuple[str, ...], at: int, place: int) -> tuple[str, ...]:
    """One fact in the naive one's words."""
    role = choice.choice(roles)
    until = str(at + choice.choice((-3, 0, 10, 20, 60)))
    gate = choice.choice(("x", f"y/{role}"))
    question = choice.choice(("q1", "q2"))
    sightings: list[tuple[str, ...]] = [
        ("seen", role, choice.choice(("busy", "idle", "idle", "idle", "gone", "unknown")))
    ] * 12
    holds: list[tuple[str, ...]] = [("raised", gate), ("raised", gate, until), ("cleared", gate), ("cleared", gate)]
    people: list[tuple[str, ...]] = [("raised", "paused"), ("raised", "paused", until), ("resumed",), ("acted",)]
    asks: list[tuple[str, ...]] = [("asked", question), ("answered", question), ("answered", question)]
    watch: list[tuple[str, ...]] = [("stopped",), ("watched",), ("watched",)]
    work: list[tuple[str, ...]] = [("opened", f"c{place}")]
    if len(roles) > 1:
        work += [("handoff", f"h{place}", *choice.sample(roles, 2))] * 3
    kinds: tuple[list[tuple[str, ...]], ...] = (sightings, sightings, holds, holds, people, asks, watch, work)
    return choice.choice(choice.choice(kinds))


def fed(play: Play, at: int, name: str, *words: str) -> None:
    gate, _, role = (words[0] if words else "").partition("/")
    until = float(words[1]) if name == "raised" and len(words) > 1 else None
    match name:
        case "seen":
            play.at(at, f"role.{words[1]}", role=words[0])
        case "raised" if gate == "paused":
            play.at(at, "human.paused", until=until)
        case "raised" | "cleared":
            play.at(at, f"gate.{name}", gate=gate, role=role or None, **({} if until is None else {"until": until}))
        case "asked":
            play.at(at, "question.asked", question=words[0], role=play.state.roles[0].name)
        case "answered":
            play.at(at, "question.answered", question=words[0])
        case "opened":
            play.at(at, "cycle.opened", cycle=words[0])
        case "handoff":
            play.handoff(at, *words)
        case "stopped" | "watched":
            play.at(at, "watch.stopped" if name == "stopped" else "watch.resumed")
        case _:
            play.at(at, f"human.{name}")


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_both_tell_the_same(chunk: int) -> None:
    """Over random facts at whole seconds, dense and sparse, with rungs that fail for a while."""
    for seed in range(chunk * RUNS_IN_CHUNK, (chunk + 1) * RUNS_IN_CHUNK):
        choice = random.Random(seed)
        roles = TEAMS[seed % len(TEAMS)]
        bad = choice.randrange(0, TICKS), choice.choice((0, 30, 120))

        def succeeds(at: int, _effect: str, _role: str | None, bad: tuple[int, int] = bad) -> bool:
            return not bad[0] <= at < sum(bad)

        def ends(decision: d.Decision, bad: tuple[int, int] = bad) -> bool:
            return not bad[0] <= decision.at < sum(bad)

        play = Play(*roles, ends=ends, window=WINDOW, gate_settle=SETTLE, progress_deadline=DEADLINE)
        naive = Naive(roles, WINDOW, SETTLE, DEADLINE, succeeds)
        density = choice.choice((0.02, 0.05, 0.3))
        facts: dict[int, list[tuple[str, ...]]] = {0: [("opened", "c")]}
        facts[0] += [("seen", role, "idle") for role in roles]
        place = 0
        for at in range(1, TICKS):
            while choice.random() < density:
                place += 1
                facts.setdefault(at, []).append(happening(choice, roles, at, place))
        for at in range(TICKS):
            for fact in facts.get(at, []):
                fed(play, at, *fact)
            naive.tick(facts.get(at, []))
        play.until(TICKS - 1)
        told = [brief(decision) for decision in play.decided if type(decision) in SAID]
        assert told == naive.told, f"seed {seed}"
