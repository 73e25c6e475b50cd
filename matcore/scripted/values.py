"""Typed values out of YAML data. Every fault is collected with its path; reading never stops at the first."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Reader:
    """Each method returns a usable value in any case; a fault leaves a sentence in `faults`."""

    faults: list[str] = field(default_factory=list)

    def fault(self, path: str, sentence: str) -> None:
        self.faults.append(f"{path}: {sentence}")

    def text(self, value: object, path: str) -> str:
        """A string, or a plain number as YAML reads it."""
        if isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        hint = " (put it in quotes)" if isinstance(value, bool) else ""
        self.fault(path, f"needs a text, not {_named(value)}{hint}")
        return ""

    def line(self, value: object, path: str) -> str:
        """A text that can't move a cursor."""
        text = self.text(value, path)
        if not text.isprintable():
            self.fault(path, "needs one line without control characters")
            return ""
        return text

    def number(self, value: object, path: str, *, least: float = 0.0, most: float = 1e6) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most:
            return float(value)
        self.fault(path, f"needs a number from {least:g} to {most:g}, not {_named(value)}")
        return least

    def whole(self, value: object, path: str, *, least: int = 0, most: int = 1_000_000) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self.fault(path, f"needs a whole number from {least} to {most}, not {_named(value)}")
        return least

    def flag(self, value: object, path: str) -> bool:
        if isinstance(value, bool):
            return value
        self.fault(path, f"needs true or false, not {_named(value)}")
        return False

    def yes(self, value: object, path: str) -> None:
        """`true` and nothing else: a step that is switched off is left out instead."""
        if value is not True:
            self.fault(path, f"can only be true, not {_named(value)}")

    def choice(self, value: object, path: str, words: Collection[str]) -> str:
        if isinstance(value, str) and value in words:
            return value
        self.fault(path, f"needs one of {', '.join(words)}, not {_named(value)}")
        return next(iter(words))

    def items(self, value: object, path: str) -> list[object]:
        if isinstance(value, list):
            return value
        self.fault(path, f"needs a list, not {_named(value)}")
        return []

    def texts(self, value: object, path: str) -> tuple[str, ...]:
        return tuple(self.text(item, f"{path}[{n}]") for n, item in enumerate(self.items(value, path)))

    def mapping(
        self, value: object, path: str, known: Collection[str] | None, needed: Collection[str] = ()
    ) -> Mapping[str, object]:
        """A mapping with text keys, all of them in `known` (any when None), with those in `needed`."""
        if not isinstance(value, dict):
            self.fault(path, f"needs a mapping, not {_named(value)}")
            return {}
        found = {str(key): item for key, item in value.items()}
        for key in found:
            if known is not None and key not in known:
                self.fault(f"{path}.{key}" if path else key, f"unknown key{_did_you_mean(key, known)}")
        for key in needed:
            if key not in found:
                self.fault(path, f"needs the key {key}")
        return found


def _named(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else repr(value)


def _did_you_mean(key: str, known: Collection[str]) -> str:
    import difflib  # only for faults: the import is slower than the first paint may be

    near = difflib.get_close_matches(key, known, 1)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(known)}"
