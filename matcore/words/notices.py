"""What mat tells a person: one function for each kind of notification, each ending with the command to run next.

The first line alone says what happened (some channels show no more). Words are neutral and never quote what an agent
printed; only what it handed to `notify-user` is passed on, and the last line that a program left when it ended, for
that is all that says why. Under 1 KiB like everything that is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import Any

from matcore.rules.gates import AWAITING_HUMAN
from matcore.words import again
from matcore.words.figures import counted, duration
from matcore.words.gates import ending, meaning
from matcore.words.shape import LIMIT, clean, line, middle, size

_NAME = 40
_GATES = 200
_TEXT = 500
_PATH = 240
_SINCE = 64
_MEANING = 240
_MOST_GATES = 3
_AGAIN = 160
"""How many bytes of a question a reminder repeats."""
SOON_S = 60.0
"""An agent that ended sooner never came to work."""


def notice(kind: str, **facts: object) -> str:
    """The text of a notification. `kind` is a key of KINDS; facts that a kind does not use are ignored.

    Raises `KeyError` for an unknown kind and `TypeError` when a fact is missing that it can't do without.
    """
    return middle("\n".join(KINDS[kind](**facts)), LIMIT)


def _idle_recovery(
    *,
    session: str,
    since: str = "",
    owed: str | None = None,
    relay: str | None = None,
    ended: str = "",
    said: str = "",
    workdir: str = "",
    none_woken: Sequence[str] = (),
    **_: object,
) -> Sequence[str]:
    """`ended`: a role whose agent is gone; `said`: the last lines that it left; `workdir`: where the session is
    brought up again, if all of its agents are gone; `none_woken`: the roles for whose gone agents nobody was woken."""
    since = f" since {line(since, _SINCE)}" if since else ""
    named = f" ({_n(relay)})" if relay else ""
    holder = f"{_n(owed)} has held the baton{named}{since}" if owed else f"nothing was handed over{since}"
    attach = f"mat attach {_n(session)} {_n(owed)}" if owed else f"mat attach {_n(session)}"
    look = () if ended and (workdir or ended == owed) else (f"Look: {attach}",)
    return (
        f"{_n(session)} stands still: {holder}, and {_in_vain(none_woken)}.",
        *_gone(session, ended, said, workdir),
        "Nothing more is tried until somebody acts.",
        f"Why: mat why {_n(session)}",
        *look,
    )


def _in_vain(gone: Sequence[str]) -> str:
    if not gone:
        return "waking did not help"
    names = [_n(role) for role in gone[:_MOST_GATES]]
    if len(names) == 1:
        return f"nobody could be woken: the agent of {names[0]} is gone"
    return f"nobody could be woken: the agents of {', '.join(names[:-1])} and {names[-1]} are gone"


def _gate(
    *,
    session: str,
    gates: Sequence[str] = (),
    since: str = "",
    questions: Sequence[Mapping[str, Any]] = (),
    **_: object,
) -> Sequence[str]:
    """`questions`: those that wait for an answer, each with `role`, `question`, `text`, `dialog` and `by_mat`."""
    named = line(", ".join(gates), _GATES) or "a gate"
    return (
        f"{_n(session)} has to be woken and can't be: {named}.",
        *(part for gate in gates[:_MOST_GATES] for part in _held_by(gate, session, questions)),
        *([f"Nothing was handed over since {line(since, _SINCE)}."] if since else []),
        f"Why: mat why {_n(session)}",
    )


def _held_by(gate: str, session: str, questions: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    if gate == AWAITING_HUMAN and questions:
        several = sum(not each.get("dialog") for each in questions) > 1
        return [part for each in questions[:_MOST_GATES] for part in _asked(session, each, several)]
    return [_means(gate, session)] if meaning(gate, session) else []


def _asked(session: str, question: Mapping[str, Any], several: bool) -> Sequence[str]:
    """The question once more, and the command that answers it."""
    role, asked = _n(question["role"]), line(str(question.get("text") or ""), _AGAIN)
    if question.get("dialog"):
        said = f"a dialog on {role}'s screen waits for you{f': {asked}' if asked else '.'}"
        return (f"{AWAITING_HUMAN}: {said}", f"Answer: mat attach {_n(session)} {role}")
    who = f"mat asks you about {role}" if question.get("by_mat") else f"{role} asks you"
    named = f" --question {_n(question['question'])}" if several else ""
    return (f"{AWAITING_HUMAN}: {who}: {asked}", f'Answer: mat answer {_n(session)}{named} "TEXT"')


def _means(gate: str, session: str) -> str:
    """Why it holds and how it ends: `dialog/dev: a dialog stands on dev's screen; answer it: mat attach duo dev`."""
    said = "; ".join(part for part in (meaning(gate, session), ending(gate, session)) if part)
    return line(f"{gate}: {said}", _MEANING)


def _question(
    *,
    session: str,
    role: str,
    question: str = "",
    text: str = "",
    dialog: bool = False,
    by_mat: bool = False,
    **_: object,
) -> Sequence[str]:
    if dialog:
        return (
            f"{_n(session)}: a dialog on {_n(role)}'s screen waits for you.",
            *([middle(clean(text).strip(), _TEXT)] if text else []),
            f"Answer: mat attach {_n(session)} {_n(role)}",
        )
    asked = clean(text).strip()
    whole = [f"All of it: mat log {_n(session)} --json --kind question.asked"] if size(asked) > _TEXT else []
    named = f" --question {_n(question)}" if question else ""
    return (
        f"{_n(session)}: mat asks you about {_n(role)}:" if by_mat else f"{_n(session)}: {_n(role)} asks you:",
        *([middle(asked, _TEXT)] if asked else []),
        *whole,
        f'Answer: mat answer {_n(session)}{named} "TEXT" (or --file FILE, - is stdin)',
    )


def rounds_question(*, session: str, cycle: str, role: str, rounds: int) -> str:
    """What mat itself asks where a cycle's rounds are used up; a `question` notice carries it."""
    return (
        f"Cycle {_n(cycle)} has had {rounds} rounds and is not at its end. Until you answer, handoffs wait. "
        f"Your answer goes to {_n(role)} and grants {rounds} more; to end it instead: "
        f"mat cycle complete --session {_n(session)}"
    )


