"""The morning page, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matcore.show.recap import MOST, CycleView, Recap, Stall
from matcore.show.text import clock, duration, moment, plain, short
from matcore.words.figures import counted

_TOLD = 6


def lines(page: Sequence[Recap], since_s: float, now_s: float) -> list[str]:
    """The page as a person reads it: what waits comes first, sessions in which nothing happened last."""
    said = [f"Since {clock(since_s)} ({duration(now_s - since_s)})"]
    for recap in sorted((each for each in page if not each.is_quiet), key=lambda each: not each.waits):
        said += ["", *_session(recap, now_s)]
    quiet = [plain(each.session) for each in page if each.is_quiet]
    if quiet:
        said += ["", f"Nothing happened in {', '.join(quiet)}."]
    if not page:
        said += ["", "There is no session. Start one: mat up"]
    return said


def _session(recap: Recap, now_s: float) -> Iterator[str]:
    yield f"{plain(recap.session)} ({recap.state})"
    for wait in recap.waits:
        yield f"  waits for you: {plain(wait.what)}"
        yield f"                 {plain(wait.command)}"
    for cycle in recap.cycles:
        yield f"  cycle {plain(cycle.cycle)}: {_cycle(cycle, now_s)}"
    total = sum(recap.handoffs.values())
    if total:
        by = ", ".join(f"{plain(role)} {count}" for role, count in recap.handoffs.items())
        yield f"  handoffs: {total} ({by})"
    for stall in recap.stalls:
        yield f"  stall {stall.episode}: {_stall(stall, now_s)}"
    if recap.answered:
        yield f"  answered by you: {recap.answered}"
    others = [told for told in recap.told if not told.waits]  # what waits stands above
    for told in others[-_TOLD:]:
        lost = "" if told.delivered else ", NOT DELIVERED" if told.delivered is False else ", not taken yet"
        yield f"  told {moment(told.at, now_s)}{lost}: {short(told.text, MOST)}"
    if len(others) > _TOLD:
        yield f"  and {len(others) - _TOLD} told before: mat log {plain(recap.session)} --kind engine.telling"


def _cycle(cycle: CycleView, now_s: float) -> str:
    end_s = now_s if cycle.ended is None else cycle.ended
    course = [duration(end_s - cycle.opened), counted(cycle.handoffs, "handoff")]
    course += [counted(cycle.stalls, "stall")] if cycle.stalls else []
    by = f" by {plain(cycle.by)}" if cycle.by else " by the session's end" if cycle.outcome == "cut off" else ""
    when = "" if cycle.ended is None else f" at {moment(cycle.ended, now_s)}"
    reason = f" ({short(cycle.reason, MOST)})" if cycle.reason else ""
    goal = f": {short(cycle.goal, MOST)}" if cycle.goal else ""
    return f"{cycle.outcome}{by}{when}, {', '.join(course)}{reason}{goal}"


def _stall(stall: Stall, now_s: float) -> str:
    owed = f"{plain(stall.owed)} owed {plain(stall.relay)}" if stall.owed else "nobody owed anything"
    end = "still open" if stall.by is None else f"ended by a {plain(stall.by)}"
    end = "open until the session's end" if stall.by == "session" else end
    told = ", you were told" if stall.told else ""
    lasted = (now_s if stall.closed is None else stall.closed) - stall.opened
    cost = counted(stall.nudges, "nudge")
    span = f"lasted {duration(lasted)} after {duration(stall.still_s - lasted)} of quiet"
    return f"from {moment(stall.opened, now_s)}, {owed}; {end}{told}; {span}, {cost}"
