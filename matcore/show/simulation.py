"""Runs a scenario of the pure core in virtual time: facts from a file, clocks and outcomes of its own.

Outcomes come at the instant of the decision; the clock is fed at exactly the times that the core names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from matcore.errors import BadConfig
from matcore.rules import decisions, records, session
from matcore.rules.decisions import Decision, FinalCheck, Notify, Nudge, RecoveryDelivered
from matcore.rules.facts import ClockReached, EffectEnded, Fact, SessionConfigured

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_EFFECTS: Mapping[str, type[Decision]] = {
    "nudge": Nudge,
    "notify": Notify,
    "final_check": FinalCheck,
    "recovery": RecoveryDelivered,
}


@dataclass(frozen=True, slots=True)
class Failure:
    """Effects of this kind, of this role if one is named, do not succeed from `start` until before `end`."""

    effect: type[Decision]
    role: str | None
    start: float
    end: float
    detail: str | None

    def hits(self, decision: Decision) -> bool:
        """Whether this decision's effect fails by it."""
        if not isinstance(decision, self.effect) or not self.start <= decision.at < self.end:
            return False
        return self.role is None or getattr(decision, "role", None) == self.role


@dataclass(frozen=True, slots=True)
class Scenario:
    """One file. `until`: when the run ends; `expect`: partial records of decisions, None where there are none."""

    name: str
    configured: SessionConfigured
    facts: tuple[Fact, ...]
    until: float
    fail: tuple[Failure, ...]
    expect: tuple[Mapping[str, object], ...] | None


def load(path: Path) -> Scenario:
    """The scenario in a file. Raises `BadConfig` that names the file and the key."""
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506 - a safe loader, the C one
    except OSError as reason:
        raise BadConfig([f"{path}: can't be read: {reason.strerror}"]) from None
    except UnicodeDecodeError:
        raise BadConfig([f"{path}: can't be read: it is no text in UTF-8"]) from None
    except yaml.YAMLError as reason:
        raise BadConfig([f"{path}: is no YAML: {reason}"]) from None
    reader = _Reader(str(path))
    scenario = reader.scenario(data)
    if scenario is None or reader.faults:
        raise BadConfig(reader.faults)
    return scenario


def load_all(files: Iterable[Path]) -> list[Scenario]:
    """All of them. Raises `BadConfig` with every fault of every file."""
    loaded: list[Scenario] = []
    faults: list[str] = []
    for file in files:
        try:
            loaded.append(load(file))
        except BadConfig as bad:
            faults += bad.faults
    if faults:
        raise BadConfig(faults)
    return loaded


def run(scenario: Scenario) -> list[dict[str, object]]:
    """The decisions of the run as plain records, each effect with its `ok`."""
    told: list[dict[str, object]] = []
    state = session.initial()

    def feed(fact: Fact) -> None:
        nonlocal state
        waiting = [fact]
        while waiting:
            state, decided = session.step(state, waiting.pop(0))
            for decision in decided:
                record = decisions.record(decision)
                del record["number"]
                if type(decision) in decisions.EFFECTS:
                    failure = next((each for each in scenario.fail if each.hits(decision)), None)
                    record["ok"] = failure is None
                    detail = None if failure is None else failure.detail
                    waiting.append(EffectEnded(decision.at, decision.number, failure is None, detail))
                told.append(record)

    def clocks(before: float, *, at_it_too: bool = False) -> None:
        while (moment := session.next_deadline(state)) is not None:
            if moment > before or (moment == before and not at_it_too):
                return
            feed(ClockReached(moment))

    feed(scenario.configured)
    for fact in _taken_in(scenario):
        clocks(fact.at)
        feed(fact)
    clocks(scenario.until, at_it_too=True)
    return told


def _taken_in(scenario: Scenario) -> Iterator[Fact]:
    """Up to the end, and no clocks: their times are implied, after all facts of an instant, wherever one may stand."""
    for fact in scenario.facts:
        if fact.at <= scenario.until and not isinstance(fact, ClockReached):
            yield fact


def difference(expected: Sequence[Mapping[str, object]], actual: Sequence[Mapping[str, object]]) -> str | None:
    """The first difference in words, with what stood before it; None if all hold."""
    for place in range(max(len(expected), len(actual))):
        want = expected[place] if place < len(expected) else None
        have = actual[place] if place < len(actual) else None
        if want is not None and have is not None and _matches(want, have):
            continue
        lines = [f"  decision {place + 1} differs"]
        lines += [f"    as expected  {_line(each)}" for each in actual[max(0, place - 2) : place]]
        lines.append(f"    expected     {'nothing more' if want is None else _line(want)}")
        lines.append(f"    decided      {'nothing more' if have is None else _line(have)}")
        if want is not None and have is not None:
            wrong = [key for key, value in want.items() if have.get(key) != value]
            lines += [f"    {key}: expected {want[key]!r}, decided {have.get(key)!r}" for key in wrong]
        return "\n".join(lines)
    return None