def _overdue(*, session: str, cycle: str = "", since: str = "", **_: object) -> Sequence[str]:
    return (
        f"{_n(session)}: cycle {_n(cycle)} is open and nothing was handed over{_since(since)}.",
        "The agents move, but the work does not pass on.",
        f"Why: mat why {_n(session)}",
    )


def _cycle_completed(
    *,
    session: str,
    cycle: str = "",
    by: str = "",
    goal: str = "",
    reason: str = "",
    took_s: float | None = None,
    handoffs: int = 0,
    stalls: int = 0,
    **_: object,
) -> Sequence[str]:
    return (
        f"{_n(session)}: cycle {_n(cycle)} is completed{_by(by)}.",
        *_labelled("Goal", goal),
        *_labelled("Reason", reason),
        *_course(took_s, handoffs, stalls),
        *_closing(session, by),
        f"Next: mat cycle open --session {_n(session)} --goal TEXT",
    )


def _course(took_s: float | None, handoffs: int, stalls: int) -> Sequence[str]:
    if took_s is None:
        return ()
    said = [duration(took_s), counted(handoffs, "handoff"), *([counted(stalls, "stall")] if stalls else [])]
    return (f"It took {', '.join(said)}.",)


def _closing(session: str, by: str) -> Sequence[str]:
    """Where the closing message stands: it is said once, in the session of the role that ended the cycle."""
    if not by or by == "human":
        return (f"See: mat recap; mat log {_n(session)}",)
    return (f"Its closing message: mat attach {_n(session)} {_n(by)}; the course: mat log {_n(session)}",)


def _cycle_blocked(
    *,
    session: str,
    cycle: str = "",
    by: str = "",
    goal: str = "",
    reason: str = "",
    took_s: float | None = None,
    handoffs: int = 0,
    stalls: int = 0,
    **_: object,
) -> Sequence[str]:
    look = f"mat attach {_n(session)} {_n(by)}" if by and by != "human" else f"mat why {_n(session)}"
    return (
        f"{_n(session)}: cycle {_n(cycle)} is blocked{_by(by)}.",
        *_labelled("Reason", reason),
        *_labelled("Goal", goal),
        *_course(took_s, handoffs, stalls),
        f"Look: {look}; go on: mat cycle open --session {_n(session)} --goal TEXT",
    )


def _crash_loop(
    *,
    session: str,
    role: str,
    times: int = 3,
    minutes: int = 10,
    program: str = "",
    lived_s: float | None = None,
    said: str = "",
    since: str = "",
    **_: object,
) -> Sequence[str]:
    """`since`: when the human started it, where they are counted from then; `lived_s`: for how long it ran the last
    time; `said`: the last lines that it left then."""
    who = f"the agent of {_n(role)}{f' ({_n(program)})' if program else ''}"
    soon = lived_s is not None and lived_s < SOON_S
    counted = f"since you started it at {line(since, _SINCE)}" if since else f"in {minutes} minutes"
    return (
        f"{_n(session)}: {who} ended {times} times {counted}; it is not started again.",
        *((f"The last time it ended within {duration(max(1, ceil(lived_s or 0.0)))} of its start.",) if soon else ()),
        *_labelled("Its last line", last_line(said)),
        f"Look: mat attach {_n(session)} {_n(role)}, or mat log {_n(session)} --kind role.gone",
        f"Start it: mat restart {_n(session)} {_n(role)}",
    )


def last_line(said: str) -> str:
    """Of what a program left when it ended the line that most likely says why."""
    return next((each.strip() for each in reversed(clean(said).splitlines()) if each.strip()), "")


def _gone(session: str, role: str, said: str, workdir: str) -> Sequence[str]:
    if not role:
        return ()
    last = line(last_line(said), _TEXT)
    left = f" ({last})" if last else ""
    if workdir:
        return (f"All of its agents have ended{left}; start them: {line(again.up(workdir), _PATH)}",)
    return (f"{_n(role)}'s agent has ended{left}; start it: mat restart {_n(session)} {_n(role)}",)


