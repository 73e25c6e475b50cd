"""What happened, as the core is told it: one frozen class for each fact, and their plain records.

`parse` and `record` are each other's inverse. A key that a fact does not name is ignored, so that the journal may say
more than the core needs to know.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from matcore.rules import policy as policies
from matcore.rules.policy import Policy

HUMAN = "human"


class FactError(ValueError):
    """The record is no fact. The sentence names the key."""


class Kind(enum.StrEnum):
    REQUEST = "request"
    FYI = "fyi"


class TurnOutcome(enum.StrEnum):
    OK = "ok"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Fact:
    """`at`: seconds. Facts come in the order of their times; one that is earlier than the last counts as then."""

    at: float


@dataclass(frozen=True, slots=True)
class SessionConfigured(Fact):
    roles: tuple[str, ...]
    policy: Policy = policies.DEFAULT
    rules: str | None = None


@dataclass(frozen=True, slots=True)
class CycleOpened(Fact):
    cycle: str


@dataclass(frozen=True, slots=True)
class CycleCompleted(Fact):
    cycle: str
    by: str


@dataclass(frozen=True, slots=True)
class CycleBlocked(Fact):
    cycle: str
    by: str


@dataclass(frozen=True, slots=True)
class RoleBusy(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class RoleIdle(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class RoleGone(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class RoleUnknown(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class TurnEnded(Fact):
    role: str
    outcome: TurnOutcome = TurnOutcome.OK
    detail: str | None = None
    started: float | None = None


@dataclass(frozen=True, slots=True)
class RelaySent(Fact):
    """`sender` is `from` in records. `seen`: the highest sequence from `to` that the sender had been given."""

    id: str
    sender: str
    to: str
    kind: Kind = Kind.REQUEST
    seen: int | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class RelayAlreadySent(Fact):
    id: str
    sender: str
    to: str
    seen: int | None = None


@dataclass(frozen=True, slots=True)
class RelayAcked(Fact):
    id: str
    role: str


@dataclass(frozen=True, slots=True)
class RelayDelivered(Fact):
    id: str
    confirmed: bool = True


@dataclass(frozen=True, slots=True)
class RelayUndeliverable(Fact):
    id: str


@dataclass(frozen=True, slots=True)
class GateRaised(Fact):
    gate: str
    role: str | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class GateCleared(Fact):
    gate: str
    role: str | None = None


@dataclass(frozen=True, slots=True)
class HumanPaused(Fact):
    until: float | None = None


@dataclass(frozen=True, slots=True)
class HumanResumed(Fact):
    pass


@dataclass(frozen=True, slots=True)
class HumanActed(Fact):
    role: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionAsked(Fact):
    question: str
    role: str


@dataclass(frozen=True, slots=True)
class QuestionAnswered(Fact):
    question: str


@dataclass(frozen=True, slots=True)
class ContextExhausted(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class ContextFresh(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class AgentRenewed(Fact):
    role: str


@dataclass(frozen=True, slots=True)
class WatchStopped(Fact):
    pass


@dataclass(frozen=True, slots=True)
class WatchResumed(Fact):
    """`slept`: seconds of the gap for which the machine was suspended."""

    slept: float | None = None


@dataclass(frozen=True, slots=True)
class ClockReached(Fact):
    """All facts of this instant are in: what is due may be decided."""


@dataclass(frozen=True, slots=True)
class EffectEnded(Fact):
    """`decision`: its number in the session."""

    decision: int
    ok: bool
    detail: str | None = None


def parse(record: Mapping[str, object]) -> Fact:
    """The fact that a record tells. Raises `FactError` for a name that is none, a missing or an ill-typed key."""
    name = record.get("fact")
    shape = _SHAPES.get(name) if isinstance(name, str) else None
    if shape is None:
        raise FactError(f"there is no fact {name!r}")
    make, keys = shape
    return make(**{key.attribute: key.take(record, str(name)) for key in (_AT, *keys)})


def record(fact: Fact) -> dict[str, object]:
    """The plain record of a fact: `at`, `fact`, then its fields, those that are not there left out."""
    told: dict[str, object] = {"at": fact.at, "fact": NAMES[type(fact)]}
    for key in _KEYS[type(fact)]:
        value = getattr(fact, key.attribute)
        if value is not None:
            told[key.name] = key.write(value)
    return told


_REQUIRED = object()


def _plain(value: object) -> object:
    return value


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    attribute: str
    read: Callable[[object], object]
    default: object = _REQUIRED
    write: Callable[[object], object] = _plain

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


def _policy_record(value: object) -> object:
    return policies.record(value) if isinstance(value, Policy) else value


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
            _Key("policy", "policy", _policy, policies.DEFAULT, _policy_record),
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
_KEYS: dict[type[Fact], tuple[_Key, ...]] = {make: _SHAPES[name][1] for make, name in NAMES.items()}
