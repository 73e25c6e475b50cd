"""Reads a handoff: its front matter, with dates put right, and the body behind it.

Front matter is a flat subset of YAML: `key: value` lines between two `---` lines at the top, read by code of the
standard library because `send-relay` starts hundreds of times a day. It is lenient about form (BOM, CRLF, quotes,
comments, `[a, b]` as text, keys in any case) and strict about what decides where a relay goes: `kind` and `seen`.

A date that overflows its month is put right here, never by asking a model again; the text that is sent is the mended
one.
"""

from __future__ import annotations

import re

KINDS = ("request", "fyi")
MAX_FRONT_LINES = 200

_FENCE = "---"
_PAIR = re.compile(r"\A([A-Za-z][\w.-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)\Z")
_DATE = re.compile(r"\A(\d{4})-(\d{2})-(\d{2})(?=\Z|[T ])")
_DATE_KEY = re.compile(
    r"\A(?:(?:.*[-_.])?date|until|since|(?:due|deadline|created|updated|started|finished)(?:[-_.](?:on|at))?)\Z"
)
_SEEN = re.compile(r"\A(?:#|r-)?(\d{1,9})\Z")
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Handoff:
    """A handoff as it would be sent.

    `text` is its content with dates put right, `fields` its front matter (keys in lower case), `body` what follows,
    `warnings` sentences for the sender, `unclosed` whether front matter begins and never ends.
    """

    __slots__ = ("body", "fields", "text", "unclosed", "warnings")

    def __init__(self, text: str, fields: dict[str, str], body: str, warnings: list[str], *, unclosed: bool) -> None:
        self.text = text
        self.fields = fields
        self.body = body
        self.warnings = warnings
        self.unclosed = unclosed

    @property
    def kind(self) -> str:
        """`request` where it says nothing. May be no kind at all: `FrontMatter` refuses that."""
        return self.fields.get("kind", KINDS[0]).lower()

    @property
    def seen(self) -> int | None:
        """The highest number of the peer's relays that the sender has taken into account; None where it says none."""
        match = _SEEN.match(self.fields.get("seen", ""))
        return int(match[1]) if match else None

    @property
    def is_empty(self) -> bool:
        """Nothing is said: no text but white space, no field with a value."""
        return not self.body.strip() and not any(self.fields.values())


def read(text: str) -> Handoff:
    """Read a handoff. Never raises: what is wrong with it is said by the checks."""
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].rstrip() != _FENCE:
        return Handoff(text, {}, text.removeprefix("\ufeff"), [], unclosed=False)
    end = _end(lines)
    if end is None:
        started = len(lines) > 1 and _pair(lines[1]) is not None
        return Handoff(text, {}, "".join(lines), [], unclosed=started)
    fields: dict[str, str] = {}
    warnings: list[str] = []
    for number in range(1, end):
        lines[number] = _take(lines[number], number + 1, fields, warnings)
    if not fields:  # Two horizontal rules around prose are Markdown.
        return Handoff(text, {}, text.removeprefix("\ufeff"), [], unclosed=False)
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    return Handoff(bom + "".join(lines), fields, "".join(lines[end + 1 :]), warnings, unclosed=False)


def _end(lines: list[str]) -> int | None:
    """The line that closes the front matter; one that is not near the top closes nothing."""
    near = enumerate(lines[1:MAX_FRONT_LINES], start=1)
    return next((number for number, line in near if line.rstrip() in (_FENCE, "...")), None)


def _take(line: str, number: int, fields: dict[str, str], warnings: list[str]) -> str:
    """Read one line into `fields`; returns it as it is to be sent."""
    if not line.strip() or line.lstrip().startswith("#"):
        return line
    pair = _pair(line)
    if pair is None:
        warnings.append(f"line {number} of the front matter is no `key: value` line and means nothing to mat")
        return line
    key, value = pair
    if key in fields:
        warnings.append(f"`{key}` stands twice in the front matter; the last one counts")
    fields[key], warning = _dated(key, value)
    if warning:
        warnings.append(warning)
    if fields[key] == value:
        return line
    return line.replace(value, fields[key], 1)


def _pair(line: str) -> tuple[str, str] | None:
    match = _PAIR.match(line.rstrip())
    return (match[1].lower(), _plain(match[2] or "")) if match else None


def _plain(value: str) -> str:
    """A value without its quotes, or without the comment behind it."""
    value = value.strip()
    if value[:1] in ("'", '"'):
        end = value.find(value[0], 1)
        rest = value[end + 1 :].lstrip()
        return value[1:end] if end > 0 and (not rest or rest.startswith("#")) else value
    if value.startswith("#"):
        return ""
    return value.partition(" #")[0].rstrip()


def _dated(key: str, value: str) -> tuple[str, str | None]:
    """The value with an overflowing date put right, and the warning about it."""
    match = _DATE.match(value)
    if not match:
        if value and _DATE_KEY.match(key):
            return value, f"`{key}: {value[:60]}` is not a date (YYYY-MM-DD); it is sent as it is"
        return value, None
    year, month, day = (int(part) for part in match.groups())
    last = _last_day(year, month)
    if year and 1 <= day <= last:
        return value, None
    if year and last and 29 <= day <= 31:
        mended = f"{match[1]}-{match[2]}-{last:02d}"
        return mended + value[match.end() :], f"`{key}`: {match[0]} is no day; it is sent as {mended}"
    return value, f"`{key}: {match[0]}` is no date; it is sent as it is"


def _last_day(year: int, month: int) -> int:
    """The last day of a month, 0 for what is no month."""
    if not 1 <= month <= 12:
        return 0
    if month == 2 and (year % 4 or (year % 100 == 0 and year % 400)):
        return 28
    return _DAYS[month - 1]