def _matches(want: Mapping[str, object], have: Mapping[str, object]) -> bool:
    return all(have.get(key) == value for key, value in want.items())


def _line(record: Mapping[str, object]) -> str:
    first = f"{record.get('at', '?')} {record.get('event', '?')}"
    rest = " ".join(f"{key}={value!r}" for key, value in record.items() if key not in {"at", "event"})
    return f"{first} {rest}".rstrip()


class _Reader:
    """Collects every fault of a file, each with the path of its key."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[str] = []

    def fault(self, key: str, sentence: str) -> None:
        self.faults.append(f"{self.file}: {key}: {sentence}")

    def scenario(self, data: object) -> Scenario | None:
        if not isinstance(data, Mapping):
            self.fault("(top)", "must be a mapping with config, facts and until")
            return None
        self.known(data, "(top)", {"name", "config", "facts", "until", "fail", "expect"})
        configured = self.config(data.get("config"))
        given = self.mappings(data, "facts")
        taken = [self.fact(each, f"facts[{place}]") for place, each in enumerate(given)]
        until = self.number(data.get("until"), "until")
        fail = [self.failure(each, f"fail[{place}]") for place, each in enumerate(self.mappings(data, "fail"))]
        expect = tuple(self.mappings(data, "expect")) if "expect" in data else None
        if configured is None or until is None:
            return None
        return Scenario(
            name=str(data.get("name", "")),
            configured=configured,
            facts=tuple(self.in_order([fact for fact in taken if fact is not None])),
            until=until,
            fail=tuple(each for each in fail if each is not None),
            expect=expect,
        )

    def config(self, data: object) -> SessionConfigured | None:
        if not isinstance(data, Mapping):
            self.fault("config", "must be a mapping with roles")
            return None
        self.known(data, "config", {"roles", "window", "gate_settle", "progress_deadline"})
        record = {
            "at": 0,
            "fact": "session.configured",
            "roles": data.get("roles"),
            "policy": {key: value for key, value in data.items() if key != "roles"},
        }
        fact = self.fact(record, "config")
        return fact if isinstance(fact, SessionConfigured) else None

    def fact(self, data: Mapping[str, object], key: str) -> Fact | None:
        try:
            return records.parse(data)
        except records.FactError as reason:
            self.fault(key, str(reason))
            return None

    def in_order(self, given: Sequence[Fact]) -> Iterator[Fact]:
        last = float("-inf")
        for place, fact in enumerate(given):
            if fact.at < last:
                self.fault(f"facts[{place}].at", f"{fact.at} is earlier than the fact before it")
            last = max(last, fact.at)
            yield fact

    def failure(self, data: Mapping[str, object], key: str) -> Failure | None:
        self.known(data, key, {"effect", "role", "from", "to", "detail"})
        effect = _EFFECTS.get(str(data.get("effect")))
        if effect is None:
            self.fault(f"{key}.effect", f"must be one of {', '.join(_EFFECTS)}, not {data.get('effect')!r}")
        start = self.number(data.get("from"), f"{key}.from")
        end = self.number(data.get("to"), f"{key}.to")
        role, detail = (self.text(data.get(name), f"{key}.{name}") for name in ("role", "detail"))
        return None if effect is None or start is None or end is None else Failure(effect, role, start, end, detail)

    def mappings(self, data: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
        value = data.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.fault(key, "must be a list")
            return []
        for place, each in enumerate(value):
            if not isinstance(each, Mapping):
                self.fault(f"{key}[{place}]", f"must be a mapping, not {each!r}")
        return [each for each in value if isinstance(each, Mapping)]

    def number(self, value: object, key: str) -> float | None:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            self.fault(key, f"must be a number of seconds, not {value!r}")
            return None
        return value

    def text(self, value: object, key: str) -> str | None:
        if value is None or isinstance(value, str):
            return value
        self.fault(key, f"must be a text, not {value!r}")
        return None

    def known(self, data: Mapping[str, object], key: str, names: set[str]) -> None:
        for name in data:
            if name not in names:
                self.fault(f"{key}.{name}", f"is no key here; there are {', '.join(sorted(names))}")
