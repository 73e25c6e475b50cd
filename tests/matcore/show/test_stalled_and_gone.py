"""A stalled session whose agents have ended gets the one advice that helps: nobody is there who could be told."""

from __future__ import annotations

import pytest

from matcore.engine import noticefacts
from matcore.places import StatePlaces
from matcore.rules.decisions import Notify, NotifyKind
from matcore.words.notices import notice
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S, supervised


@pytest.mark.parametrize("gone", [("review",), ("dev", "review")])
@pytest.mark.parametrize("command", ["status", "why", "recap"])
def test_the_advice_is_to_start_them(
    mat: Mat, tell: Tell, state: StatePlaces, command: str, gone: tuple[str, ...]
) -> None:
    """`mat restart` of the one that is gone, `mat up` where all are; neither attach nor send."""
    told = tell(ago=3 * WINDOW_S + 3800).stalled(3)
    for role in gone:
        told.fact("role.gone", 5, role=role, evidence="pane is gone")
    with supervised(state, "duo"):
        seen = " ".join(mat(command, "duo")[1].replace("│", " ").split())
    right, wrong = "mat restart duo review", "&& mat up"
    if len(gone) == 2:
        right, wrong = wrong, right
    assert seen.count(right) >= 2
    for other in (wrong, "mat attach", "mat send"):
        assert other not in seen


@pytest.mark.parametrize("gone", [("review",), ("dev", "review")])
def test_so_says_the_notification(tell: Tell, gone: tuple[str, ...]) -> None:
    """The same command as the other views."""
    told = tell(ago=3 * WINDOW_S + 3800).stalled(3)
    for role in gone:
        told.fact("role.gone", 5, role=role, evidence="pane is gone")
    number = int(str(told.book.journal.tail(1, names=["notify"])[0].data["number"]))
    asked = Notify(number, told.now, NotifyKind.IDLE_RECOVERY, action=True, episode=1)
    said = notice("idle-recovery", session="duo", **noticefacts.of(told.book, asked, str))
    assert ("mat restart duo review" in said) is (len(gone) == 1)
    assert (f"cd {told.state.root} && mat up" in said) is (len(gone) == 2)
    assert "mat attach" not in said
