"""`mat wait`: a wait with an end."""

from __future__ import annotations

import pytest

from tests.matcore.conftest import Say
from tests.matcore.said_scene import Scene


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("4h", 14_400), ("1h30m", 5400), ("1m1s", 61)]
)
def test_a_wait_is_declared_in_seconds(text: str, seconds: int, scene: Scene, say: Say) -> None:
    """The record has the duration in seconds and the reason in one line."""
    code, out, err = say("mat", "wait", text, "full", "test\nrun")
    assert (code, err) == (0, "")
    assert "mat wait --done" in out
    (wait,) = scene.said("wait")
    assert (wait["until_s"], wait["reason"]) == (seconds, "full test run")


def test_a_wait_can_end_earlier(scene: Scene, say: Say) -> None:
    """`--done` says so; a long reason is cut."""
    say("mat", "wait", "1h", "x" * 500)
    assert say("mat", "wait", "--done")[1].startswith("the wait has ended\n")
    first, second = scene.said("wait")
    assert len(str(first["reason"])) == 200
    assert second["done"] is True


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        ((), 2, "usage"),
        (("30m",), 2, "usage"),
        (("30m", " "), 2, "usage"),
        (("--done", "x"), 2, "usage"),
        (("--later", "30m", "x"), 2, "no option"),
        (("30", "x"), 2, "is no duration"),
        (("1h30", "x"), 2, "is no duration"),
        (("0m", "x"), 2, "is no duration"),
        (("m", "x"), 2, "is no duration"),
        (("1d", "x"), 2, "is no duration"),
        (("²m", "x"), 2, "is no duration"),
        (("5h", "x"), 1, "4h at most"),
        (("3h61m", "x"), 1, "4h at most"),
        (("9" * 5000 + "h", "x"), 1, "4h at most"),
    ],
)
def test_what_is_no_wait_changes_nothing(words: tuple[str, ...], code: int, why: str, scene: Scene, say: Say) -> None:
    """The answer says how to write it."""
    got, out, err = say("mat", "wait", *words)
    assert (got, out) == (code, "")
    assert why in err
    assert err.endswith("nothing changed\n")
    assert scene.spooled() == []
