"""`{{…}}` in the values of a script: names, and parts of the message that was just received.

`{{fromRequest:REGEX}}` is the LAST match of REGEX in the message. Of that match the FIRST capture group that took part
is taken, the whole match where there is none. Matches whose value is empty don't count. The end of the regex is found
by reading it as one: braces nest, `\\{` and braces in a character class are plain, so `\\d{2}` needs no escaping.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

FROM_REQUEST = "fromRequest:"


class TemplateError(ValueError):
    """A template that can't be filled. The sentence names the template."""


def fill(text: str, names: Mapping[str, str], request: str) -> str:
    """`text` with every `{{…}}` replaced. What is filled in is not looked at again. Raises TemplateError."""
    parts: list[str] = []
    at = 0
    while (start := text.find("{{", at)) >= 0:
        parts.append(text[at:start])
        if text.startswith(FROM_REQUEST, start + 2):
            begin = start + 2 + len(FROM_REQUEST)
            end = _end_of_regex(text, begin)
            value = None if end is None else from_request(text[begin:end], request)
        else:
            end = _end_of_name(text, start + 2)
            value = None if end is None else _named(text[start + 2 : end].strip(), names)
        if end is None or value is None:
            message = f"{_quoted(text[start:])} is not closed by }}}} (a brace that stands alone needs a backslash)"
            raise TemplateError(message)
        parts.append(value)
        at = end + 2
    parts.append(text[at:])
    return "".join(parts)


def from_request(pattern: str, request: str) -> str:
    """The last non-empty value of `pattern` in `request`. Raises TemplateError."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        message = f"{{{{fromRequest:{pattern}}}}} is not a legal pattern: {error}"
        raise TemplateError(message) from error
    values = [value for match in compiled.finditer(request) if (value := _value(match))]
    if not values:
        message = f"{{{{fromRequest:{pattern}}}}} finds nothing in the message"
        raise TemplateError(message)
    return values[-1]


def _value(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group is not None), match.group())


def _named(name: str, names: Mapping[str, str]) -> str:
    if name not in names:
        known = ", ".join(f"{{{{{each}}}}}" for each in names)
        message = f"{{{{{name}}}}} is not known; there are {known} and {{{{fromRequest:REGEX}}}}"
        raise TemplateError(message)
    return names[name]


def _end_of_name(text: str, at: int) -> int | None:
    end = text.find("}}", at)
    return None if end < 0 else end


def _end_of_regex(text: str, at: int) -> int | None:
    """Where the `}}` stands that closes a regex beginning at `at`."""
    depth = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 2
            continue
        if char == "[":
            at = _after_class(text, at)
            continue
        if char == "{":
            depth += 1
        elif char == "}":
            if depth == 0:
                return at if text.startswith("}}", at) else None
            depth -= 1
        at += 1
    return None


def _after_class(text: str, at: int) -> int:
    """The place behind the character class that opens at `at`; the place behind its bracket when it never closes."""
    look = at + 1
    if text.startswith("^", look):
        look += 1
    if text.startswith("]", look):
        look += 1
    while look < len(text) and text[look] != "]":
        look += 2 if text[look] == "\\" else 1
    return look + 1 if look < len(text) else at + 1


def _quoted(text: str) -> str:
    line = text.splitlines()[0]
    return line if len(line) <= 60 else line[:57] + "..."
