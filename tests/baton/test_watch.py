"""What is seen of a session by its worker's files: each end of a turn once, and what it means."""

from __future__ import annotations

import time

import pytest

from baton import process, record
from baton.record import Last, State
from baton.watch import Watch
from matcore.engine.clock import boot_s
from tests.baton.rig import Rig


def never() -> record.Job:
    raise AssertionError("the worker lives")


@pytest.fixture
def watch(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """A session whose worker is the test itself."""
    monkeypatch.setattr(process, "is_alive", lambda _places: True)
    return Watch.of(rig.spec, never)


def write(watch: Watch, role: str = "dev", *, turn: int = 1, exhausted: int = 0, **last: object) -> None:
    began_s = float(str(last.pop("started_s", 10.0)))
    ended = Last(turn, "r-000001", str(last.pop("outcome", "ok")), began_s, 11.0, 1.0, **last)  # type: ignore[arg-type]
    state = State(turn=turn, exhausted=exhausted, last=ended)
    record.write(record.state_path(watch.places, role), state, durable=False)


def news(watch: Watch, role: str = "dev") -> list[str]:
    return [s.name for s in watch.look() if s.fields["role"] == role]


def test_each_role_is_told_once(watch: Watch) -> None:
    """Then only what changes."""
    assert news(watch) == ["role.idle"]
    assert watch.look() == []
    record.write(record.state_path(watch.places, "dev"), State(status="busy", turn=1), durable=False)
    assert news(watch) == ["role.busy"]
    write(watch)
    assert news(watch) == ["turn.ended", "role.idle"]
    assert watch.look() == []


def test_a_turn_that_nobody_saw_is_told_at_its_end(watch: Watch) -> None:
    """Busy or not at the last look: its end is followed by what holds now."""
    watch.look()
    write(watch)
    assert news(watch) == ["turn.ended", "role.idle"]
    write(watch, turn=2)
    assert news(watch) == ["turn.ended", "role.idle"]


def test_the_last_end_is_told_again_to_the_next_supervisor(watch: Watch) -> None:
    """It may have come while nobody watched; it says when its turn began, so it ends nothing twice."""
    write(watch, turn=7)
    watch.look()
    (ended, *_) = [s for s in Watch.of(watch.spec, never).look() if s.name == "turn.ended"]
    assert ended.fields["started"] == 10.0


def test_numbers_that_begin_anew_are_seen(watch: Watch) -> None:
    """The folder was cleaned away: turn 1 after turn 7 is a new one."""
    write(watch, turn=7)
    watch.look()
    write(watch, turn=1)
    assert news(watch) == ["turn.ended", "role.idle"]


def test_a_first_turn_after_another_first_turn_is_seen(watch: Watch) -> None:
    """The folder was cleaned away after its first turn: the number is the same, the turn is not."""
    write(watch, turn=1)
    watch.look()
    write(watch, turn=1, started_s=20.0)
    assert news(watch) == ["turn.ended", "role.idle"]


@pytest.mark.parametrize("looked_between", [True, False])
def test_a_full_context_is_told_though_its_count_began_anew(watch: Watch, looked_between: bool) -> None:
    """The folder was cleaned away: the first full context after that is not taken for the one before it."""
    watch.look()
    write(watch, outcome="error", error_class="context-full", exhausted=1)
    assert "context.exhausted" in news(watch)
    if looked_between:
        write(watch, turn=1, started_s=20.0)
        assert news(watch) == ["turn.ended", "role.idle"]
    write(watch, turn=2, started_s=30.0, outcome="error", error_class="context-full", exhausted=1)
    assert "context.exhausted" in news(watch)


def test_a_full_context_is_not_told_again_after_a_restart(watch: Watch) -> None:
    """Its worker counts on; what was told before is not news of the first turn after it."""
    write(watch, outcome="error", error_class="context-full", exhausted=1)
    watch.look()
    watch.anew("dev")
    write(watch, turn=2, started_s=20.0, exhausted=1)
    assert news(watch) == ["turn.ended", "role.idle"]


def test_a_full_context_is_told_before_the_error_of_its_turn(watch: Watch) -> None:
    """Exhausted first: it decides what becomes of the open wakes; then a fresh one, for whoever has to be answered."""
    watch.look()
    write(watch, outcome="error", error="full", error_class="context-full", exhausted=1)
    assert news(watch) == ["context.exhausted", "turn.ended", "role.idle", "context.fresh", "role.idle"]
    assert watch.look() == []


def test_a_full_context_that_nobody_saw_is_told_to_the_next_supervisor(watch: Watch) -> None:
    """As long as no later turn has begun."""
    write(watch, outcome="error", error_class="context-full", exhausted=3)
    assert "context.exhausted" in news(Watch.of(watch.spec, never))
    state = record.read_state(watch.places, "dev")
    state.turn += 1
    record.write(record.state_path(watch.places, "dev"), state)
    assert "context.exhausted" not in news(Watch.of(watch.spec, never))


def test_a_rate_limit_with_a_known_end_is_a_gate(watch: Watch) -> None:
    """`until` is boot time; the next turn that succeeds clears it."""
    watch.look()
    write(watch, outcome="error", error_class="rate-limit", until_s=time.time() + 90)
    (gate,) = [s for s in watch.look() if s.name == "gate.raised"]
    assert gate.fields["gate"] == "rate-limited"
    assert float(str(gate.fields["until"])) == pytest.approx(boot_s() + 90, abs=1)
    write(watch, turn=2)
    assert "gate.cleared" in news(watch)


@pytest.mark.parametrize("until_in_s", [None, -10])
def test_a_rate_limit_without_an_end_holds_nobody(watch: Watch, until_in_s: float | None) -> None:
    """A gate that nothing would ever clear would silence the role: it is an error of that turn."""
    watch.look()
    until_s = None if until_in_s is None else time.time() + until_in_s
    write(watch, outcome="error", error_class="rate-limit", until_s=until_s)
    assert news(watch) == ["turn.ended", "role.idle"]


def test_a_state_file_that_can_not_be_read_is_idle(watch: Watch) -> None:
    """Torn, empty, or something else: the lock says that a worker serves."""
    path = record.state_path(watch.places, "dev")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"status": "bu')
    assert news(watch) == ["role.idle"]
