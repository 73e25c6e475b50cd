"""What mat tells a person of the work: a standstill, a gate, a question, a cycle's end, an agent that ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from matcore.rules.gates import AWAITING_HUMAN
from matcore.words import again
from matcore.words.figures import counted, duration
from matcore.words.gates import ending, meaning
from matcore.words.parts import NAMES_BYTES, PATH_BYTES, SINCE_BYTES, by_whom, labelled, name, since_then
from matcore.words.shape import clean, line, middle, size

_TEXT = 500
_MEANING = 240
_MOST_GATES = 3
_AGAIN = 160
"""How many bytes of a question a reminder repeats."""
SOON_S = 60.0
"""An agent that ended sooner never came to work."""


def idle_recovery(
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
    """The last rung: waking did not help. `ended`: a role whose agent is gone; `said`: the last lines that it left;
    `workdir`: where the session is brought up again, if all of its agents are gone; `none_woken`: the roles for whose
    gone agents nobody was woken."""
    since = since_then(since)
    named = f" ({name(relay)})" if relay else ""
    holder = f"{name(owed)} has held the baton{named}{since}" if owed else f"nothing was handed over{since}"
    attach = f"mat attach {name(session)} {name(owed)}" if owed else f"mat attach {name(session)}"
    look = () if ended and (workdir or ended == owed) else (f"Look: {attach}",)
    return (
        f"{name(session)} stands still: {holder}, and {_in_vain(none_woken)}.",
        *_gone(session, ended, said, workdir),
        "Nothing more is tried until somebody acts.",
        f"Why: mat why {name(session)}",
        *look,
    )


def _in_vain(gone: Sequence[str]) -> str:
    if not gone:
        return "waking did not help"
    names = [name(role) for role in gone[:_MOST_GATES]]
    if len(names) == 1:
        return f"nobody could be woken: the agent of {names[0]} is gone"
    return f"nobody could be woken: the agents of {', '.join(names[:-1])} and {names[-1]} are gone"


def gate(
    *,
    session: str,
    gates: Sequence[str] = (),
    since: str = "",
    questions: Sequence[Mapping[str, Any]] = (),
    **_: object,
) -> Sequence[str]:
    """The session has to be woken, and gates hold that. `questions`: those that wait for an answer, each with `role`,
    `question`, `text`, `dialog` and `by_mat`."""
    named = line(", ".join(gates), NAMES_BYTES) or "a gate"
    return (
        f"{name(session)} has to be woken and can't be: {named}.",
        *(part for gate in gates[:_MOST_GATES] for part in _held_by(gate, session, questions)),
        *([f"Nothing was handed over since {line(since, SINCE_BYTES)}."] if since else []),
        f"Why: mat why {name(session)}",
    )


def _held_by(gate: str, session: str, questions: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    if gate == AWAITING_HUMAN and questions:
        several = sum(not each.get("dialog") for each in questions) > 1
        return [part for each in questions[:_MOST_GATES] for part in _asked(session, each, several)]
    return [_means(gate, session)] if meaning(gate, session) else []


def _asked(session: str, question: Mapping[str, Any], several: bool) -> Sequence[str]:
    """The question once more, and the command that answers it."""
    role, asked = name(question["role"]), line(str(question.get("text") or ""), _AGAIN)
    if question.get("dialog"):
        said = f"a dialog on {role}'s screen waits for you{f': {asked}' if asked else '.'}"
        return (f"{AWAITING_HUMAN}: {said}", f"Answer: mat attach {name(session)} {role}")
    who = f"mat asks you about {role}" if question.get("by_mat") else f"{role} asks you"
    named = f" --question {name(question['question'])}" if several else ""
    return (f"{AWAITING_HUMAN}: {who}: {asked}", f'Answer: mat answer {name(session)}{named} "TEXT"')


def _means(gate: str, session: str) -> str:
    """Why it holds and how it ends: `dialog/dev: a dialog stands on dev's screen; answer it: mat attach duo dev`."""
    said = "; ".join(part for part in (meaning(gate, session), ending(gate, session)) if part)
    return line(f"{gate}: {said}", _MEANING)


def question(
    *,
    session: str,
    role: str,
    question: str = "",
    text: str = "",
    dialog: bool = False,
    by_mat: bool = False,
    **_: object,
) -> Sequence[str]:
    """An agent, or mat itself (`by_mat`), asks; or a `dialog` stands on an agent's screen."""
    if dialog:
        return (
            f"{name(session)}: a dialog on {name(role)}'s screen waits for you.",
            *([middle(clean(text).strip(), _TEXT)] if text else []),
            f"Answer: mat attach {name(session)} {name(role)}",
        )
    asked = clean(text).strip()
    whole = [f"All of it: mat log {name(session)} --json --kind question.asked"] if size(asked) > _TEXT else []
    named = f" --question {name(question)}" if question else ""
    return (
        f"{name(session)}: mat asks you about {name(role)}:" if by_mat else f"{name(session)}: {name(role)} asks you:",
        *([middle(asked, _TEXT)] if asked else []),
        *whole,
        f'Answer: mat answer {name(session)}{named} "TEXT" (or --file FILE, - is stdin)',
    )


