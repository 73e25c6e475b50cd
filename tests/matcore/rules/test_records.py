"""Facts and decisions as plain records, and the small data that the rest is made of."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcore.rules import decisions as d
from matcore.rules import facts as f
from matcore.rules import policy, records
from matcore.rules.ids import NO_IDS, Ids
from matcore.rules.moments import STOPPED, Stopwatch, seconds, us
from tests.matcore.rules import writing
from tests.matcore.rules.happenings import SETTINGS, facts_of
from tests.matcore.rules.writing import written

FULL: tuple[dict[str, object], ...] = (
    {
        "at": 1,
        "fact": "session.configured",
        "roles": ["dev", "review"],
        "policy": {"window": 60.0, "gate_settle": 5.0, "progress_deadline": 0.0},
        "rules": "1",
    },
    {"at": 1.5, "fact": "cycle.blocked", "cycle": "c1", "by": "human"},
    {"at": 2, "fact": "turn.ended", "role": "dev", "outcome": "error", "detail": "529", "started": 1.5},
    {"at": 3, "fact": "relay.sent", "id": "r", "from": "dev", "to": "review", "kind": "fyi", "seen": 0, "seq": 4},
    {"at": 4, "fact": "relay.delivered", "id": "r", "confirmed": False},
    {"at": 5, "fact": "gate.raised", "gate": "copy-mode", "role": "dev", "until": 9},
    {"at": 6, "fact": "watch.resumed", "slept": 3},
    {"at": 7, "fact": "effect.ended", "decision": 3, "ok": False, "detail": "unconfirmed"},
)


@pytest.mark.parametrize("record", FULL, ids=lambda record: str(record["fact"]))
def test_a_record_comes_back_as_it_was(record: dict[str, object]) -> None:
    """What is parsed says all that the record said, also through JSON; keys that a fact does not name are ignored."""
    fact = records.parse({**record, "more": "than the core needs"})
    assert msgspec.json.decode(msgspec.json.encode(written(fact))) == record


def test_every_fact_of_random_runs_comes_back() -> None:
    """What was fed is what is read back, whatever the fact."""
    for seed in range(12):
        for fact in facts_of(SETTINGS[seed], seed, 60).facts:
            assert records.parse(written(fact)) == fact


def test_what_is_missing_has_its_default() -> None:
    """kind request, outcome ok, confirmed true, policy as usual; what is null is missing."""
    assert records.parse(
        {"at": 1, "fact": "relay.sent", "id": "r", "from": "a", "to": "b", "seen": None}
    ) == f.RelaySent(1, "r", "a", "b")
    assert records.parse({"at": 1, "fact": "turn.ended", "role": "a"}) == f.TurnEnded(1, "a")
    assert records.parse({"at": 1, "fact": "session.configured", "roles": ["a"]}) == f.SessionConfigured(1, ("a",))


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ({"at": 1}, "there is no fact None"),
        ({"at": 1, "fact": "role.sleepy"}, "there is no fact 'role.sleepy'"),
        ({"fact": "role.busy", "role": "a"}, "role.busy needs `at`"),
        ({"at": "1", "fact": "role.busy", "role": "a"}, "`at` must be a number of seconds"),
        ({"at": float("nan"), "fact": "watch.stopped"}, "`at` must be a number"),
        ({"at": True, "fact": "watch.stopped"}, "`at` must be a number"),
        ({"at": 1, "fact": "role.busy"}, "role.busy needs `role`"),
        ({"at": 1, "fact": "role.busy", "role": ""}, "`role` must be a text that is not empty"),
        ({"at": 1, "fact": "role.busy", "role": 7}, "`role` must be a text"),
        ({"at": 1, "fact": "turn.ended", "role": "a", "outcome": "so-so"}, "`outcome` must be ok or error"),
        ({"at": 1, "fact": "turn.ended", "role": "a", "detail": 5}, "`detail` must be a text"),
        (
            {"at": 1, "fact": "relay.sent", "id": "r", "from": "a", "to": "b", "kind": []},
            "`kind` must be request or fyi",
        ),
        ({"at": 1, "fact": "relay.sent", "id": "r", "from": "a", "to": "b", "seq": 1.5}, "`seq` must be a whole"),
        ({"at": 1, "fact": "relay.sent", "id": "r", "from": "a", "to": "b", "seq": True}, "`seq` must be a whole"),
        ({"at": 1, "fact": "relay.delivered", "id": "r", "confirmed": "no"}, "`confirmed` must be true or false"),
        ({"at": 1, "fact": "watch.resumed", "slept": -1}, "`slept` must be 0 seconds or more"),
        ({"at": 1, "fact": "session.configured", "roles": []}, "`roles` must be a list of at least one"),
        ({"at": 1, "fact": "session.configured", "roles": ["a", "a"]}, "`roles` must name each role once"),
        ({"at": 1, "fact": "session.configured", "roles": ["human"]}, "none `human`"),
        ({"at": 1, "fact": "session.configured", "roles": ["a"], "policy": 3}, "`policy` must be a mapping"),
        (
            {"at": 1, "fact": "session.configured", "roles": ["a"], "policy": {"window": 0}},
            "window must be more than 0",
        ),
        ({"at": 1, "fact": "session.configured", "roles": ["a"], "policy": {"window": "1"}}, "window must be a number"),
    ],
)
def test_what_is_no_fact_is_refused_with_a_sentence(record: dict[str, object], sentence: str) -> None:
    """The name of the fact and the key that is wrong."""
    with pytest.raises(records.FactError) as refused:
        records.parse(record)
    assert sentence in str(refused.value)


def test_every_fact_and_decision_has_its_name() -> None:
    """The name of a class is its fact's or event's in CamelCase."""
    for kind, name in (*records.NAMES.items(), *d.EVENTS.items()):
        assert kind.__name__ == "".join(word.capitalize() for word in name.replace(".", "_").split("_"))
        assert dataclasses.is_dataclass(kind)


def test_decisions_as_records() -> None:
    """`number`, `at`, `event`, then the keys; null where a key is the kind's but has no value, else left out."""
    assert d.record(d.Nudge(3, 1.23456789, 1, 2, "dev", None)) == {
        "number": 3,
        "at": 1.234568,
        "event": "nudge",
        "episode": 1,
        "rung": 2,
        "role": "dev",
        "redelivers": None,
    }
    assert d.record(d.Notify(4, 2, d.NotifyKind.GATE, action=True, gates=("a", "b"))) == {
        "number": 4,
        "at": 2,
        "event": "notify",
        "kind": "gate",
        "action": True,
        "gates": ["a", "b"],
    }


