"""`mat metrics`: what a collector reads."""

from __future__ import annotations

import json
import re

from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S, supervised

_SAMPLE = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+]+')


def test_counters_of_all_sessions_together(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Those of the wakes by runtime and reason, those of the ladder, and who watches."""
    tell("one", ago=5 * WINDOW_S).stalled(3)
    tell("two", ago=5 * WINDOW_S).stalled(1)
    with supervised(state, "one", "two"):
        code, out, _ = mat("metrics")
    assert code == 0
    for line in (
        'wake_received_total{runtime="scripted"} 2',
        'wake_completed_without_visible_reply_total{runtime="scripted",reason="no_reply"} 2',
        "mat_episodes_opened_total 2",
        'mat_nudges_total{rung="1"} 2',
        'mat_nudges_total{rung="2"} 1',
        "mat_supervisor_up 1",
        'mat_sessions{state="open"} 2',
    ):
        assert line in out.splitlines()


def test_it_is_openmetrics(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Each line is a sample or a comment, each family is said once, and the end is marked; unreadable ones count."""
    tell(ago=5 * WINDOW_S).stalled()
    state.session("torn").mkdir()
    state.journal("torn").write_bytes(b"nothing" * 1000)
    lines = mat("metrics")[1].splitlines()
    assert lines[-1] == "# EOF"
    assert all(line.startswith(("# HELP ", "# TYPE ", "# EOF")) or _SAMPLE.fullmatch(line) for line in lines)
    types = [line for line in lines if line.startswith("# TYPE")]
    assert len(types) == len(set(types))
    assert 'mat_sessions{state="unreadable"} 1' in lines


def test_no_name_of_anybody_is_a_label(mat: Mat, tell: Tell) -> None:
    """Neither session nor role nor relay."""
    tell("secretive", ago=5 * WINDOW_S).stalled()
    samples = [json.loads(line) for line in mat("metrics", "--json")[1].splitlines()]
    said = json.dumps([sample["labels"] for sample in samples])
    assert not any(word in said for word in ("secretive", "review", "dev", "r-000001"))
