"""The supervisor is killed again and again, at any moment, while real agents hand over to each other in real panes."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.duo import Duo

ROUNDS, KILLS, WINDOW_S = 6, 10, 6.0


@pytest.fixture
def duo(tmp_path: Path) -> Iterator[Duo]:
    duo = Duo(tmp_path, window=WINDOW_S)
    yield duo
    duo.end()


def exchange(duo: Duo) -> None:
    """Each hands over what it got, a few rounds; then the developer completes the cycle."""
    hands_over = {"work": 0.3}, {"send-relay": {"body": "Turn {{turn}} of {{role}}."}}
    again = {"when": r"\[relay r-\d+ from ", "times": ROUNDS, "steps": list(hands_over)}
    done = {"when": r"\[relay r-\d+ from review", "steps": [{"run": "mat cycle complete"}, {"print": "Done."}]}
    first = {"when": "Work on it", "once": True, "steps": list(hands_over)}
    quiet = [{"print": "Noted."}]
    duo.role("dev", {"rules": [first, again, done], "default": quiet}, kick="Work on it")
    duo.role("review", {"rules": [{**again, "times": 99}], "default": quiet})


@pytest.mark.slow
@pytest.mark.field_case("Lost or twice")
@pytest.mark.parametrize("seed", [1, 2])
def test_a_supervisor_that_is_killed_at_any_moment_loses_nothing_and_types_nothing_twice(duo: Duo, seed: int) -> None:
    """In a delivery, a take-up, a boundary: the work comes to its end, each relay has one, and no text came twice."""
    rnd = random.Random(seed)
    exchange(duo)
    duo.up()
    kills = 0
    while kills < KILLS and not duo.entries("cycle.completed"):
        time.sleep(rnd.uniform(0.05, 1.5))  # at any moment: that is the test
        for process in duo.ours():  # its guard, too, which would wait longer each time
            with suppress(psutil.NoSuchProcess):
                process.kill()
        kills += 1
        assert "nothing was started" in duo.up().stdout
    duo.wait("cycle.completed", 150)
    duo.wait("engine.injected", 60, kind="wrapup")
    assert kills >= 3
    entries = duo.entries()
    assert [e.data for e in entries if e.name == "engine.mistake"] == []
    sent = [str(e.data["id"]) for e in entries if e.name == "relay.sent"]
    assert len(sent) == len(set(sent))
    texts = [text for role in ("dev", "review") for text in duo.submitted(role)]
    for relay in sent:
        first = [t for t in texts if f"[relay {relay} from" in t and "[relay-redelivery" not in t]
        ends = [e for e in entries if e.name in ("relay.delivered", "relay.undeliverable") and e.data["id"] == relay]
        assert len(first) <= 1, first
        assert len(ends) == 1, (relay, [e.data for e in ends])
        if not first:
            assert ends[0].data.get("confirmed") is False, duo.story()
    nudges = Counter(text for text in texts if "IDLE RECOVERY" in text)
    assert all(count == 1 for count in nudges.values())
    assert len([e for e in entries if e.name == "cycle.completed"]) == 1
    assert duo.told().count("is completed") == 1
    assert duo.mat("verify", "duo").returncode == 0
