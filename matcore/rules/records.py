"""Facts as plain records: what the journal keeps, and what scenarios are written in.

A key that a fact does not name is ignored, so that the journal may say more than the core needs to know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from matcore.rules import policy as policies
from matcore.rules.facts import (
    HUMAN,
    AgentRenewed,
    ClockReached,
    ContextExhausted,
    ContextFresh,
    CycleBlocked,
    CycleCompleted,
    CycleOpened,
    EffectEnded,
    Fact,
    GateCleared,
    GateRaised,
    HumanActed,
    HumanPaused,
    HumanResumed,
    Kind,
    QuestionAnswered,
    QuestionAsked,
    RelayAcked,
    RelayAlreadySent,
    RelayDelivered,
    RelaySent,
    RelayUndeliverable,
    RoleBusy,
    RoleGone,
    RoleIdle,
    RoleUnknown,
    SessionConfigured,
    TurnEnded,
    TurnOutcome,
    WatchResumed,
    WatchStopped,
)
from matcore.rules.policy import Policy


class FactError(ValueError):
    """The record is no fact. The sentence names the key."""


def parse(record: Mapping[str, object]) -> Fact:
    """The fact that a record tells. Raises `FactError` for a name that is none, a missing or an ill-typed key."""
    name = record.get("fact")
    shape = _SHAPES.get(name) if isinstance(name, str) else None
    if shape is None:
        raise FactError(f"there is no fact {name!r}")
    make, keys = shape
    return make(**{key.attribute: key.take(record, str(name)) for key in (_AT, *keys)})


_REQUIRED = object()


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    attribute: str
    read: Callable[[object], object]
    default: object = _REQUIRED

    def take(self, record: Mapping[str, object], fact: str) -> object:
        value = record.get(self.name)
        if value is None:
            if self.default is _REQUIRED:
                raise FactError(f"{fact} needs `{self.name}`")
            return self.default
        try:
            return self.read(value)
        except (TypeError, ValueError) as reason:
            raise FactError(f"{fact}: `{self.name}` {reason}") from None


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"must be a text that is not empty, not {value!r}")
    return value


def _any_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"must be a text, not {value!r}")
    return value


def _moment(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"must be a number of seconds, not {value!r}")
    return value


def _stretch(value: object) -> float:
    if (told := _moment(value)) < 0:
        raise ValueError(f"must be 0 seconds or more, not {value!r}")
    return told


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"must be a whole number, not {value!r}")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"must be true or false, not {value!r}")
    return value


def _kind(value: object) -> Kind:
    return Kind(_one_of(value, [str(kind) for kind in Kind]))


def _outcome(value: object) -> TurnOutcome:
    return TurnOutcome(_one_of(value, [str(outcome) for outcome in TurnOutcome]))


def _one_of(value: object, choices: list[str]) -> str:
    if value not in choices:
        raise ValueError(f"must be {' or '.join(choices)}, not {value!r}")
    return str(value)


def _roles(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"must be a list of at least one role, not {value!r}")
    names = tuple(_text(name) for name in value)
    if len(set(names)) != len(names) or HUMAN in names:
        raise ValueError(f"must name each role once, and none `{HUMAN}`: {value!r}")
    return names


def _policy(value: object) -> Policy:
    if not isinstance(value, Mapping):
        raise TypeError(f"must be a mapping, not {value!r}")
    return policies.parse(value)


def _needs(name: str, read: Callable[[object], object] = _text) -> _Key:
    return _Key(name, name, read)


def _may(name: str, read: Callable[[object], object] = _text, default: object = None) -> _Key:
    return _Key(name, name, read, default)


_AT = _needs("at", _moment)
_FROM = _Key("from", "sender", _text)
_ROLE = _needs("role")
_ID = _needs("id")
_ENDING = (_needs("cycle"), _needs("by"))
_SHAPES: dict[str, tuple[Callable[..., Fact], tuple[_Key, ...]]] = {
    "session.configured": (
        SessionConfigured,
        (
            _Key("roles", "roles", _roles),
            _Key("policy", "policy", _policy, policies.DEFAULT),
            _may("rules", _any_text),
        ),
    ),
    "cycle.opened": (CycleOpened, (_needs("cycle"),)),
    "cycle.completed": (CycleCompleted, _ENDING),
    "cycle.blocked": (CycleBlocked, _ENDING),
    "role.busy": (RoleBusy, (_ROLE,)),
    "role.idle": (RoleIdle, (_ROLE,)),
    "role.gone": (RoleGone, (_ROLE,)),
    "role.unknown": (RoleUnknown, (_ROLE,)),
    "turn.ended": (
        TurnEnded,
        (_ROLE, _may("outcome", _outcome, TurnOutcome.OK), _may("detail", _any_text), _may("started", _moment)),
    ),
    "relay.sent": (
        RelaySent,
        (_ID, _FROM, _needs("to"), _may("kind", _kind, Kind.REQUEST), _may("seen", _number), _may("seq", _number)),
    ),
    "relay.already_sent": (RelayAlreadySent, (_ID, _FROM, _needs("to"), _may("seen", _number))),
    "relay.acked": (RelayAcked, (_ID, _ROLE)),
    "relay.delivered": (RelayDelivered, (_ID, _may("confirmed", _flag, True))),
    "relay.undeliverable": (RelayUndeliverable, (_ID,)),
    "gate.raised": (GateRaised, (_needs("gate"), _may("role"), _may("until", _moment))),
    "gate.cleared": (GateCleared, (_needs("gate"), _may("role"))),
    "human.paused": (HumanPaused, (_may("until", _moment),)),
    "human.resumed": (HumanResumed, ()),
    "human.acted": (HumanActed, (_may("role"),)),
    "question.asked": (QuestionAsked, (_needs("question"), _ROLE)),
    "question.answered": (QuestionAnswered, (_needs("question"),)),
    "context.exhausted": (ContextExhausted, (_ROLE,)),
    "context.fresh": (ContextFresh, (_ROLE,)),
    "agent.renewed": (AgentRenewed, (_ROLE,)),
    "watch.stopped": (WatchStopped, ()),
    "watch.resumed": (WatchResumed, (_may("slept", _stretch),)),
    "clock.reached": (ClockReached, ()),
    "effect.ended": (EffectEnded, (_needs("decision", _number), _needs("ok", _flag), _may("detail", _any_text))),
}
NAMES: dict[type[Fact], str] = {make: name for name, (make, _) in _SHAPES.items() if isinstance(make, type)}
"""The name of each class of fact, as it stands in records."""