def test_the_deadline_is_36_windows_by_default() -> None:
    """Unless it is set; `record` is what `parse` reads."""
    assert policy.parse({"window": 10}).progress_deadline_us == us(360)
    assert policy.parse({}) == policy.DEFAULT
    given_ = policy.parse({"window": 10, "gate_settle": 0, "progress_deadline": 5})
    assert policy.parse(writing.policy(given_)) == given_


@given(st.lists(st.from_regex(r"\A(r-|r|recovery-a-b-|x)?(0|1|9|10|11|007|[0-9]{1,3}|[0-9]{20})?\Z")))
def test_ids_are_a_set(names: list[str]) -> None:
    """An id is in it if and only if it was put in, whatever it looks like."""
    ids = NO_IDS
    for place, name in enumerate(names):
        assert (name in ids) is (name in names[:place])
        ids = ids.plus(name)
    assert all(name in ids for name in names)
    assert not any(name in ids for name in ("y", "r-5x", "z1", "00000000000000000000000") if name not in names)


def test_ids_that_count_are_one_run() -> None:
    """A session of a year stays small; gaps are filled from both sides."""
    ids = NO_IDS
    for number in (*range(1, 500), *range(1_000, 500, -1), 500):
        ids = ids.plus(f"r-{number:06d}")
    assert ids == ids.plus("r-000007")
    assert [family.runs for family in ids.families] == [((1, 1_000),)]
    assert "r-001001" not in ids
    assert "r-000000" not in ids
    assert Ids() == NO_IDS


def test_a_stopwatch_does_not_depend_on_how_it_was_split() -> None:
    """Whole microseconds: a sum of thirds is the whole."""
    whole = Stopwatch(0, us(0.1)).stopped(us(0.7))
    parts = STOPPED
    for begin, end in ((0.1, 0.3), (0.3, 0.5), (0.5, 0.7)):
        parts = parts.started(us(begin)).stopped(us(end))
    assert parts == whole
    assert seconds(whole.banked_us) == 0.6
    assert (STOPPED.reaches(5), STOPPED.read(9), STOPPED.zeroed(3), STOPPED.stopped(3)) == (None, 0, STOPPED, STOPPED)
    running = Stopwatch(2, 10)
    assert (running.reaches(5), running.read(11), running.zeroed(20), running.less(1)) == (
        13,
        3,
        Stopwatch(0, 20),
        Stopwatch(1, 10),
    )
    assert (running.started(50), running.running, STOPPED.running) == (running, True, False)
