"""Every text that mat injects into an agent, one function each; no module but this and `marks` holds protocol words.

Texts are for a language model that may have forgotten what came before: they say who speaks, what is owed since when,
and the exact command that ends it. Each is under 1 KiB (a pointer to a file, never a payload), holds no control
characters and never starts with `!`, `/`, `#` or `@`, which programs run or look up. A redelivery or a nudge carries
its episode and attempt, so that it is never byte-identical to a text sent before (`relay.md`, `drivers.md`).

In all of them `command` is how the agent calls `send-relay`: bare, or by its absolute path.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcore.words import marks
from matcore.words.shape import LIMIT, clean, line, middle, program, reachable, size

_NAME = 40
_PATH = 300
_SINCE = 64


def relay(
    *,
    message_id: str,
    sender: str,
    path: str,
    body: str | None = None,
    command: str,
    kind: str = "request",
) -> str:
    """The delivery of a relay from a role: who, where the handoff is, and how to answer.

    `body` is the handoff's text, looked at only to leave out the tail where it already names the tool and target.
    """
    target = line(sender, _NAME)
    if kind == "fyi":
        tail = f"For your information; {target} expects no answer."
    elif body is not None and f"send-relay {target}" in body:
        tail = ""
    else:
        tail = _tail(sender, command)
    return _text(_head(message_id, sender), f"Read {reachable(path, _PATH)}", tail)


def redelivery(
    *,
    message_id: str,
    sender: str,
    path: str,
    owed: str,
    since: str,
    episode: int,
    attempt: int,
    command: str,
) -> str:
    """Rung 1 to the role `owed` that holds the baton: the relay again, as fresh work. `since` is text for people.

    `attempt` never repeats within an episode, failed attempts and re-armed ladders included.
    """
    target = line(sender, _NAME)
    # A human is no role: only a handoff to a role, or the cycle's end, moves the work.
    act = f"`{program(command)} FILE`" if sender == "human" else f"`{program(command)} {target} FILE`"
    return _text(
        f"{_head(message_id, sender)} [relay-redelivery=idle-recovery] {marks.nudge(episode=episode, attempt=attempt)}",
        f"No handoff since {line(since, _SINCE)}. You ({line(owed, _NAME)}) hold the baton for this relay.",
        f"Fresh work, read or not: {reachable(path, _PATH)}",
        f"Final reply text is delivered to nobody. Do the work, or if it is done: {act} now.",
        _ways_out(command),
    )


def nudge(
    *,
    role: str,
    owed: str | None,
    since: str,
    episode: int,
    attempt: int,
    command: str,
    peers: Sequence[str] = (),
) -> str:
    """A nudge that carries no relay. `owed` holds the baton, if anybody does; `peers` are the other roles.

    `attempt` as in `redelivery`.
    """
    me = line(role, _NAME)
    send = program(command)
    others = [line(peer, _NAME) for peer in peers]
    if owed is None:
        holder = "Nobody holds the baton; the cycle is open."
        act = f"`{send} {others[0] if len(others) == 1 else 'TO'} FILE`" if others else ""
    elif owed == role:
        holder = f"You ({me}) hold the baton."
        act = f"`{send} {others[0] if len(others) == 1 else 'TO'} FILE`"
    else:
        holder = f"{line(owed, _NAME)} holds the baton and does not move."
        act = f"`{send} {line(owed, _NAME)} FILE`"
    hand_over = f" Hand over what is due: {act}." if act else ""
    return _text(
        f"{marks.nudge(episode=episode, attempt=attempt)} for {me}, from mat.",
        f"No handoff since {line(since, _SINCE)}. {holder}",
        f"Final reply text is delivered to nobody.{hand_over}",
        _ways_out(command),
    )


def final_check(*, rows: Sequence[tuple[str, Sequence[str]]], command: str) -> str:
    """The one question before deliveries that got no reply are ended: `rows` are (target, its message ids).

    Every id is named; where they do not all fit, those of one target are named as `first … last (count)`.
    """
    head = f"{marks.final_check()}: your turn ended, and these got no reply from you:"
    tail = (
        "Plain text reaches nobody. Decide whether anything is still to be sent; if so, send it now. "
        f"Seen, nothing to add: `{program(command)} --ack ID`. If nobody needs an answer, stop. "
        "Do not do the task again."
    )
    send = program(command)
    full = [_row(target, ", ".join(line(i, _NAME) for i in ids), send) for target, ids in rows]
    brief = [_row(target, _range(ids), send) for target, ids in rows]
    whole = _joined(head, *full, tail)
    return whole if size(whole) <= LIMIT else _within(head, brief, tail)


def wrapup(*, cycle: str, goal: str | None, outcome: str) -> str:
    """The instruction to a role that ended a cycle (`outcome`: `completed` or `blocked`): one closing message."""
    mark = marks.wrapup(outcome=outcome)
    named = f" Goal: {line(goal, 240)}" if goal else ""
    return _text(
        mark,
        f"From mat, not typed by the user: cycle {line(cycle, _NAME)} is {line(outcome, _NAME)}.{named}",
        "Write one closing message to the user now: the result, how it was verified, what was produced, what is left. "
        "Ground it in this session's evidence. Call no more tools.",
        mark.replace("<", "</"),
    )


def recovery(*, message_id: str, target: str, seq: int, path: str | None, command: str) -> str:
    """The first text for a fresh context: `target` still waits for a reply, up to relay number `seq`."""
    to = line(target, _NAME)
    source = f" Read {reachable(path, _PATH)}" if path else ""
    return _text(
        f"{marks.recovery(message_id=message_id)} From mat: your context was full and this one is fresh.",
        f"{to} still waits for your reply (relays up to #{seq}).{source}",
        f"Plain text reaches nobody. When it is done: `{program(command)} {to} FILE`. "
        "Check first what is already done; do not start over.",
    )


def human(*, message_id: str, body: str | None = None, path: str | None = None) -> str:
    """A message from the human: its text where that fits, else the file that holds it. One of both is needed."""
    return _said(_head(message_id, "human"), body, path)


def next_goal(*, goal: str) -> str:
    """What a human's relay says that opens a cycle: the goal, whole; `human` types it, or points to its file."""
    return (
        f"The next goal: {clean(goal).strip()}\n"
        "It takes the place of the goal in your instructions. The cycle before it is over, and nothing of it is owed."
    )


