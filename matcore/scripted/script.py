"""A script as data: options, rules, default steps. What the words mean stands in docs/scripted-agent.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from matcore.scripted.stage import Choice
from matcore.scripted.steps import Print, Step

EVENTS = ("session-start", "prompt-submitted", "turn-started", "turn-ended", "permission-asked", "compaction")
OUTCOMES = ("done", "error", "interrupted", "exhausted", "rate-limited")


@dataclass(frozen=True, slots=True)
class Collapse:
    """A paste with more characters or more line breaks than these is shown as `[Pasted text #1 +12 lines]`."""

    chars: int = 1000
    lines: int = 4


@dataclass(frozen=True, slots=True)
class Options:
    """How the program looks and behaves. Defaults are those of most real agents."""

    screen: str = "inline"
    title: str = "scripted"
    title_state: bool = True
    busy_style: str = "status"
    composer: str = "ruled"
    footer: str = "? for shortcuts"
    placeholder: str = "Ask me to do anything"
    swallow_enter_ms: int = 120
    collapse_paste: Collapse | None = field(default_factory=Collapse)
    queue: str = "after"
    start_delay_s: float = 0.0
    start_deaf_s: float = 0.0
    start: Choice | None = None
    error_exit: int = 1
    silent_endings: tuple[str, ...] = ("interrupted",)
    hooks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """`times` is how often it may be used in an agent session; None is without end."""

    when: re.Pattern[str]
    steps: tuple[Step, ...]
    times: int | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """Options, the rules in order, and what is done where none fits."""

    options: Options = field(default_factory=Options)
    rules: tuple[Rule, ...] = ()
    default: tuple[Step, ...] = (Print("My script has no rule for that message."),)
