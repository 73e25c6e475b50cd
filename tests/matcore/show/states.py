"""Each state that a session may be found in, told by the real book: for what must be seen of it, at any width."""

from __future__ import annotations

from collections.abc import Callable

from tests.matcore.cli.conftest import Tell
from tests.matcore.cli.told import WINDOW_S, Told

W = WINDOW_S


def working(tell: Tell) -> Told:
    return tell(ago=432).working()


def quiet(tell: Tell) -> Told:
    return tell(ago=W / 2 + 70).stalled(0.4)


def settling(tell: Tell) -> Told:
    told = tell(ago=W + 85).stalled(0.5)
    told.fact("gate.raised", gate="human-typing", role="review", evidence="screen").pass_time(W / 2 + 10)
    return told.fact("gate.cleared", gate="human-typing", role="review", evidence="screen")


def held(tell: Tell) -> Told:
    told = tell(ago=2 * W).working().fact("role.idle", role="review", evidence="hook")
    return told.fact("gate.raised", gate="copy-mode", role="dev", evidence="tmux").pass_time(1.5 * W)


def escalated(tell: Tell) -> Told:
    told = tell(ago=5 * W).stalled(0.5).fact("gate.raised", gate="copy-mode", role="dev", evidence="tmux")
    return told.pass_time(4 * W)


def at_a_dialog(tell: Tell) -> Told:
    told = tell(ago=200).working().fact("gate.raised", 60, gate="dialog", role="review", evidence="screen")
    return told.fact("role.unknown", role="review", evidence="screen: trust dialog")


def asked_by_a_dialog(tell: Tell) -> Told:
    told = at_a_dialog(tell).fact("question.asked", 30, question="dialog-review-1", role="review", dialog=True)
    return told.fact("gate.cleared", gate="dialog", role="review", evidence="question")


def paused(tell: Tell) -> Told:
    return tell(ago=900).stalled(0.2).fact("human.paused").pass_time(700)


def rung_1(tell: Tell) -> Told:
    return tell(ago=W + 200).stalled(1)


def rung_2(tell: Tell) -> Told:
    return tell(ago=2 * W + 200).stalled(2)


def told_the_human(tell: Tell) -> Told:
    return tell(ago=3 * W + 3800).stalled(3)


def asks(tell: Tell) -> Told:
    text = "Shall I drop support for Python 3.10, or keep it? Keeping it costs a second code path in the loader."
    told = tell(ago=300).working().fact("question.asked", 100, question="q-1", role="review", text=text)
    return told.fact("role.idle", role="review", evidence="hook")


def mat_asks(tell: Tell) -> Told:
    told = tell(ago=300).working()
    return told.fact("question.asked", question="rounds-c1-1", role="review", text="30 rounds; go on?", by="mat")


def dead(tell: Tell) -> Told:
    return tell(ago=500).working().fact("role.gone", 100, role="review", evidence="pane is dead, exit status 1")


def blind(tell: Tell) -> Told:
    told = tell(ago=1500).stalled(0.2).fact("gate.raised", gate="tmux-unreachable", evidence="no answer within 5 s")
    told.pass_time(W)
    for role in ("dev", "review"):
        told.fact("role.unknown", role=role, evidence="tmux-unreachable")
    return told


def undelivered(tell: Tell) -> Told:
    told = tell(ago=500).working().fact("role.idle", role="review", evidence="hook")
    told.fact("relay.sent", 60, id="r-000002", from_="human", to="review", kind="request", seq=2)
    return told.fact("gate.raised", gate="human-typing", role="review", evidence="screen")


def not_told(tell: Tell) -> Told:
    told = tell(ago=500).working()
    told.note(
        "engine.telling", notice="n9", kind="notify-user", action=True, text="duo: review says:\nno disk\nReply: x"
    )
    return told.note("engine.told", notice="n9", ok=False, said="ntfy://my-topic: 502 Bad Gateway")


def no_goal(tell: Tell) -> Told:
    return tell(ago=100).fact("role.idle", role="dev", evidence="hook")


def completed(tell: Tell) -> Told:
    return tell(ago=900).working().fact("cycle.completed", 300, cycle="c1", by="review", reason="all done")


def blocked(tell: Tell) -> Told:
    return tell(ago=900).working().fact("cycle.blocked", 300, cycle="c1", by="review", reason="no key")


def ended(tell: Tell) -> Told:
    return tell(ago=900).working().ended()


BATON, EPISODE = ("baton", "review"), ("EPISODE", "of 3")
STATES: dict[str, tuple[Callable[[Tell], Told], tuple[str, ...]]] = {
    "working": (working, ("review works", *BATON)),
    "quiet": (quiet, ("nobody works", *BATON, "review is nudged (rung 1)")),
    "settling": (settling, ("human-typing/review is over", *BATON)),
    "held": (held, ("copy-mode/dev", "you are told in", *BATON)),
    "escalated": (escalated, ("HELD", "copy-mode/dev", "you were told", "mat attach duo dev", *BATON)),
    "at a dialog": (at_a_dialog, ("DIALOG", "A trust dialog", "mat attach duo review", "at a dialog", *BATON)),
    "asked by a dialog": (asked_by_a_dialog, ("DIALOG", "mat attach duo review", *BATON)),
    "paused": (paused, ("you paused it", "mat resume duo", *BATON)),
    "rung 1": (rung_1, (*EPISODE, *BATON, "dev is nudged (rung 2)")),
    "rung 2": (rung_2, (*EPISODE, *BATON, "you are told that the session stands still")),
    "told": (told_the_human, ("STALLED", "nothing more is tried", "mat attach duo review", *EPISODE, *BATON)),
    "asks": (asks, ("ASKS YOU", "code path in the loader.", 'mat answer duo "TEXT"', *BATON)),
    "mat asks": (mat_asks, ("MAT ASKS", "mat asks you about review", 'mat answer duo "TEXT"', *BATON)),
    "dead": (dead, ("GONE", "exit status 1", "mat restart duo review", *BATON)),
    "blind": (blind, ("HELD", "tmux does not answer", "mat doctor", *BATON)),
    "undelivered": (undelivered, ("r-000002", "not delivered yet", "human-typing/review", *BATON)),
    "not told": (not_told, ("NOT DELIVERED", "no disk", "502 Bad Gateway", "mat notify --test", *BATON)),
    "no goal": (no_goal, ("no cycle is open", "mat cycle open --session duo")),
    "completed": (completed, ("c1 was completed by review", "all done", "mat cycle open --session duo")),
    "blocked": (blocked, ("BLOCKED", "no key", "mat cycle open --session duo")),
    "ended": (ended, ("has ended", "mat log duo")),
}
"""By name: how it comes about, and what must be seen of it whatever the width."""
