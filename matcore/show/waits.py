"""What waits for a person, the most pressing first, each with the command that sees to it: one list for all views."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from matcore.engine.dialogs import GATES
from matcore.engine.seen import BLIND
from matcore.rules.facts import HUMAN
from matcore.rules.gates import AWAITING_HUMAN
from matcore.show import dialogs, endings, failures, phrases
from matcore.show.phrases import LAST_RUNG
from matcore.show.shapes import (
    EndedCycle,
    FailedView,
    GateView,
    NoticeView,
    QuestionView,
    RoleView,
    Snapshot,
    TroubleView,
)
from matcore.show.text import duration, lasted, moment, plain, short
from matcore.words import again

ONLY_YOURS = ("no-agent", "input-off", "synchronized")
"""Gates that nothing but a person ends, and that no notification of their own tells."""

_BLIND_S = 60.0
"""Nothing can be seen or typed while a driver is blind: for more than a moment that is nothing to wait for."""
_MOST_SAID = 120
_TROUBLES = {
    "disk-full": ("the disk is full", "mat doctor"),
    "state-unwritable": ("mat's state folder can't be written", "mat doctor"),
    "folder": ("its folder can't be written", "mat doctor"),
    "handoffs": ("something that was handed over can't be read any more", "mat log {} --kind engine.recreated"),
}
"""What is wrong around a session, in a few words, and where to look."""


class Wait(msgspec.Struct):
    """`label`: what kind it is, in capitals. `what`: a sentence without its point. `verb` and `command`: what to do
    about it. `needs`: in a few words. `text`: what somebody said, of any length.

    All of it may be shown as it is: foreign text has been made harmless.
    """

    label: str
    what: str
    verb: str
    command: str
    needs: str
    text: str = ""


def of(shot: Snapshot) -> list[Wait]:
    """Nothing of a session that has ended."""
    return [] if shot.state == "ended" else list(_all(shot))


def _all(shot: Snapshot) -> Iterator[Wait]:
    yield from _nobody_watches(shot)
    yield from (_question(shot, question) for question in shot.questions if not question.dialog)
    texts = {question.role: plain(question.text).strip() for question in shot.questions if question.dialog}
    yield from (_dialog(shot, role, texts.get(role.role, "")) for role in shot.roles if role.dialog is not None)
    yield from (_gone(shot, role) for role in shot.roles if role.status == "gone" and role.restarts_at is None)
    if shot.episode is not None and shot.episode.rung >= LAST_RUNG:
        yield _told(shot)
    yield from (_not_worked_on(shot, failed) for failed in shot.failed if failed.sender == HUMAN)
    yield from (_trouble(shot, trouble) for trouble in shot.troubles)
    gates = [gate for gate in shot.gates if is_yours(gate, shot.now) and not dialogs.explains(shot, gate)]
    yield from (_gate(shot, gate) for gate in gates)
    if shot.last_cycle is not None and shot.last_cycle.outcome == "blocked":
        yield _blocked(shot, shot.last_cycle)
    yield from (_not_delivered(shot, notice) for notice in shot.not_delivered)


def _nobody_watches(shot: Snapshot) -> Iterator[Wait]:
    name = plain(shot.session)
    match shot.state:
        case "unreadable":
            yield Wait("UNREADABLE", plain(shot.fault), "Check", f"mat verify {name}", "its journal can't be read")
        case "unwatched" if shot.session in shot.supervisor.failed:
            why = _last_line(shot.supervisor.failed[shot.session])
            what = "mat can't watch this session: nothing is noticed and nobody is woken"
            yield Wait("NOT WATCHED", what, "Check", f"mat verify {name}", "mat can't watch it", why)
        case "unwatched":
            what = "Nobody watches this session: nothing is noticed and nobody is woken"
            if shot.supervisor.guarded and not shot.supervisor.alive:
                what += ", until the supervisor has been started again, which its guard is about to do"
                yield Wait("NOT WATCHED", what, "If it stays so", "mat doctor", "nobody watches it")
                return
            yield Wait("NOT WATCHED", what, "Start the supervisor", _up(shot), "nobody watches it")
        case "hangs":
            age = duration(shot.supervisor.heartbeat_age_s or 0.0)
            what = f"The supervisor hangs: its last heartbeat was {age} ago, and what is said here may be old"
            yield Wait("HANGS", what, "Check", "mat doctor", "its supervisor hangs")
        case "failed":
            what = "mat itself failed in this session and no longer watches it"
            command = f"mat log {name} --kind engine.mistake"
            yield Wait("FAILED", what, "See", command, "mat itself failed in it")
        case _:
            return


def _last_line(text: str) -> str:
    return plain(text.strip().rpartition("\n")[2])


def _up(shot: Snapshot) -> str:
    """It has to be said where."""
    return plain(again.up(shot.workdir))


def _question(shot: Snapshot, question: QuestionView) -> Wait:
    name, role, text = plain(shot.session), plain(question.role), plain(question.text).strip()
    several = sum(not each.dialog for each in shot.questions) > 1
    command = f'mat answer {name}{f" --question {plain(question.id)}" if several else ""} "TEXT"'
    since = f"{lasted(question.since, shot.now)} ago"
    if question.by_mat:
        what, needs = f"mat asks you about {role}, {since}", f"mat asks you about {role}"
        return Wait("MAT ASKS", what, "Answer", command, needs, text)
    return Wait("ASKS YOU", f"{role} asks you, {since}", "Answer", command, f"{role} waits for your answer", text)


def _dialog(shot: Snapshot, role: RoleView, text: str) -> Wait:
    name = plain(role.role)
    kind = phrases.a_dialog(role.dialog or "other").capitalize()
    what = f"{kind} has stood on {name}'s screen for {lasted(role.dialog_since or role.since, shot.now)}"
    needs = f"a dialog on {name}'s screen waits for you"
    return Wait("DIALOG", what, "Answer it there", f"mat attach {plain(shot.session)} {name}", needs, text)


def _told(shot: Snapshot) -> Wait:
    name = plain(shot.session)
    what = "It stands still: you were told, and nothing more is tried until somebody acts"
    if gone := [role for role in shot.roles if role.status == "gone" and role.restarts_at is None]:
        holder = next((role for role in gone if shot.baton is not None and role.role == shot.baton.role), gone[0])
        whose = "all agents are" if len(gone) == len(shot.roles) else f"{plain(holder.role)}'s agent is"
        command, needs = _start_again(shot, holder), f"it stands still, for {whose} gone"
        return Wait("STALLED", f"{what}; {whose} gone", "Start it again", command, needs)
    to = f" {plain(shot.baton.role)}" if shot.baton is not None else ""
    command = f'mat attach {name}{to}, or mat send {name}{to or " ROLE"} "TEXT"'
    return Wait("STALLED", what, "Act", command, "it stands still, and waking did not help")


def _gone(shot: Snapshot, role: RoleView) -> Wait:
    name = plain(role.role)
    then = endings.then(shot, role)
    what = f"{endings.how(shot, role)}{f'; {then}' if then else ''}"
    return Wait("GONE", what, "Start it again", _start_again(shot, role), f"{name}'s agent is gone", endings.left(role))


def _start_again(shot: Snapshot, role: RoleView) -> str:
    """One command for one agent, and one for all where none is there."""
    all_gone = len(shot.roles) > 1 and all(each.status == "gone" for each in shot.roles)
    return _up(shot) if all_gone else f"mat restart {plain(shot.session)} {plain(role.role)}"


def _not_worked_on(shot: Snapshot, failed: FailedView) -> Wait:
    role = plain(failed.role)
    what = f"{plain(failed.relay)} from you to {role}, {failures.how(failed)}, {lasted(failed.since, shot.now)} ago"
    command = f'mat send {plain(shot.session)} {role} "TEXT"'
    needs = f"{role} could not work on your message {plain(failed.relay)}"
    return Wait("NOT WORKED ON", f"Not worked on: {what}", "Send it again", command, needs, plain(failed.text).strip())


def _trouble(shot: Snapshot, trouble: TroubleView) -> Wait:
    needs, command = _TROUBLES.get(trouble.what, (f"{plain(trouble.what)}", "mat doctor"))
    name = plain(shot.session)
    return Wait("TROUBLE", f"{needs[0].upper()}{needs[1:]}", "See", command.format(name), needs, plain(trouble.reason))


def is_yours(gate: GateView, now: float) -> bool:
    """Whether it waits for a person, as far as it is neither a dialog nor a question."""
    kind = gate.gate.partition("/")[0]
    yours = gate.escalated or kind in ONLY_YOURS or (kind in BLIND and now - gate.since > _BLIND_S)
    return yours and gate.cleared is None and kind not in (*GATES, AWAITING_HUMAN)


def _gate(shot: Snapshot, gate: GateView) -> Wait:
    meaning = phrases.gate_meaning(gate.gate, shot.session)
    told = ", and you were told" if gate.escalated else ""
    what = f"{plain(gate.gate)} has held waking for {lasted(gate.since, shot.now)}{told}"
    command = phrases.gate_command(gate.gate, shot.session) or f"mat why {plain(shot.session)}"
    needs = f"it can't be woken because of {plain(gate.gate)}"
    return Wait("HELD", f"{what}: {meaning}" if meaning else what, "See to it", command, needs)


def _blocked(shot: Snapshot, cycle: EndedCycle) -> Wait:
    what = f"{plain(cycle.cycle)} was blocked by {plain(cycle.by)} at {moment(cycle.ended, shot.now)}"
    command = f'mat cycle open --session {plain(shot.session)} --goal "TEXT"'
    return Wait("BLOCKED", what, "Go on", command, f"{plain(cycle.cycle)} is blocked", plain(cycle.reason or ""))


def _not_delivered(shot: Snapshot, notice: NoticeView) -> Wait:
    said = f" ({short(notice.said, _MOST_SAID)})" if notice.said else ""
    what = f"A notification of {moment(notice.at, shot.now)} has not reached you{said}"
    needs = "a notification did not reach you"
    return Wait("NOT DELIVERED", what, "Test the channels", "mat notify --test", needs, gist(notice.text))


def gist(text: str) -> str:
    """The first line of a notification, and the next where that is what the first announces."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return plain(" ".join(lines[: 2 if lines and lines[0].endswith(":") else 1]))