def answer(
    *,
    message_id: str,
    question: str,
    body: str | None = None,
    path: str | None = None,
    asked_as: str = "",
    by_mat: bool = False,
) -> str:
    """The human's answer, with the question that it answers. One of `body` and `path` is needed.

    `asked_as` is the question's id, as the role saw it when it asked; `by_mat`: it was mat that asked.
    """
    named = f" {line(asked_as, _NAME)}" if asked_as and not by_mat else ""
    whose = "mat's" if by_mat else "your"
    return _said(f"{_head(message_id, 'human')} Answer to {whose} question{named}: {line(question, 240)}", body, path)


def hint(*, message_id: str, sender: str, hint: str | None, path: str, command: str) -> str:
    """The verdict `retry` with a hint, in the same agent session. `path` is the whole handoff; a hint that does not
    fit, or is None here, is read there."""
    head = f"{_head(message_id, sender)} Not accepted yet, try again."
    tail = _tail(sender, command)
    where = reachable(path, _PATH)
    whole = None if hint is None else _joined(head, f"Hint: {clean(hint).strip()}", f"The whole handoff: {where}", tail)
    return whole if whole is not None and size(whole) <= LIMIT else _text(head, f"Read the hint in {where}", tail)


def fresh_start(*, message_id: str, sender: str, prompt: str | None, path: str, command: str) -> str:
    """The verdict `retry` with a prompt, as the first text of a new agent session. A prompt that does not fit, or is
    None here, is read from `path`."""
    head = f"{_head(message_id, sender)} From mat: this agent session is new; what was done before is in the files."
    tail = _tail(sender, command)
    whole = None if prompt is None else _joined(head, clean(prompt).strip(), tail)
    return whole if whole is not None and size(whole) <= LIMIT else _text(head, f"Read {reachable(path, _PATH)}", tail)


def first_pointer(*, prompt_path: str) -> str:
    """The first text for a program that takes no prompt at its start."""
    return _text(f"Read your role's instructions before anything else, and follow them: {reachable(prompt_path, 600)}")


def pointed(*, prompt_path: str, text: str) -> str:
    """`text` after `first_pointer`, as the first text of such a program; what is too long loses its middle."""
    pointer = first_pointer(prompt_path=prompt_path)
    return f"{pointer}\n\n{middle(text, LIMIT - size(pointer) - 2)}"


def repeat() -> str:
    """Stands before a text that a headless agent may have been given before: its worker died in the middle."""
    return (
        "[mat] This may be a repeat: the last turn was cut off before its end was known. "
        "Check first what is already done, and do not do it twice."
    )


def _head(message_id: str, sender: str) -> str:
    return f"{marks.relay(message_id=message_id)} {line(sender, _NAME)}]"


def _said(head: str, body: str | None, path: str | None) -> str:
    whole = None if body is None else _joined(head, clean(body).strip("\n"))
    if whole is not None and (path is None or size(whole) <= LIMIT):
        return middle(whole, LIMIT)
    if path is None:
        raise ValueError("a message needs a body or a path")
    return _text(head, f"Read {reachable(path, _PATH)}")


def _tail(sender: str, command: str) -> str:
    target = line(sender, _NAME)
    return f"Plain text reaches nobody. To answer {target}: `{program(command)} {target} FILE`."


def _ways_out(command: str) -> str:
    mat = program(command, "mat")
    return (
        f'All done: `{mat} cycle complete`. Can\'t go on: `{mat} cycle blocked --reason "…"`. '
        f'Work really under way: `{mat} wait 30m "reason"`.'
    )


def _row(target: str, ids: str, send: str) -> str:
    to = line(target, _NAME)
    return f"- {to}: {ids} (`{send} {to} FILE`)"


def _range(ids: Sequence[str]) -> str:
    names = [line(i, _NAME) for i in ids]
    return ", ".join(names) if len(names) <= 2 else f"{names[0]} … {names[-1]} ({len(names)})"


def _within(head: str, rows: Sequence[str], tail: str) -> str:
    """As many rows as fit, and how many more there are."""
    left = [f"- and {len(rows) - count} more" for count in range(len(rows))]
    texts = [_joined(head, *rows[:count], more, tail) for count, more in enumerate([*left, ""])]
    return [text for text in texts if size(text) <= LIMIT][-1]


def _joined(*lines: str) -> str:
    return "\n".join(part for part in lines if part)


def _text(*lines: str) -> str:
    return middle(_joined(*lines), LIMIT)
