"""`dataclass`, as the standard library's, made in a sixth of the time.

Facts, decisions and what is remembered of them are a hundred small classes, and every command of a person begins with
making them. The standard library compiles six methods for each, which was half of the time of `mat status`. Here one is
compiled, `__init__`; the others are the same few functions for all of them. Type checkers see the standard library's,
and what it knows of fields (`replace`, patterns, decoders) holds for these too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, fields
from dataclasses import dataclass as standard
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, slots: bool, frozen: bool = False) -> Callable[[type], type]:
        """For one field or more, each required, with a default or with a factory; all count in what it does."""

        def made(cls: type) -> type:
            cls.__doc__ = cls.__doc__ or cls.__name__  # else it is made of the signature, which takes longer than all
            cls = standard(init=False, repr=False, eq=False, slots=slots)(cls)
            _complete(cls, frozen=frozen)
            return cls

        return made


def _complete(cls: Any, *, frozen: bool) -> None:  # noqa: ANN401 - any class
    names = [each.name for each in fields(cls)]
    values = attrgetter(*names)

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def digest(self: object) -> int:
        return hash(values(self))

    def shown(self: object) -> str:
        return f"{cls.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    cls.__init__ = _initialiser(cls, frozen=frozen)
    cls.__eq__, cls.__hash__, cls.__repr__ = equal, digest if frozen else None, shown
    if frozen:
        cls.__setattr__ = cls.__delattr__ = _refuse
        cls.__setstate__ = _restore


def _initialiser(cls: Any, *, frozen: bool) -> Any:  # noqa: ANN401 - any class, and a function of its signature
    known: dict[str, object] = {"_set": object.__setattr__, "_missing": MISSING}
    parameters, body = ["self"], []
    for each in fields(cls):
        name = parameter = value = each.name
        if each.default is not MISSING:
            known[f"_of_{name}"] = each.default
            parameter = f"{name}=_of_{name}"
        elif each.default_factory is not MISSING:
            known[f"_of_{name}"] = each.default_factory
            parameter = f"{name}=_missing"
            value = f"_of_{name}() if {name} is _missing else {name}"
        parameters.append(parameter)
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    lines = [
        f"def make({', '.join(known)}):",
        f" def __init__({', '.join(parameters)}):",
        *(f"  {line}" for line in body),
    ]
    made: dict[str, Any] = {}
    exec("\n".join([*lines, " return __init__"]), vars(sys.modules[cls.__module__]), made)  # noqa: S102 - as dataclasses does
    init = made["make"](**known)
    init.__annotations__ = {each.name: each.type for each in fields(cls)}
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _refuse(_self: object, name: str, *_value: object) -> None:
    raise FrozenInstanceError(f"{name!r} of a record is never changed")


def _restore(self: object, state: tuple[None, dict[str, object]]) -> None:
    """For copies, which set each field of the new one."""
    for name, value in state[1].items():
        object.__setattr__(self, name, value)