def rounds_question(*, session: str, cycle: str, role: str, rounds: int) -> str:
    """What mat itself asks where a cycle's rounds are used up; a `question` notice carries it."""
    return (
        f"Cycle {name(cycle)} has had {rounds} rounds and is not at its end. Until you answer, handoffs wait. "
        f"Your answer goes to {name(role)} and grants {rounds} more; to end it instead: "
        f"mat cycle complete --session {name(session)}"
    )


def overdue(*, session: str, cycle: str = "", since: str = "", **_: object) -> Sequence[str]:
    """Nothing was handed over until the deadline on progress, though the agents move."""
    return (
        f"{name(session)}: cycle {name(cycle)} is open and nothing was handed over{since_then(since)}.",
        "The agents move, but the work does not pass on.",
        f"Why: mat why {name(session)}",
    )


def cycle_completed(
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
    """A cycle has reached its goal."""
    return (
        f"{name(session)}: cycle {name(cycle)} is completed{by_whom(by)}.",
        *labelled("Goal", goal),
        *labelled("Reason", reason),
        *_course(took_s, handoffs, stalls),
        *_closing(session, by),
        f"Next: mat cycle open --session {name(session)} --goal TEXT",
    )


def _course(took_s: float | None, handoffs: int, stalls: int) -> Sequence[str]:
    if took_s is None:
        return ()
    said = [duration(took_s), counted(handoffs, "handoff"), *([counted(stalls, "stall")] if stalls else [])]
    return (f"It took {', '.join(said)}.",)


def _closing(session: str, by: str) -> Sequence[str]:
    """Where the closing message stands: it is said once, in the session of the role that ended the cycle."""
    if not by or by == "human":
        return (f"See: mat recap; mat log {name(session)}",)
    return (f"Its closing message: mat attach {name(session)} {name(by)}; the course: mat log {name(session)}",)


def cycle_blocked(
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
    """A cycle has ended short of its goal."""
    look = f"mat attach {name(session)} {name(by)}" if by and by != "human" else f"mat why {name(session)}"
    return (
        f"{name(session)}: cycle {name(cycle)} is blocked{by_whom(by)}.",
        *labelled("Reason", reason),
        *labelled("Goal", goal),
        *_course(took_s, handoffs, stalls),
        f"Look: {look}; go on: mat cycle open --session {name(session)} --goal TEXT",
    )


def crash_loop(
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
    """An agent ends again and again. `since`: when the human started it, where they are counted from then; `lived_s`:
    for how long it ran the last time; `said`: the last lines that it left then."""
    who = f"the agent of {name(role)}{f' ({name(program)})' if program else ''}"
    soon = lived_s is not None and lived_s < SOON_S
    counted = f"since you started it at {line(since, SINCE_BYTES)}" if since else f"in {minutes} minutes"
    return (
        f"{name(session)}: {who} ended {times} times {counted}; it is not started again.",
        *((f"The last time it ended within {duration(max(1, ceil(lived_s or 0.0)))} of its start.",) if soon else ()),
        *labelled("Its last line", last_line(said)),
        f"Look: mat attach {name(session)} {name(role)}, or mat log {name(session)} --kind role.gone",
        f"Start it: mat restart {name(session)} {name(role)}",
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
        return (f"All of its agents have ended{left}; start them: {line(again.up(workdir), PATH_BYTES)}",)
    return (f"{name(role)}'s agent has ended{left}; start it: mat restart {name(session)} {name(role)}",)


def refusals(
    *,
    session: str,
    role: str,
    file: str = "",
    check: str = "",
    reason: str = "",
    blocks: int = 3,
    **_: object,
) -> Sequence[str]:
    """A role's handoff was refused several times in a row."""
    return (
        f"{name(session)}: {name(role)} was refused {blocks} times in a row by {name(check)}; nothing was sent.",
        *labelled("File", file),
        *labelled("Reason", reason),
        f"Help: mat send {name(session)} {name(role)} TEXT",
    )


def told(*, session: str, role: str, text: str, **_: object) -> Sequence[str]:
    """What an agent handed to `notify-user`."""
    return (
        f"{name(session)}: {name(role)} says:",
        middle(clean(text).strip(), 700),
        f"Reply: mat send {name(session)} {name(role)} TEXT",
    )
