"""Decisions and gates in words: one phrase for each, past and future, for `mat status`, `mat why` and `mat episodes`.

Neutral words: what was seen and what is done, never what somebody should have done.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from matcore.show.text import plain
from matcore.words import gates

LAST_RUNG = 3

_COMING = {
    "episode.opened": "an episode is opened",
    "nudge": "{role} is nudged (rung {rung})",
    "rung.skipped": "rung {rung} is skipped, for {role} is gone",
    "episode.closed": "episode {episode} is closed",
    "ladder.deferred": "waking falls due and is held back by {gates}",
    "gate.escalated": "you are told that {gate} keeps the session from being woken",
    "progress.overdue": "the deadline on progress of {cycle} is over, and you are told",
    "final_check": "{role} is asked once whether anything is still to be sent",
    "recovery.delivered": "{role} is reminded of {message} in its new context",
    "wake.opened": "{message} is typed into {role}'s session",
    "wake.closed": "{message} to {role} is closed",
}
_COMING_NOTIFY = {
    "idle-recovery": "you are told that the session stands still (rung 3)",
    "gate": "you are told that it can't be woken because of {gates}",
    "overdue": "you are told that nothing has been handed over",
    "question": "you are told of a question",
    "cycle-completed": "you are told that {cycle} is completed",
    "cycle-blocked": "you are told that {cycle} is blocked",
}
_DONE = {
    "episode.opened": "episode {episode} was opened",
    "nudge": "{role} was nudged (rung {rung} of episode {episode})",
    "rung.skipped": "rung {rung} of episode {episode} was skipped, for {role} is gone",
    "episode.rearmed": "episode {episode} was set back to its first rung, because you acted",
    "episode.closed": "episode {episode} was closed by a {by}",
    "ladder.deferred": "waking was put off because of {gates}",
    "gate.escalated": "you were told that {gate} keeps the session from being woken",
    "progress.overdue": "nothing had been handed over in {cycle} until its deadline",
    "cycle.stale": "an end of {cycle} was set aside, for that cycle was not open",
    "goal.wrapup": "{role} was asked for its closing message ({cycle} {outcome})",
    "wake.opened": "{message} was delivered to {role}",
    "final_check": "{role} was asked once whether anything is still to be sent",
    "recovery.marked": "{message} to {role} was marked for its next context",
    "recovery.delivered": "{role} was reminded of {message} in its new context",
}
_DONE_NOTIFY = {
    "idle-recovery": "you were told that the session stands still (rung 3 of episode {episode})",
    "gate": "you were told that it can't be woken because of {gates}",
    "overdue": "you were told that nothing had been handed over",
    "question": "you were told of a question",
    "cycle-completed": "you were told that {cycle} is completed",
    "cycle-blocked": "you were told that {cycle} is blocked",
}
_WAKE_ENDS = {
    "reply_sent": "{role} answered {message}",
    "failed": "{role} could not work on {message} ({reason})",
    "completed_without_visible_reply": "{role} received {message} and is back to idle ({reason})",
}
_EVIDENCE = {
    "hook": "seen by its hook",
    "screen": "seen by its screen",
    "title": "seen by its title",
    "turn record": "seen by its turn record",
    "submitted": "it was given a text",
    "submission": "it was given a text",
    "screen (parked for 60 s, no hook)": "its screen has been at rest for a minute, without a hook",
    "screen: blank": "its screen is blank",
    "screen: no composer": "no input line stands on its screen",
    "screen: not ready": "its program is not ready for input",
    "title: says nothing": "its title says nothing",
    "process": "its agent program runs in its pane no more",
    "pane is dead": "exit status unknown",
    "pane is dead, exit status unknown": "exit status unknown",
    "pane is gone": "its pane is gone",
    "another process has the pane's number": "its pane is gone",
    "the worker's lock": "its worker has ended",
    "tmux-unreachable": "tmux has not answered for a whole window",
    "driver-failed": "the terminal could not be looked at for a whole window",
    "nobody watched": "the watch has just begun",
    "started anew": "it has just been started",
    "seen again": "seen again after a look that had failed",
}
_DIALOG = re.compile(r"(?:hook|screen|title): (\w+) dialog")
_SAYS_NOTHING = ("tmux", "question", "its agent is started again")
_EVIDENCE_WITH = (
    (re.compile(r"pane is dead, exit status (\d+)"), "exit status {}"),
    (re.compile(r"pane is dead, (killed by signal \d+)"), "{}"),
    (re.compile(r"(tmux has not answered for \d+ s)"), "{}"),
    (re.compile(r"screen \((.+)\)"), "seen by its screen: {}"),
    (re.compile(r"screen: (?:\w+ )?(.+)"), "its screen shows {}"),
)


_ON_ITS_WAY = {
    "nudge": "The nudge to {role}",
    "notify": "The notification that it stands still",
    "final_check": "A final check to {role}",
    "recovery.delivered": "A reminder to {role}",
}


class _Missing(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "?"


def coming(decision: Mapping[str, Any]) -> str:
    """What will be decided: `review is nudged (rung 1)`."""
    return _said(decision, _COMING, _COMING_NOTIFY)


def coming_then(before: Mapping[str, Any], decision: Mapping[str, Any]) -> str:
    """As `coming`, for what follows upon `before`: what was just said is not said again."""
    if decision.get("kind") == "gate" and before.get("event") == "ladder.deferred":
        return "you are told so"
    return coming(decision)


def done(decision: Mapping[str, Any]) -> str:
    """What was decided, and whether nothing came of it (`ok`): `review was nudged (rung 1 of episode 3)`."""
    ends = _WAKE_ENDS.get(str(decision.get("status"))) if decision.get("event") == "wake.closed" else None
    said = ends.format_map(_values(decision)) if ends else _said(decision, _DONE, _DONE_NOTIFY)
    if decision.get("ok") is not False:
        return said
    return f"{said.replace('you were told', 'you were to be told', 1)}; that did not arrive"


def on_its_way(event: str, role: str) -> str:
    """What was decided and has no outcome yet: `The nudge to review`."""
    return _ON_ITS_WAY.get(event, "A text to {role}").format(role=plain(role))


def gate(name: str, session: str) -> str:
    """What a gate means and how it ends; empty for one that no words are known for."""
    return "; ".join(part for part in (gate_meaning(name, session), gates.ending(plain(name), plain(session))) if part)


def gate_meaning(name: str, session: str) -> str:
    """Only what it means."""
    return gates.meaning(plain(name), plain(session))


def gate_command(name: str, session: str) -> str:
    """The command that sees to it, or nothing."""
    return gates.command(plain(name), plain(session))


def gate_reason(reason: str) -> str:
    """What was said of a gate when it was raised, without what only names the kind of evidence."""
    return "" if reason in _EVIDENCE or reason in _SAYS_NOTHING else plain(reason)


def dialog_in(seen_by: str) -> str | None:
    """The kind of the dialog that this evidence tells of, if it tells of one."""
    match = _DIALOG.fullmatch(seen_by)
    return match[1] if match else None


def a_dialog(kind: str) -> str:
    """`a trust dialog`, or `a dialog`."""
    return "a dialog" if kind == "other" else f"a {plain(kind)} dialog"


def evidence(seen_by: str) -> str:
    """What a state was seen by, as a clause of its own: `seen by its hook`, `its pane is gone`. Empty where nothing is
    known of it; what no driver of ours says is quoted as it is."""
    known = _EVIDENCE.get(seen_by)
    if known is not None or not seen_by:
        return known or ""
    dialog = dialog_in(seen_by)
    if dialog is not None:
        return f"{a_dialog(dialog)} stands on its screen"
    for pattern, clause in _EVIDENCE_WITH:
        match = pattern.fullmatch(seen_by)
        if match:
            return clause.format(plain(match[1]))
    return f"seen by: {plain(seen_by)}"


def _said(decision: Mapping[str, Any], phrases: Mapping[str, str], notify: Mapping[str, str]) -> str:
    event, kind = str(decision.get("event")), str(decision.get("kind"))
    phrase = notify.get(kind, f"you are told ({kind})") if event == "notify" else phrases.get(event, event)
    return phrase.format_map(_values(decision))


def _values(decision: Mapping[str, Any]) -> Mapping[str, str]:
    values = {
        key: ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value).replace("_", " ")
        if key == "reason" else str(value)
        for key, value in decision.items()
    }  # fmt: skip
    return _Missing({key: plain(value) for key, value in values.items()})
