"""What mat tells a person of trouble around the work: agents lost at once, a full disk, folders, mat itself."""

from __future__ import annotations

from collections.abc import Sequence

from matcore.words.parts import NAMES_BYTES, PATH_BYTES, labelled, name
from matcore.words.shape import line


def mass_loss(*, sessions: Sequence[str] = (), panes: int = 0, file: str = "", **_: object) -> Sequence[str]:
    """Many sessions lost their agents at once: one notice for the host."""
    named = line(", ".join(sessions), NAMES_BYTES)
    return (
        f"{panes} agents of {len(sessions)} sessions are gone at once; the terminal server may have ended.",
        named,
        f"Look: mat doctor; start again: mat up {line(file, PATH_BYTES) or 'FILE'} (it resumes the agents' sessions)",
    )


def guard(*, failures: int = 3, minutes: int = 10, log: str = "", reason: str = "", **_: object) -> Sequence[str]:
    """The supervisor fails again and again."""
    return (
        f"The supervisor of mat failed {failures} times in {minutes} minutes; no session is watched meanwhile.",
        *labelled("Reason", reason),
        *labelled("Log", log),
        "Check: mat doctor; see it fail: mat supervise",
    )


def disk_full(*, reason: str = "", **_: object) -> Sequence[str]:
    """Nothing can be journalled for want of room."""
    return (
        "The disk is full: mat can't write down what happens, and goes on by itself when there is room again.",
        *labelled("Reason", reason),
        "Check: mat doctor; old sessions: mat prune",
    )


def unwritable(*, reason: str = "", **_: object) -> Sequence[str]:
    """Nothing can be journalled, for another reason than room."""
    return (
        "mat can't write to its state folder: what happens waits until it can, and no agent is woken meanwhile.",
        *labelled("Reason", reason),
        "Check: mat doctor",
    )


def folder(*, session: str, reason: str = "", **_: object) -> Sequence[str]:
    """A session's folder below its working directory can't be written."""
    return (
        f"{name(session)}: its folder can't be written; its agents can't hand over anything until it can.",
        *labelled("Reason", reason),
        f"Check: mat doctor; look: mat why {name(session)}",
    )


def recreated(
    *, session: str, what: Sequence[str] = (), lost: Sequence[str] = (), again: str = "", **_: object
) -> Sequence[str]:
    """Parts of a session's folder were gone. `lost`: relays whose text can't be had, each as `r-000012 from dev to
    review`; `again`: the command that has the first sent again."""
    gone = f"{name(session)}: parts of its folder .mat/{name(session)} were gone and have been made again"
    if not lost:
        return (
            f"{gone}.",
            *labelled("Made again", ", ".join(what)),
            f"Nothing to do; what happened: mat log {name(session)}",
        )
    return (
        f"{gone}, but what was handed over and not answered is lost: {line(lost[0], 120)}.",
        *labelled("Lost", ", ".join(lost) if len(lost) > 1 else ""),
        *labelled("Made again", ", ".join(what)),
        f"Have it sent again: {line(again, PATH_BYTES)}",
    )


def session_failed(*, session: str, reason: str = "", **_: object) -> Sequence[str]:
    """One session is watched no longer."""
    return (
        f"{name(session)} is watched no longer: something went wrong in mat itself, or its journal is damaged.",
        *labelled("Reason", reason),
        f"Check: mat verify {name(session)}; try again: mat up",
    )
