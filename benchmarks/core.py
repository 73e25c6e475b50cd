"""How fast the pure core is: facts a second, and a simulated year of a duo. `python -m benchmarks.core`.

Asked for by `quality.md`: 20,000 facts a second in one process, a simulated year of a duo in 10 s. Both by the CPU that
the process used, so that other load on the machine hardly moves them; by the clock beside it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

from benchmarks._figures import machine, say
from matcore.rules import session
from matcore.rules.facts import (
    ClockReached,
    CycleOpened,
    EffectEnded,
    Fact,
    RelayDelivered,
    RelaySent,
    RoleBusy,
    RoleIdle,
    SessionConfigured,
    TurnEnded,
)
from matcore.rules.state import State

YEAR_S = 365 * 86_400
ROUNDS = 5
STALL_S = 7_200
FACTS_A_SECOND = 20_000
YEAR_LIMIT_S = 10.0


def duo(exchanges: int, every_s: float) -> Iterator[Fact]:
    """A duo that hands over to and fro, with a stall in every twentieth exchange."""
    yield SessionConfigured(0, ("dev", "review"))
    yield CycleOpened(0, "c1")
    yield RoleIdle(0, "dev")
    yield RoleIdle(0, "review")
    for turn in range(exchanges):
        at = 1 + turn * every_s + turn // 20 * STALL_S
        me, you = ("dev", "review") if turn % 2 else ("review", "dev")
        relay = f"r-{turn:06d}"
        yield RoleBusy(at, me)
        yield RelaySent(at + 30, relay, me, you)
        yield RelayDelivered(at + 31, relay)
        yield TurnEnded(at + 32, me)
        yield RoleIdle(at + 32, me)


def fold(facts: Iterator[Fact], until: float | None = None) -> tuple[State, int]:
    """Feed facts, clocks and ok outcomes as the simulator does; the state and how many facts it took."""
    state, taken = session.initial(), 0

    def feed(fact: Fact) -> None:
        nonlocal state, taken
        state, decided = session.step(state, fact)
        taken += 1
        for decision in decided:
            feed(EffectEnded(decision.at, decision.number, ok=True))

    for fact in facts:
        while (moment := session.next_deadline(state)) is not None and moment < fact.at:
            feed(ClockReached(moment))
        feed(fact)
    while until is not None and (moment := session.next_deadline(state)) is not None and moment <= until:
        feed(ClockReached(moment))
    return state, taken


def measured(what: str, run: Callable[[], int], limit_s: float | None = None) -> None:
    rates, ran, passed = [], [], []
    for _ in range(ROUNDS):
        began, began_cpu = time.perf_counter(), time.process_time()
        taken = run()
        passed.append(time.perf_counter() - began)
        ran.append(time.process_time() - began_cpu)
        rates.append(taken / ran[-1])
    say(f"{what}: CPU", ran, "s", limit_s)
    say(f"{what}: by the clock", passed, "s")
    rate = statistics.median(rates)
    asked = f"  (≥ {FACTS_A_SECOND:,}: {'met' if rate >= FACTS_A_SECOND else 'MISSED'})"
    print(f"    {rate:,.0f} facts a second of CPU{asked}")


def main() -> None:
    print(machine())
    measured("a busy duo, 4,000 exchanges", lambda: fold(duo(4_000, 300))[1])
    year = YEAR_S // (1_200 + STALL_S // 20)
    measured(f"a year of a duo, {year:,} exchanges", lambda: fold(duo(year, 1_200), YEAR_S)[1], YEAR_LIMIT_S)


if __name__ == "__main__":
    main()
