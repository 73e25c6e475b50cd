"""Reads a reviewer's verdict out of its handoff: tolerant of form, strict in meaning.

`{"verdict": "ok" | "retry" | "await_human_input", "reason": …, "hint": …, "new_prompt": …, "human_question": …}`, in
the front matter or as a JSON object in the body. Models wrap it in fences and prose, repeat it, draft it first: all of
that is read past, and of several objects the last one counts. What it then says must be unambiguous, because code
acts on it: a verdict that breaks a rule is never guessed at, it is refused with the rule.

Only an object that is not inside of another one counts. One that begins like a verdict and is no JSON breaks a rule
where it would have counted: an object inside of its torn strings is somebody's example. Without any other verdict, so
does one in single quotes: sent as a plain handoff it would leave both sides waiting. `null` is the same as absent.
Standard library only, like all that `send-relay` loads; reading takes time in proportion to the text.
"""

from __future__ import annotations

import json
import re

from matcore.words import front

OK, RETRY, AWAIT_HUMAN_INPUT = "ok", "retry", "await_human_input"

_FIELDS = {
    OK: ("reason",),
    RETRY: ("reason", "hint", "new_prompt"),
    AWAIT_HUMAN_INPUT: ("reason", "human_question"),
}
_ALL = ("verdict", "reason", "hint", "new_prompt", "human_question")
_WORDS = ", ".join(f"`{word}`" for word in _FIELDS)
_BEGINS = re.compile(r'\{\s*"')
_BEGINS_AS_ONE = re.compile(r'\{\s*"verdict"\s*:')
_QUOTES = "['\u2018\u2019\u201c\u201d`]"
_MEANT_AS_ONE = re.compile(rf"\{{[^{{}}]*{_QUOTES}verdict{_QUOTES}\s*:|^[ \t>]*\{{\s*verdict\s*:", re.MULTILINE)
"""A dictionary of Python, or quotes that an editor made: whoever begins so has said a verdict that nobody would act on.
Without quotes it may be a type or a schema within prose, and counts where a line begins with it."""
_NULLS = ("", "null", "~")
_SHOWN = 60


class VerdictError(ValueError):
    """The text holds no verdict that can be acted on. Its text is the broken rule and how to mend it."""


class NoVerdict(VerdictError):
    """There is none at all: a plain handoff."""


class Verdict:
    """`verdict` is one of the three words; the other fields are texts, or None where it does not have them."""

    __slots__ = _ALL

    def __init__(
        self,
        verdict: str,
        reason: str | None = None,
        hint: str | None = None,
        new_prompt: str | None = None,
        human_question: str | None = None,
    ) -> None:
        self.verdict = verdict
        self.reason = reason
        self.hint = hint
        self.new_prompt = new_prompt
        self.human_question = human_question

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Verdict) and all(getattr(self, name) == getattr(other, name) for name in _ALL)

    __hash__ = None  # type: ignore[assignment]  # never a key

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={getattr(self, name)!r}" for name in _ALL if getattr(self, name) is not None)
        return f"Verdict({said})"


def read(text: str) -> Verdict:
    """The verdict in a handoff's text. Raises `VerdictError` with the broken rule, `NoVerdict` where there is none."""
    said = of(front.read(text))
    if said is None:
        raise NoVerdict(
            f'there is no verdict: write one JSON object with `verdict` ({_WORDS}), for example {{"verdict": "ok"}}'
        )
    return said


def of(handoff: front.Handoff) -> Verdict | None:
    """The verdict of a handoff that was read; None where it has none. Raises `VerdictError`."""
    above = _of_front(handoff.fields)
    below = _of_body(handoff.body)
    if below is None:
        return None if above is None else _checked(above)
    for name in _ALL if above is not None else ():
        if above is not None and name in above and above[name] != below.get(name):
            raise VerdictError(
                f"`{name}` differs in the front matter and in the JSON object of the body: say the verdict once, "
                "in one of the two"
            )
    return _checked(below)


