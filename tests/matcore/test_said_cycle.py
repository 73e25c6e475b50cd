"""`mat cycle` by an agent: one JSON object, no prose."""

from __future__ import annotations

import json

import pytest

from tests.matcore.conftest import Say
from tests.matcore.said_scene import Scene


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("complete",), {"event": "cycle.completed", "by": "dev", "cycle": "c1"}),
        (
            ("blocked", "--reason", "no key"),
            {"event": "cycle.blocked", "by": "dev", "cycle": "c1", "reason": "no key"},
        ),
        (("open", "--goal", "it is fast"), {"event": "cycle.opened", "by": "dev", "goal": "it is fast"}),
        (("open",), {"event": "cycle.opened", "by": "dev"}),
    ],
)
def test_a_cycle_is_opened_or_ended(words: tuple[str, ...], said: dict[str, str], scene: Scene, say: Say) -> None:
    """stdout is one compact object; the same stands in the spool as a fact."""
    with scene.supervisor():
        code, out, err = say("mat", "cycle", *words)
    assert (code, err) == (0, "")
    assert out == json.dumps(said, separators=(",", ":")) + "\n"
    (fact,) = scene.said(said["event"])
    assert {key: fact.get(key) for key in said if key != "event"} == {k: v for k, v in said.items() if k != "event"}


def test_without_a_supervisor_the_object_says_so(scene: Scene, say: Say) -> None:
    """It stays one object."""
    assert json.loads(say("mat", "cycle", "complete")[1])["waits_for"] == "supervisor"
    assert len(scene.said("cycle.completed")) == 1


def test_what_is_not_open_can_t_end(scene: Scene, say: Say) -> None:
    """Exit 1, nothing on stdout, and what to do instead."""
    scene.tell(cycle=None)
    code, out, err = say("mat", "cycle", "complete")
    assert (code, out) == (1, "")
    assert "mat cycle open" in err
    assert err.endswith("nothing changed\n")


@pytest.mark.parametrize("words", [(), ("close",), ("open", "--reason", "x"), ("complete", "x"), ("open", "--goal")])
def test_wrong_words_show_the_usage(words: tuple[str, ...], scene: Scene, say: Say) -> None:
    """Exit 2, and nothing changed."""
    code, out, err = say("mat", "cycle", *words)
    assert (code, out) == (2, "")
    assert "usage: mat cycle" in err
    assert scene.spooled() == []


@pytest.mark.parametrize("goal", ["", " \n"])
def test_a_goal_that_says_nothing_is_refused(goal: str, scene: Scene, say: Say) -> None:
    """As for the human; without `--goal` a cycle has none."""
    code, out, err = say("mat", "cycle", "open", "--goal", goal)
    assert (code, out, err) == (2, "", "--goal is empty; say what is to be reached, or leave it out; nothing changed\n")
    assert scene.spooled() == []


def test_a_disk_that_fails_changes_nothing(scene: Scene, say: Say) -> None:
    """The sentence names the place and ends with `nothing changed`."""
    scene.places.spool("dev").parent.write_text("no folder")
    code, out, err = say("mat", "cycle", "complete")
    assert (code, out) == (1, "")
    assert err.endswith("nothing changed\n")
