"""Reads a script from YAML. All faults are told at once, each with its path."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml

from matcore.scripted.reading_steps import read_choice, read_steps
from matcore.scripted.script import EVENTS, OUTCOMES, Collapse, Options, Rule, Script
from matcore.scripted.values import Reader

_Value = Callable[[Reader, object, str], object]

_OPTIONS: Mapping[str, _Value] = {
    "screen": lambda reader, value, path: reader.choice(value, path, ("inline", "alternate")),
    "title": lambda reader, value, path: reader.line(value, path),
    "title_state": lambda reader, value, path: reader.flag(value, path),
    "busy_style": lambda reader, value, path: reader.choice(value, path, ("status", "footer", "title", "none")),
    "composer": lambda reader, value, path: reader.choice(value, path, ("ruled", "bordered", "plain")),
    "footer": lambda reader, value, path: reader.line(value, path),
    "placeholder": lambda reader, value, path: reader.line(value, path),
    "swallow_enter_ms": lambda reader, value, path: reader.whole(value, path, most=10_000),
    "collapse_paste": lambda reader, value, path: _collapse(reader, value, path),
    "queue": lambda reader, value, path: reader.choice(value, path, ("after", "steer", "lose")),
    "start_delay_s": lambda reader, value, path: reader.number(value, path, most=600),
    "start_deaf_s": lambda reader, value, path: reader.number(value, path, most=600),
    "start": lambda reader, value, path: read_choice(reader, value, path),
    "error_exit": lambda reader, value, path: reader.whole(value, path, most=255),
    "silent_endings": lambda reader, value, path: tuple(
        reader.choice(item, f"{path}[{n}]", OUTCOMES) for n, item in enumerate(reader.items(value, path))
    ),
    "hooks": lambda reader, value, path: _hooks(reader, value, path),
}


class ScriptError(ValueError):
    """A script that can't be played. Carries every fault."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        super().__init__("\n".join(faults))


def load(path: Path) -> Script:
    """Raises ScriptError, each fault with the file's name."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScriptError([f"{path}: can't be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise ScriptError([f"{path}: can't be read: it is no text in UTF-8"]) from error
    except ScriptError as error:
        raise ScriptError([f"{path}: {fault}" for fault in error.faults]) from error


def parse(text: str) -> Script:
    """Raises ScriptError."""
    try:
        data = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe loaders
    except (yaml.YAMLError, ValueError) as error:
        raise ScriptError([f"is not YAML: {' '.join(str(error).split())}"]) from error
    reader = Reader()
    script = _script(reader, {} if data is None else data)
    if reader.faults:
        raise ScriptError(reader.faults)
    return script


def _script(reader: Reader, data: object) -> Script:
    top = reader.mapping(data, "", (*_OPTIONS, "rules", "default"))
    # The table yields for each name what the field of that name holds.
    chosen: dict[str, object] = {name: read(reader, top[name], name) for name, read in _OPTIONS.items() if name in top}
    listed = enumerate(reader.items(top.get("rules", []), "rules"))
    rules = tuple(_rule(reader, item, f"rules[{n}]") for n, item in listed)
    script = Script(Options(**chosen), rules)  # type: ignore[arg-type]
    if "default" in top:
        return Script(script.options, rules, read_steps(reader, top["default"], "default"))
    return script


def _rule(reader: Reader, value: object, path: str) -> Rule:
    rule = reader.mapping(value, path, ("when", "once", "times", "steps"), ("when", "steps"))
    try:
        when = re.compile(reader.text(rule.get("when", ""), f"{path}.when"))
    except re.error as error:
        reader.fault(f"{path}.when", f"is not a legal pattern: {error}")
        when = re.compile("")
    times = None
    if "once" in rule and "times" in rule:
        reader.fault(path, "has both once and times; keep one")
    elif "times" in rule:
        times = reader.whole(rule["times"], f"{path}.times", least=1)
    elif "once" in rule:
        times = 1 if reader.flag(rule["once"], f"{path}.once") else None
    return Rule(when, read_steps(reader, rule.get("steps", []), f"{path}.steps"), times)


def _collapse(reader: Reader, value: object, path: str) -> Collapse | None:
    if value is False:
        return None
    limits = reader.mapping(value, path, ("chars", "lines"))
    usual = Collapse()
    return Collapse(
        reader.whole(limits.get("chars", usual.chars), f"{path}.chars"),
        reader.whole(limits.get("lines", usual.lines), f"{path}.lines"),
    )


def _hooks(reader: Reader, value: object, path: str) -> dict[str, tuple[str, ...]]:
    hooks = {
        event: reader.texts(argv, f"{path}.{event}") for event, argv in reader.mapping(value, path, EVENTS).items()
    }
    for event, argv in hooks.items():
        if not argv:
            reader.fault(f"{path}.{event}", "needs a command, as a list of its words")
    return hooks
