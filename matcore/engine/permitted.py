"""What each spool may say, as types: a role's spool speaks for that role, the user's for the human and the hooks.

This guards against mistakes and cross-talk, not against a hostile program of the same user. Names and ids reach the
texts that are typed into agents, so they are held to plain characters here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from matcore.said_wait import MAX_WAIT_S

_Name = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
_Id = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
_Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
_Number = Annotated[int, Meta(ge=0, lt=2**53)]
_Line = Annotated[str, Meta(max_length=4096)]


class _RelaySent(msgspec.Struct):
    message_id: _Id
    to: _Name
    kind: Literal["request", "fyi"] = "request"
    seen: _Number | None = None
    seq: _Number | None = None
    digest: _Digest | None = None
    path: _Line | None = None
    source: _Line | None = None
    warnings: list[str] | None = None


class _HumanRelay(_RelaySent):
    answers: _Id | None = None


class _AlreadySent(msgspec.Struct):
    message_id: _Id
    to: _Name
    seen: _Number | None = None


class _Acked(msgspec.Struct):
    message_id: _Id


class _Cycle(msgspec.Struct):
    cycle: _Id | None = None
    goal: str | None = None
    reason: str | None = None


class _Opened(_Cycle):
    """By the human; `tell` names the role that the goal is said to."""

    tell: _Name | None = None


class _Asked(msgspec.Struct):
    question: _Id
    text: str


class _Answered(msgspec.Struct):
    question: _Id
    text: str


class _Paused(msgspec.Struct):
    for_s: Annotated[float, Meta(gt=0)] | None = None


class _Resumed(msgspec.Struct):
    pass


class _Wait(msgspec.Struct):
    until_s: Annotated[float, Meta(gt=0, le=MAX_WAIT_S)]
    reason: str = ""


class _WaitDone(msgspec.Struct):
    done: bool


class _NotifyUser(msgspec.Struct):
    text: str
    action: bool = False


class _Checked(msgspec.Struct):
    approved: bool
    check: _Line
    reason: str | None = None
    blocks: _Number | None = None
    max_blocks: _Number | None = None
    file: _Line | None = None


class _Hook(msgspec.Struct):
    role: _Name
    backend: _Line
    event: _Line
    boot_s: float | None = None


class _Restart(msgspec.Struct):
    role: _Name


class _Up(msgspec.Struct):
    config: dict[str, object]


class _Down(msgspec.Struct):
    pass


_Utterances = Mapping[tuple[str, str], type[msgspec.Struct]]

OF_A_ROLE: _Utterances = {
    ("fact", "relay.sent"): _RelaySent,
    ("fact", "relay.already_sent"): _AlreadySent,
    ("fact", "relay.acked"): _Acked,
    ("fact", "cycle.opened"): _Cycle,
    ("fact", "cycle.completed"): _Cycle,
    ("fact", "cycle.blocked"): _Cycle,
    ("fact", "question.asked"): _Asked,
    ("request", "wait"): _Wait,
    ("request", "notify-user"): _NotifyUser,
    ("record", "handoff.checked"): _Checked,
}
OF_THE_USER: _Utterances = {
    ("fact", "relay.sent"): _HumanRelay,
    ("fact", "relay.already_sent"): _AlreadySent,
    ("fact", "relay.acked"): _Acked,
    ("fact", "cycle.opened"): _Opened,
    ("fact", "cycle.completed"): _Cycle,
    ("fact", "cycle.blocked"): _Cycle,
    ("fact", "human.paused"): _Paused,
    ("fact", "human.resumed"): _Resumed,
    ("fact", "question.answered"): _Answered,
    ("request", "up"): _Up,
    ("request", "down"): _Down,
    ("request", "restart"): _Restart,
    ("request", "hook"): _Hook,
}


def permitted(record: Mapping[str, object], role: str | None) -> str | None:
    """None if the spool of `role` (None: the user's own) may say this, else the reason to set it aside.

    Whom the record names as its sender is not looked at: it is the spool's owner, whatever the record says.
    """
    known = OF_THE_USER if role is None else OF_A_ROLE
    whose = "the user's spool" if role is None else f"the spool of {role}"
    said = [(sort, name) for sort in ("fact", "request", "record") if isinstance(name := record.get(sort), str)]
    if len(said) != 1:
        return "it must be one fact, request or record"
    shape = known.get(said[0])
    if shape is None:
        return f"{whose} may not say {said[0][1][:100]!r}"
    if shape is _Wait and record.get("done") is True:
        shape = _WaitDone
    try:
        msgspec.convert(record, shape, strict=True)
    except msgspec.ValidationError as error:
        return f"{said[0][1]}: {error}"
    return None
