"""What a state was seen by, in words."""

from __future__ import annotations

import pytest

from matcore.places import StatePlaces
from matcore.show import phrases
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import supervised


@pytest.mark.parametrize(
    ("seen_by", "clause"),
    [
        ("hook", "seen by its hook"),
        ("screen", "seen by its screen"),
        ("title", "seen by its title"),
        ("turn record", "seen by its turn record"),
        ("submitted", "it was given a text"),
        ("screen (parked for 60 s, no hook)", "its screen has been at rest for a minute, without a hook"),
        ("screen (a new prompt)", "seen by its screen: a new prompt"),
        ("seen again", "seen again after a look that had failed"),
        ("screen: trust dialog", "a trust dialog stands on its screen"),
        ("hook: permission dialog", "a permission dialog stands on its screen"),
        ("screen: no composer", "no input line stands on its screen"),
        ("screen: blank", "its screen is blank"),
        ("screen: footer /esc to cancel/", "its screen shows /esc to cancel/"),
        ("pane is dead, exit status 1", "exit status 1"),
        ("pane is dead, killed by signal 9", "killed by signal 9"),
        ("pane is dead, exit status unknown", "exit status unknown"),
        ("pane is gone", "its pane is gone"),
        ("another process has the pane's number", "its pane is gone"),
        ("the worker's lock", "its worker has ended"),
        ("process", "its agent program runs in its pane no more"),
        ("tmux has not answered for 600 s", "tmux has not answered for 600 s"),
        ("tmux-unreachable", "tmux has not answered for a whole window"),
        ("nobody watched", "the watch has just begun"),
        ("started anew", "it has just been started"),
        ("a driver of yours", "seen by: a driver of yours"),
        ("", ""),
    ],
)
def test_each_evidence_is_a_clause_of_its_own(seen_by: str, clause: str) -> None:
    """It can stand in brackets behind a state, whatever it rests on."""
    assert phrases.evidence(seen_by) == clause


def test_a_dead_agent_is_not_seen_by_a_dead_pane(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Neither in the table nor in the sentences."""
    tell(ago=60).working().fact("role.gone", role="review", evidence="pane is dead, exit status 1")
    with supervised(state, "duo"):
        said = mat("status")[1] + mat("why")[1]
    assert "exit status 1" in " ".join(said.replace("│", " ").split())
    assert "seen by" not in said.replace("seen by its hook", "")
