"""The part of each injected text that no other has: a driver knows a text of ours by it, on a screen and in a report.

`messages` begins its texts with these; whoever hands a text over hands its mark over, too.
"""

from __future__ import annotations

from matcore.words.shape import line

_ID = 40
_LONG_ID = 96


IDLE_RECOVERY = "IDLE RECOVERY"
"""With two numbers behind it: the episode's and the attempt's, which is that of the decision."""


def relay(*, message_id: str) -> str:
    """Of a delivery, from whomever."""
    return f"[relay {line(message_id, _ID)} from"


def nudge(*, episode: int, attempt: int) -> str:
    """Of a nudge and of a redelivery."""
    return f"{IDLE_RECOVERY} {episode}.{attempt}"


def final_check() -> str:
    """Of the final check; the same for all of them."""
    return "[mat] Final check"


def recovery(*, message_id: str) -> str:
    """Of the first text for a fresh context."""
    return f"[{line(message_id, _LONG_ID)}]"


def wrapup(*, outcome: str) -> str:
    """Of the instruction to close a cycle; the same for all that were `completed`, and for all that were `blocked`."""
    return "<goal_complete>" if outcome == "completed" else "<goal_blocked>"


def addressed(text: str) -> tuple[str | None, str]:
    """The relay's id and the sender that the first line of a delivered text names; (None, "mat") for mat's own."""
    words = text.partition("\n")[0].removeprefix("[relay ").split("]", 1)[0].split(" from ")
    return (words[0], words[1]) if text.startswith("[relay ") and len(words) == 2 else (None, "mat")
