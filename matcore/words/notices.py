"""What mat tells a person: a text for each kind of notification, each ending with the command to run next.

`worknotices` and `troublenotices` have a function for each kind, which takes its facts and returns its lines. The first
line alone says what happened (some channels show no more). Words are neutral and never quote what an agent printed;
only what it handed to `notify-user` is passed on, and the last line that a program left when it ended, for that is all
that says why. Under 1 KiB like everything that is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matcore.words import troublenotices as trouble
from matcore.words import worknotices as work
from matcore.words.parts import PATH_BYTES
from matcore.words.shape import LIMIT, line, middle


def notice(kind: str, **facts: object) -> str:
    """The text of a notification. `kind` is a key of KINDS; facts that a kind does not use are ignored.

    Raises `KeyError` for an unknown kind and `TypeError` when a fact is missing that it can't do without.
    """
    return middle("\n".join(KINDS[kind](**facts)), LIMIT)


def _test(*, channel: str = "", **_: object) -> Sequence[str]:
    return (f"mat: this is a test of {line(channel, PATH_BYTES) or 'a channel'}. You need not do anything.",)


KINDS: dict[str, Callable[..., Sequence[str]]] = {
    "idle-recovery": work.idle_recovery,
    "gate": work.gate,
    "question": work.question,
    "overdue": work.overdue,
    "cycle-completed": work.cycle_completed,
    "cycle-blocked": work.cycle_blocked,
    "crash-loop": work.crash_loop,
    "mass-loss": trouble.mass_loss,
    "refusals": work.refusals,
    "disk-full": trouble.disk_full,
    "state-unwritable": trouble.unwritable,
    "folder": trouble.folder,
    "recreated": trouble.recreated,
    "session-failed": trouble.session_failed,
    "guard": trouble.guard,
    "notify-user": work.told,
    "test": _test,
}
"""Kinds of the core (first six), of the engine, and what agents hand to `notify-user`."""
