"""Decides by its structure alone whether a handoff may be sent.

Checks are deterministic and sealed: nobody can add one from outside, so none can ever call a model. Each says what is
wrong and how to mend it in one sentence that is enough by itself.
"""

from __future__ import annotations

from matcore.words import verdict
from matcore.words.front import KINDS, Handoff, read

__all__ = [
    "KINDS",
    "FrontMatter",
    "Handoff",
    "RequiredKeys",
    "StructuralCheck",
    "VerdictRules",
    "checked",
    "checks",
    "read",
]


class StructuralCheck:
    """A deterministic look at a handoff's structure. Sealed: it has the subclasses of this module and no others."""

    __slots__ = ()
    name = ""

    def __init_subclass__(cls) -> None:
        if cls.__module__ != __name__:
            raise TypeError(f"StructuralCheck is sealed; {cls.__qualname__} can't be added to it from outside")

    def refusal(self, handoff: Handoff) -> str | None:
        """What is wrong and how to mend it, as a sentence without its full stop; None where all is well."""
        raise NotImplementedError


class FrontMatter(StructuralCheck):
    """The front matter closes, and `kind` and `seen` can be read."""

    __slots__ = ()
    name = "front-matter"

    def refusal(self, handoff: Handoff) -> str | None:
        if handoff.unclosed:
            return "its front matter begins with `---` and never ends: add a line `---` after the last `key: value`"
        if handoff.kind not in KINDS:
            return f"`kind: {handoff.fields['kind'][:60]}` is neither `request` nor `fyi`: write one of the two"
        if handoff.fields.get("seen") and handoff.seen is None:
            return f"`seen: {handoff.fields['seen'][:60]}` is no number: write it like `seen: 12`, or leave it out"
        return None


class RequiredKeys(StructuralCheck):
    """Every key that the session requires has a value."""

    __slots__ = ("keys",)
    name = "required-keys"

    def __init__(self, keys: list[str]) -> None:
        self.keys = keys

    def refusal(self, handoff: Handoff) -> str | None:
        missing = [key for key in self.keys if not handoff.fields.get(key.lower())]
        if not missing:
            return None
        named = ", ".join(f"`{key}`" for key in missing)
        lines = ", ".join(f"`{key}: …`" for key in missing)
        if handoff.fields:
            return f"its front matter lacks {named}: add {lines} between the `---` lines"
        return f"it lacks {named}: begin the file with a line `---`, then {lines}, then a line `---`"


class VerdictRules(StructuralCheck):
    """A verdict, where the handoff has one, can be acted on without guessing."""

    __slots__ = ()
    name = "verdict"

    def refusal(self, handoff: Handoff) -> str | None:
        try:
            verdict.of(handoff)
        except verdict.VerdictError as error:
            return f"its verdict breaks a rule: {error}"
        return None


def checks(require: list[str]) -> tuple[StructuralCheck, ...]:
    """All checks, in order."""
    return (FrontMatter(), RequiredKeys(require), VerdictRules())


def at_the_gate(require: list[str], commands: list[str]) -> tuple[StructuralCheck, ...]:
    """Those that sending runs: all but the ones that agents run themselves (`handoff.commands`)."""
    return tuple(check for check in checks(require) if check.name not in commands)


def by_command(require: list[str], commands: list[str]) -> tuple[StructuralCheck, ...]:
    """Those that agents run themselves."""
    return tuple(check for check in checks(require) if check.name in commands)


def checked(check: str, refusal: str | None, *, blocks: int, max_blocks: int, file: str) -> dict[str, object]:
    """The record of one check, passes included. `blocks`: refusals in a row of this file by this role."""
    return {
        "record": "handoff.checked",
        "approved": refusal is None,
        "check": check,
        "reason": refusal,
        "blocks": blocks,
        "max_blocks": max_blocks,
        "file": file,
    }
