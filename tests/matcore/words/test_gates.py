"""What each gate means: why it holds, how it ends, and the command that sees to it."""

from __future__ import annotations

import pytest

from matcore.rules import gates as rules
from matcore.words.gates import MEANINGS, command, ending, meaning


@pytest.mark.parametrize("kind", MEANINGS)
def test_each_gate_says_why_it_holds(kind: str) -> None:
    """Of the role that it is of, in the session that it is in; nothing is left to be filled in."""
    for words in (meaning, ending, command):
        assert "{" not in words(f"{kind}/dev", "shop-duo")
    assert meaning(f"{kind}/dev", "shop-duo")


def test_the_core_s_own_gates_have_their_words() -> None:
    """All of them; a driver's that nobody knows has none, and is named all the same."""
    assert set(MEANINGS) >= rules.OWN
    assert meaning("never-heard-of/dev", "duo") == ending("never-heard-of/dev", "duo") == ""


def test_how_it_ends_names_the_command() -> None:
    """Where there is one."""
    assert ending("paused", "duo") == "free it: mat resume duo"
    assert command("paused", "duo") == "mat resume duo"
    assert ending("compacting/dev", "duo") == "it ends by itself"
    assert ending("declared-wait/dev", "duo") == command("declared-wait/dev", "duo") == ""
