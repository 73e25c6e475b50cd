"""A text of ours that was typed and never submitted: it goes first, once, unless a person has made it theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from matcore.engine.driver import Verdict
from tests.live.rig import Rig
from tests.waiting import wait_for

MakeRig = Callable[..., Rig]
TEXT = "[relay r-000012 from review]\nRead handoffs/12.md\nThen answer with send-relay review FILE."
NEXT = "[relay r-000013 from review]\nAnd this."
COLLAPSES = {"chars": 40, "lines": 1}


def stranded(make_rig: MakeRig, **script: Any) -> Rig:
    """An agent that has taken a paste and lost every Enter after it."""
    rig = make_rig(script={"swallow_enter_ms": 2500, **script}, changes={"submit": {"settle_s": 0.1, "verify_s": 0.2}})
    rig.up()
    outcome = rig.deliver(TEXT)
    assert outcome.verdict is Verdict.UNCONFIRMED, outcome
    assert not rig.messages()
    rig.settled(2.6)
    return rig


@pytest.mark.slow
@pytest.mark.parametrize(("restarted", "collapsed"), [(False, False), (True, False), (False, True)])
@pytest.mark.field_case("Submitting")
def test_our_own_text_is_submitted_before_the_next_and_never_typed_again(
    make_rig: MakeRig, collapsed: bool, restarted: bool
) -> None:
    """By the supervisor that typed it or by the next one; the text that wanted in waits for its turn."""
    rig = stranded(make_rig, collapse_paste=COLLAPSES if collapsed else False)
    if restarted:
        rig.driver = rig.new_driver()
        rig.driver.adopt(rig.spec, {"dev": {**rig.seats["dev"], "left": TEXT}}, {"dev": [TEXT]})
    for _ in range(3):
        rig.tick()
    assert not [s for s in rig.saw("gate.raised") if s.fields["gate"] == "human-typing"]
    outcome = rig.deliver(NEXT)
    assert (outcome.verdict, outcome.gate) == (Verdict.REFUSED, "busy"), outcome
    assert "our own text was left in the composer" in outcome.evidence
    wait_for(rig.messages)
    assert rig.messages() == [TEXT]
    assert rig.typed().count("\x1b[200~") == 1
    rig.wait_to_see("turn.ended", role="dev", outcome="ok")
    assert rig.deliver(NEXT).verdict is not Verdict.REFUSED
    assert rig.typed().count(TEXT) == 1
    assert NEXT in rig.typed()


@pytest.mark.slow
@pytest.mark.field_case("People")
def test_what_a_person_has_changed_is_theirs(make_rig: MakeRig) -> None:
    """One key more, and it is a draft: the gate, and not one byte."""
    rig = stranded(make_rig)
    rig.keys("x")
    rig.wait_to_see("gate.raised", gate="human-typing", role="dev")
    before = rig.typed()
    assert rig.deliver(NEXT).gate == "human-typing"
    assert rig.typed() == before
    assert not rig.messages()


@pytest.mark.slow
@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.field_case("People")
def test_a_person_s_own_paste_that_counts_the_same_is_theirs(make_rig: MakeRig, restarted: bool) -> None:
    """Ours was lost, and theirs is shown by its lines alone: after a key of theirs, or where nobody knows of keys."""
    rig = stranded(make_rig, collapse_paste=COLLAPSES)
    press = rig.attach()
    press(b"\x15")
    wait_for(lambda: "Pasted text" not in rig.screen(), what="a composer that is empty")
    press(b"\x1b[200~first of mine, which is long enough\nsecond\nthird\x1b[201~")
    rig.wait_for_screen("+2 lines]")
    if restarted:
        rig.driver = rig.new_driver()
        rig.driver.adopt(rig.spec, {"dev": {**rig.seats["dev"], "left": TEXT}}, {"dev": [TEXT]})
    rig.wait_to_see("gate.raised", gate="human-typing", role="dev")
    assert rig.deliver(NEXT).gate == "human-typing"
    assert not rig.messages()