def _mass_loss(*, sessions: Sequence[str] = (), panes: int = 0, file: str = "", **_: object) -> Sequence[str]:
    named = line(", ".join(sessions), _GATES)
    return (
        f"{panes} agents of {len(sessions)} sessions are gone at once; the terminal server may have ended.",
        named,
        f"Look: mat doctor; start again: mat up {line(file, _PATH) or 'FILE'} (it resumes the agents' sessions)",
    )


def _refusals(
    *,
    session: str,
    role: str,
    file: str = "",
    check: str = "",
    reason: str = "",
    blocks: int = 3,
    **_: object,
) -> Sequence[str]:
    return (
        f"{_n(session)}: {_n(role)} was refused {blocks} times in a row by {_n(check)}; nothing was sent.",
        *_labelled("File", file),
        *_labelled("Reason", reason),
        f"Help: mat send {_n(session)} {_n(role)} TEXT",
    )


def _guard(*, failures: int = 3, minutes: int = 10, log: str = "", reason: str = "", **_: object) -> Sequence[str]:
    return (
        f"The supervisor of mat failed {failures} times in {minutes} minutes; no session is watched meanwhile.",
        *_labelled("Reason", reason),
        *_labelled("Log", log),
        "Check: mat doctor; see it fail: mat supervise",
    )


def _disk_full(*, reason: str = "", **_: object) -> Sequence[str]:
    return (
        "The disk is full: mat can't write down what happens, and goes on by itself when there is room again.",
        *_labelled("Reason", reason),
        "Check: mat doctor; old sessions: mat prune",
    )


def _unwritable(*, reason: str = "", **_: object) -> Sequence[str]:
    return (
        "mat can't write to its state folder: what happens waits until it can, and no agent is woken meanwhile.",
        *_labelled("Reason", reason),
        "Check: mat doctor",
    )


def _folder(*, session: str, reason: str = "", **_: object) -> Sequence[str]:
    return (
        f"{_n(session)}: its folder can't be written; its agents can't hand over anything until it can.",
        *_labelled("Reason", reason),
        f"Check: mat doctor; look: mat why {_n(session)}",
    )


def _recreated(
    *, session: str, what: Sequence[str] = (), lost: Sequence[str] = (), again: str = "", **_: object
) -> Sequence[str]:
    """`lost`: relays whose text can't be had, each as `r-000012 from dev to review`; `again`: the command that has the
    first sent again."""
    gone = f"{_n(session)}: parts of its folder .mat/{_n(session)} were gone and have been made again"
    if not lost:
        return (
            f"{gone}.",
            *_labelled("Made again", ", ".join(what)),
            f"Nothing to do; what happened: mat log {_n(session)}",
        )
    return (
        f"{gone}, but what was handed over and not answered is lost: {line(lost[0], 120)}.",
        *_labelled("Lost", ", ".join(lost) if len(lost) > 1 else ""),
        *_labelled("Made again", ", ".join(what)),
        f"Have it sent again: {line(again, _PATH)}",
    )


def _session_failed(*, session: str, reason: str = "", **_: object) -> Sequence[str]:
    return (
        f"{_n(session)} is watched no longer: something went wrong in mat itself, or its journal is damaged.",
        *_labelled("Reason", reason),
        f"Check: mat verify {_n(session)}; try again: mat up",
    )


def _told(*, session: str, role: str, text: str, **_: object) -> Sequence[str]:
    return (
        f"{_n(session)}: {_n(role)} says:",
        middle(clean(text).strip(), 700),
        f"Reply: mat send {_n(session)} {_n(role)} TEXT",
    )


def _test(*, channel: str = "", **_: object) -> Sequence[str]:
    return (f"mat: this is a test of {line(channel, _PATH) or 'a channel'}. You need not do anything.",)


KINDS: dict[str, Callable[..., Sequence[str]]] = {
    "idle-recovery": _idle_recovery,
    "gate": _gate,
    "question": _question,
    "overdue": _overdue,
    "cycle-completed": _cycle_completed,
    "cycle-blocked": _cycle_blocked,
    "crash-loop": _crash_loop,
    "mass-loss": _mass_loss,
    "refusals": _refusals,
    "disk-full": _disk_full,
    "state-unwritable": _unwritable,
    "folder": _folder,
    "recreated": _recreated,
    "session-failed": _session_failed,
    "guard": _guard,
    "notify-user": _told,
    "test": _test,
}
"""Kinds of the core (first six), of the engine, and what agents hand to `notify-user`."""


def _n(name: object) -> str:
    return line(str(name), _NAME)


def _since(since: str) -> str:
    return f" since {line(since, _SINCE)}" if since else ""


def _by(who: str) -> str:
    return f" by {_n(who)}" if who else ""


def _labelled(label: str, text: str) -> Sequence[str]:
    return (f"{label}: {line(text, 240)}",) if text else ()
