"""Reads the steps of a script: a step is a mapping with the step's name as its key."""

from __future__ import annotations

import datetime
import signal
from collections.abc import Callable, Mapping

from matcore.scripted import steps
from matcore.scripted.stage import Choice
from matcore.scripted.steps import Step
from matcore.scripted.values import Reader

DIALOGS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "trust": ("Do you trust the files in this folder?", ("Yes, proceed", "No, exit")),
    "login": ("Select how to log in:", ("Sign in with your account", "Use an API key", "Exit")),
    "menu": ("Select a model:", ("default (recommended)", "small", "large")),
}
BESIDE = {"work": ("gaps",)}  # such a step is read from the whole item


def read_steps(reader: Reader, value: object, path: str) -> tuple[Step, ...]:
    found = (_step(reader, item, f"{path}[{n}]") for n, item in enumerate(reader.items(value, path)))
    return tuple(step for step in found if step is not None)


def read_choice(reader: Reader, value: object, path: str) -> Choice:
    """`trust`, `login`, `menu`, or a mapping with `kind`, and `heading` and `options` of its own."""
    if isinstance(value, str):
        value = {"kind": value}
    spec = reader.mapping(value, path, ("kind", "heading", "options"), ("kind",))
    kind = reader.choice(spec.get("kind", "menu"), f"{path}.kind", tuple(DIALOGS))
    heading, options = DIALOGS[kind]
    if "options" in spec:
        options = reader.texts(spec["options"], f"{path}.options")
        if not 1 <= len(options) <= 9:
            reader.fault(f"{path}.options", "needs one to nine options")
    return Choice(kind, reader.text(spec.get("heading", heading), f"{path}.heading"), options)


def _step(reader: Reader, value: object, path: str) -> Step | None:
    if not isinstance(value, dict) or not value:
        reader.fault(path, f"needs a step, such as `print: text`; steps are {', '.join(STEPS)}")
        return None
    names = [str(key) for key in value if str(key) in STEPS]
    if len(names) != 1:
        reader.mapping(value, path, tuple(STEPS))
        if names:
            reader.fault(path, f"is {' and '.join(names)} in one; make them two items of the list")
        return None
    name = names[0]
    given = reader.mapping(value, path, (name, *BESIDE.get(name, ())))
    if name in BESIDE:
        return STEPS[name](reader, given, path)
    return STEPS[name](reader, given[name], f"{path}.{name}")


def _work(reader: Reader, value: object, path: str) -> Step:
    spec = reader.mapping(value, path, ("work", "gaps"))
    gaps = tuple(_gap(reader, item, f"{path}.gaps[{n}]") for n, item in enumerate(_list(reader, spec, "gaps", path)))
    return steps.Work(reader.number(spec["work"], f"{path}.work"), gaps)


def _list(reader: Reader, spec: Mapping[str, object], key: str, path: str) -> list[object]:
    return reader.items(spec[key], f"{path}.{key}") if key in spec else []


def _gap(reader: Reader, value: object, path: str) -> tuple[float, float]:
    pair = reader.items(value, path)
    if len(pair) != 2:
        reader.fault(path, "needs two numbers: when it starts and how long it is, in seconds")
        return 0.0, 0.0
    return reader.number(pair[0], f"{path}[0]"), reader.number(pair[1], f"{path}[1]")


def _send_relay(reader: Reader, value: object, path: str) -> Step:
    spec = reader.mapping(value, path, ("to", "file", "body", "front", "again"), ("body",))
    front = reader.mapping(spec.get("front", {}), f"{path}.front", None)
    return steps.SendRelay(
        body=reader.text(spec.get("body", ""), f"{path}.body"),
        to=reader.text(spec["to"], f"{path}.to") if "to" in spec else None,
        file=reader.text(spec["file"], f"{path}.file") if "file" in spec else None,
        front=tuple((key, _flat(reader, item, f"{path}.front.{key}")) for key, item in front.items()),
        again=reader.flag(spec.get("again", False), f"{path}.again"),
    )


def _flat(reader: Reader, value: object, path: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.date):  # YAML reads 2025-09-30 as one
        return value.isoformat()
    return reader.text(value, path)


def _ask(reader: Reader, value: object, path: str) -> Step:
    spec = reader.mapping(value, path, ("permission", "then", "denied"), ("permission",))
    command = reader.text(spec.get("permission", ""), f"{path}.permission")
    return steps.Ask(
        command,
        read_steps(reader, spec["then"], f"{path}.then") if "then" in spec else (steps.Run(command),),
        read_steps(reader, spec["denied"], f"{path}.denied") if "denied" in spec else (steps.End(),),
    )


def _crash(reader: Reader, value: object, path: str) -> Step:
    spec = reader.mapping(value, path, ("code", "signal"))
    if len(spec) != 1:
        reader.fault(path, "needs one of code and signal")
    if "signal" not in spec:
        return steps.Crash(reader.whole(spec.get("code", 1), f"{path}.code", most=255))
    name = reader.text(spec["signal"], f"{path}.signal").upper().removeprefix("SIG")
    number = getattr(signal, f"SIG{name}", None)
    if not isinstance(number, signal.Signals):
        reader.fault(f"{path}.signal", f"there is no signal {name}; use one like KILL or TERM")
        return steps.Crash(1)
    return steps.Crash(None, int(number))


def _rate_limited(reader: Reader, value: object, path: str) -> Step:
    spec = reader.mapping(value, path, ("until_s",), ("until_s",))
    return steps.RateLimited(reader.number(spec.get("until_s", 0), f"{path}.until_s"))


def _flood(reader: Reader, value: object, path: str) -> Step:
    spec = reader.mapping(value, path, ("lines",), ("lines",))
    return steps.Flood(reader.whole(spec.get("lines", 1), f"{path}.lines", least=1, most=100_000))


_ReadStep = Callable[[Reader, object, str], Step]


def _texted(make: Callable[[str], Step]) -> _ReadStep:
    return lambda reader, value, path: make(reader.text(value, path))


def _bare(make: Callable[[], Step]) -> _ReadStep:
    def read(reader: Reader, value: object, path: str) -> Step:
        reader.yes(value, path)
        return make()

    return read


STEPS: Mapping[str, _ReadStep] = {
    "work": _work,
    "print": _texted(steps.Print),
    "run": _texted(steps.Run),
    "send-relay": _send_relay,
    "end": _bare(steps.End),
    "error": _texted(steps.Fail),
    "ask": _ask,
    "dialog": lambda reader, value, path: steps.Dialog(read_choice(reader, value, path)),
    "crash": _crash,
    "exit": lambda reader, value, path: steps.Exit(reader.whole(value, path, most=255)),
    "hang": _bare(steps.Hang),
    "rate-limited": _rate_limited,
    "exhaust": _bare(steps.Exhaust),
    "compact": _bare(steps.Compact),
    "draft": _texted(steps.Draft),
    "flood": _flood,
}