def found(handoff: front.Handoff) -> Verdict | None:
    """As `of`, for a handoff that was let through: one without a verdict to act on is a plain handoff."""
    try:
        return of(handoff)
    except VerdictError:
        return None


def _of_front(fields: dict[str, str]) -> dict[str, object] | None:
    said: dict[str, object] = {
        name: fields[name] for name in _ALL if fields.get(name, "").strip().lower() not in _NULLS
    }
    return said if "verdict" in said else None


def _of_body(body: str) -> dict[str, object] | None:
    """The last outermost object that has a verdict."""
    last: dict[str, object] | None = None
    torn: VerdictError | None = None
    if "verdict" not in body:
        return None
    at = 0
    around = list[str]()
    while (begin := _BEGINS.search(body, at)) is not None:
        around.append(body[at : begin.start()])
        try:
            pairs, at = _DECODER.raw_decode(body, begin.start())
        except RecursionError:
            at = (body.find("\n", begin.start()) + 1) or len(body)  # No verdict is nested like that.
        except ValueError as error:
            at = max(getattr(error, "pos", 0), begin.end())
            if _BEGINS_AS_ONE.match(body, begin.start()):
                torn = _torn(_what(error))
        else:
            said = {name: value for name, value in pairs if value is not None}
            if "verdict" in said:
                last, torn = said, _twice(pairs)
    if torn is None and last is None and any(map(_MEANT_AS_ONE.search, (*around, body[at:]))):
        raise _torn("its names are not in double quotes")
    if torn is not None:
        raise torn
    return last


class _Pairs(list[tuple[str, object]]):
    """An object as it was written, names that stand twice included."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs, strict=False)
"""Not strict: a line break inside of a string is form."""


def _what(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} in line {error.lineno} of the body"
    return "a number is too long"


def _torn(what: str) -> VerdictError:
    return VerdictError(
        f"the object with `verdict` is no JSON ({what}): put every name and text into double quotes, write "
        '`\\"` for a quote inside of a text, and no comma after the last one'
    )


def _twice(pairs: list[tuple[str, object]]) -> VerdictError | None:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    return None if twice is None else VerdictError(f"`{twice[:_SHOWN]}` stands twice in the object: keep one of them")


def _checked(said: dict[str, object]) -> Verdict:
    """What was said, after every rule. Raises `VerdictError` with the first that is broken."""
    word = said["verdict"]
    if not isinstance(word, str) or word not in _FIELDS:
        raise VerdictError(f"`verdict: {_shown(word)}` is none of {_WORDS}: write one of them, spelt exactly so")
    for name, value in said.items():
        if name != "verdict" and name not in _FIELDS[word]:
            allowed = ", ".join(f"`{field}`" for field in _FIELDS[word])
            raise VerdictError(f"`{word}` has no `{name[:_SHOWN]}`, only {allowed}: leave it out")
        if not isinstance(value, str):
            raise VerdictError(f"`{name}` must be a text in double quotes, and it is {_kind(value)}")
        if not value.strip():
            raise VerdictError(f"`{name}` is empty: write what it is to say, or leave it out")
    if word == RETRY and ("hint" in said) is ("new_prompt" in said):
        which = "both" if "hint" in said else "neither"
        raise VerdictError(
            f"`retry` has exactly one of `hint` and `new_prompt`, and this one has {which}: `hint` goes to the peer as "
            "it is, `new_prompt` begins a new session of it"
        )
    if word == AWAIT_HUMAN_INPUT and "human_question" not in said:
        raise VerdictError("`await_human_input` needs `human_question`: write what the human is to decide")
    return Verdict(*(None if (value := said.get(name)) is None else str(value) for name in _ALL))  # type: ignore[arg-type]


def _kind(value: object) -> str:
    if isinstance(value, _Pairs):
        return "an object"
    return "a list" if isinstance(value, list) else f"`{_shown(value)}`"


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    plain = "".join(character if character.isprintable() else " " for character in text)
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"
