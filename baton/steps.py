"""The points between which a worker may die, in the order in which a message passes them.

After each of them the next worker knows what to do: `PENDING` to `CLAIMED` nobody has begun; from `BUSY` to `ENDED` the
turn may have run, so what is left of it is ended and the text given once more, marked as a possible repeat; after
`NOTED` only the file is still to be moved.
"""

from __future__ import annotations

import enum


class Step(enum.StrEnum):
    PENDING = "pending"
    CLAIMED = "claimed"
    BUSY = "busy"
    STARTED = "started"
    RUNNING = "running"
    ENDED = "ended"
    NOTED = "noted"
    DONE = "done"


def reached(step: Step) -> None:
    """Nothing. The tests have a worker die here."""
