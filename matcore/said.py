"""The entry points of all that agents say, and of a human's relay.

What they say becomes a file in a spool, whether a supervisor lives or not; nothing here decides anything. Standard
library only: these start hundreds of times a day, inside sandboxes that let them write below the session's folder and
no more.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from matcore.said_run import run


def send_relay_main() -> int:
    """The command `send-relay`. Returns its exit code."""
    from matcore.said_relay import send_relay  # In here, like the others: only what is called is loaded.

    return run(send_relay, sys.argv[1:])


def notify_user_main() -> int:
    """The command `notify-user`. Returns its exit code."""
    from matcore.said_human import notify_user

    return run(notify_user, sys.argv[1:])


def wait_main(argv: Sequence[str]) -> int:
    """`mat wait`. Returns its exit code."""
    from matcore.said_wait import wait

    return run(wait, argv, "nothing changed")


def cycle_main(argv: Sequence[str]) -> int:
    """`mat cycle` by an agent. Returns its exit code."""
    from matcore.said_cycle import cycle

    return run(cycle, argv, "nothing changed")


def hook_main(argv: Sequence[str]) -> int:
    """`mat hook`. Returns 0."""
    from matcore.said_hook import hook_main as hook

    return hook(argv)


def human_relay(
    root: str, state_spool: str, session: str, role: str, text: str, answers: str | None = None
) -> tuple[str, int]:
    """A relay from the human to `role`; `root` is the session's folder. Returns its id and number.

    `answers` is the id of the question that it answers; such a text may be of any length. Raises `Refused`,
    `BadConfig` and `OSError`; nothing was sent then. The same text again is sent again.
    """
    from matcore.said_relay import human_relay as relay

    return relay(root, state_spool, session, role, text, answers)
