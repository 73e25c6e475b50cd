"""What each gate means, how it ends, and the command that sees to it: for `mat status`, `mat why` and notifications."""

from __future__ import annotations

from collections.abc import Mapping

_ATTACH = "mat attach {session} {role}"
_DOCTOR = "mat doctor"

MEANINGS: Mapping[str, tuple[str, str, str]] = {
    "human-typing": ("a draft stands in {role}'s input line", "it ends when you send or clear it", _ATTACH),
    "copy-mode": ("somebody scrolls in {role}'s window", "it ends when they leave it", _ATTACH),
    "dialog": ("a dialog stands on {role}'s screen", "answer it", _ATTACH),
    "login": ("{role}'s program asks for a login", "log in there", _ATTACH),
    "input-off": ("input is switched off in {role}'s pane", "switch it on there with: tmux select-pane -e", _ATTACH),
    "synchronized": (
        "{role}'s window sends keys to all of its panes",
        "undo it there with: tmux set-option -w synchronize-panes off",
        _ATTACH,
    ),
    "no-agent": ("{role}'s agent has left its pane to a shell", "start it again", "mat restart {session} {role}"),
    "rate-limited": ("{role}'s program is rate-limited", "it ends when the limit does", ""),
    "restarting": ("{role}'s agent is being started again", "it ends when it is there", ""),
    "compacting": ("{role}'s program is making room in its context", "it ends by itself", ""),
    "declared-wait": ("{role} has declared work under way (mat wait)", "", ""),
    "delivery-hangs": ("a text to {role} has been on its way for more than a minute", "look", _ATTACH),
    "paused": ("you paused it", "free it", "mat resume {session}"),
    "awaiting-human": ("a question waits for you", "it ends with your answer", ""),
    "relay-pending": ("a relay to {role} is not delivered yet", "it ends when it is", ""),
    "unknown": ("{role}'s state could not be made out for a whole window", "look", _ATTACH),
    "injected": ("{role} has just been given a text", "it ends within a minute", ""),
    "nudge-failed": ("the last nudge to {role} did not arrive", "it is repeated after a window", ""),
    "notify-failed": (
        "the last notification reached no channel",
        "it is repeated after a window; try the channels",
        "mat notify --test",
    ),
    "tmux-unreachable": ("tmux does not answer", "look", _DOCTOR),
    "driver-failed": ("the agents could not be looked at", "look", _DOCTOR),
}
"""By the gate's name without its role: why it holds, how it ends, and the command, if there is one."""


def meaning(gate: str, session: str) -> str:
    """Why a gate (`name/role`, or `name`) holds; empty for one that no words are known for."""
    return _filled(gate, session, 0)


def ending(gate: str, session: str) -> str:
    """How it ends, with the command where there is one: `free it: mat resume duo`. May be empty."""
    end, command = _filled(gate, session, 1), _filled(gate, session, 2)
    return f"{end}: {command}" if end and command else end


def command(gate: str, session: str) -> str:
    """The command that sees to it; empty where there is none."""
    return _filled(gate, session, 2)


def _filled(gate: str, session: str, place: int) -> str:
    kind, _, role = gate.partition("/")
    return MEANINGS.get(kind, ("", "", ""))[place].format(role=role or "its role", session=session)
