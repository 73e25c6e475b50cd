"""What the scripted model answers: the rules of a reply script, else a marker in the message, else an echo.

A reply script is a JSON or YAML file with a list of rules, tried in order; the first that matches answers:

    - name: dev hands over            # for the log; default: its number
      user: 'relay (r-\\d+) from dev'  # searched in the last user message
      system: '(?P<role>review)'      # searched in the system prompt
      times: 1                        # how often the rule may answer at all
      say: Looking at {{1}}.
      run: send-relay dev REVIEW.md   # a call of the agent's shell tool, in its background with `background: true`
    - result: '^sent (?P<id>r-\\d+)'   # searched in the last tool result after that message
      say: '{{id}} is on its way.'

A rule without `result` answers a message, a rule with it answers a tool's result. Further keys: `wait_s` (silence
before the answer), `over_s` (the text is streamed in pieces over so many seconds), `status` (an HTTP error, whose
message is `say`), `cut: true` (the connection is cut after the text), `tokens` (the input tokens that the answer
claims), `own: true` (answers only requests that offer no tools: a program's own, for a title or a summary of the
conversation).
`{{1}}` and `{{name}}` are groups of the expressions: names from all of them, numbers from `result`, else `user`.

Markers, in a message that no rule matches: `SCRIPT:text`, `SCRIPT:slow5` and `SCRIPT:silent5` (seconds),
`SCRIPT:tool[COMMAND]`, `SCRIPT:slowtool5[COMMAND]`, `SCRIPT:asktool[COMMAND]` (asks to leave the sandbox),
`SCRIPT:err500`, `SCRIPT:drop`, `SCRIPT:dropnow`, `SCRIPT:ctx900` (thousands of tokens).
A program's own request meets no other rule and no marker, for it quotes whole conversations.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PIECES_PER_S = 2
MARKER = re.compile(r"""SCRIPT:([a-z]+)([0-9.]*)(?:\[(.*?)\](?=["'<\s]|$))?""", re.DOTALL)
GROUP = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, whatever its dialect. `users` are all user messages, `results` those after the last of them."""

    model: str
    stream: bool
    system: str
    users: tuple[str, ...]
    results: tuple[str, ...]
    tools: Mapping[str, Mapping[str, object]]
    messages: int

    @property
    def user(self) -> str:
        return self.users[-1] if self.users else ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back: text in pieces, perhaps a shell command after it, or an error, or a cut connection."""

    text: tuple[str, ...] = ()
    wait_s: float = 0.0
    gap_s: float = 0.0
    run: str | None = None
    outside: bool = False
    background: bool = False
    status: int = 200
    cut: bool = False
    tokens: int = 1000


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of a reply script."""

    name: str
    user: re.Pattern[str] | None = None
    result: re.Pattern[str] | None = None
    system: re.Pattern[str] | None = None
    times: int | None = None
    say: str = ""
    run: str | None = None
    background: bool = False
    wait_s: float = 0.0
    over_s: float = 0.0
    status: int = 200
    cut: bool = False
    tokens: int = 1000
    own: bool = False

    def groups(self, asked: Asked) -> dict[str, str] | None:
        """What the expressions found, or None when the rule doesn't match."""
        if (self.result is None) != (not asked.results) or self.own == bool(asked.tools):
            return None
        found: dict[str, str] = {}
        last_result = asked.results[-1] if asked.results else ""
        sought = ((self.system, asked.system), (self.user, asked.user), (self.result, last_result))
        for pattern, text in sought:
            if pattern is None:
                continue
            match = pattern.search(text)
            if match is None:
                return None
            found |= {str(n): group or "" for n, group in enumerate(match.groups(), 1)}
            found |= {name: group or "" for name, group in match.groupdict().items()}
        return found

    def reply(self, found: Mapping[str, str]) -> Reply:
        def fill(text: str) -> str:
            return GROUP.sub(lambda match: found.get(match[1], match[0]), text)

        text = pieces(fill(self.say), self.over_s) if self.say else ()
        return Reply(
            text=text,
            wait_s=self.wait_s,
            gap_s=self.over_s / len(text) if text else 0.0,
            run=None if self.run is None else fill(self.run),
            background=self.background,
            status=self.status,
            cut=self.cut,
            tokens=self.tokens,
        )


@dataclass(slots=True)
class Script:
    """The rules with the number of times that each has answered. Safe to use from several threads."""

    rules: Sequence[Rule] = ()
    used: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def load(cls, path: Path) -> Script:
        """Read a reply script. Raises `ValueError` with the rule and the key that is wrong."""
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return cls.of(json.loads(text))
        import yaml  # only here: a server without a YAML script runs on the standard library

        return cls.of(yaml.safe_load(text) or [])

    @classmethod
    def of(cls, rules: object) -> Script:
        if not isinstance(rules, list):
            message = "a reply script is a list of rules"
            raise ValueError(message)  # noqa: TRY004 - for the reader of the message it is a wrong file
        return cls(tuple(rule(number, entry) for number, entry in enumerate(rules, 1)))

    def answer(self, asked: Asked) -> tuple[str, Reply]:
        """The reply, and what chose it: `rule NAME`, `marker WORD`, `summary` or `echo`."""
        with self.lock:
            for candidate in self.rules:
                if candidate.times is not None and self.used[candidate.name] >= candidate.times:
                    continue
                found = candidate.groups(asked)
                if found is not None:
                    self.used[candidate.name] += 1
                    return f"rule {candidate.name}", candidate.reply(found)
        return marked(asked) if asked.tools else ("summary", Reply(("Scripted ", "summary.")))


def rule(number: int, entry: object) -> Rule:
    """A rule from its entry in the file. Raises `ValueError`."""
    if not isinstance(entry, dict):
        message = f"rule {number} is not a mapping"
        raise ValueError(message)  # noqa: TRY004 - as above
    known = set(Rule.__dataclass_fields__)
    unknown = sorted(str(key) for key in entry if key not in known)
    if unknown:
        message = f"rule {number} has unknown keys: {', '.join(unknown)}"
        raise ValueError(message)
    fields: dict[str, object] = dict(entry)
    fields["name"] = str(entry.get("name", number))
    for key in ("user", "result", "system"):
        if key in fields:
            try:
                fields[key] = re.compile(str(fields[key]), re.DOTALL | re.MULTILINE)
            except re.error as error:
                message = f"rule {number}: {key} is not a regular expression: {error}"
                raise ValueError(message) from error
    return Rule(**fields)  # type: ignore[arg-type]  # tests write these files; a wrong type shows at once


def marked(asked: Asked) -> tuple[str, Reply]:
    """The reply to a marker in the last user message, or the echo of that message."""
    found = MARKER.findall(asked.user)
    word, number, argument = found[-1] if found else ("", "", "")
    amount = float(number) if number.strip(".") else 0.0
    if asked.results:
        return "result", Reply(("TOOL-DONE ", "result: ", asked.results[-1][:400]))
    replies = {
        "text": Reply(("Scripted ", "answer: ", "TEXT-DONE.")),
        "ctx": Reply(("Scripted ", "answer: ", "TEXT-DONE."), tokens=int(amount * 1000)),
        "slow": Reply((*slow(amount), "SLOW-DONE."), gap_s=1 / PIECES_PER_S),
        "silent": Reply((f"SILENT-DONE after {amount:g}s.",), wait_s=amount),
        "tool": Reply(("Running it. ",), run=argument or "true"),
        "asktool": Reply(("Running it. ",), run=argument or "true", outside=True),
        "slowtool": Reply(slow(amount), gap_s=1 / PIECES_PER_S, run=argument or "true"),
        "err": Reply(status=int(amount) or 500),
        "drop": Reply(("Partial ", "answer ", "before ", "the ", "cut "), gap_s=0.3, cut=True),
        "dropnow": Reply(cut=True),
    }
    if word in replies:
        return f"marker {word}{number}", replies[word]
    lines = asked.user.count("\n") + 1
    return "echo", Reply((f"OK chars={len(asked.user)} lines={lines} sha={sha(asked.user)[:12]}",))


def slow(seconds: float) -> tuple[str, ...]:
    count = max(1, int(seconds * PIECES_PER_S))
    return tuple(f"piece {n} of the slow answer. " + ("\n" if n % 4 == 0 else "") for n in range(1, count + 1))


def pieces(text: str, over_s: float) -> tuple[str, ...]:
    """`text` cut into as many pieces as are to be streamed in `over_s` seconds."""
    count = max(1, int(over_s * PIECES_PER_S))
    size = -(-len(text) // count)
    return tuple(text[start : start + size] for start in range(0, len(text), size))


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
