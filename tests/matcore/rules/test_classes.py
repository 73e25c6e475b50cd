"""The rules' classes are the standard library's data classes in all that anybody can see of them."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import typing
from dataclasses import field
from typing import Any

import msgspec
import pytest

from matcore.rules.records import dataclass


@dataclass(frozen=True, slots=True)
class Base:
    at: float


@dataclass(frozen=True, slots=True)
class Full(Base):
    """With a text of its own."""

    name: str
    count: int = 3
    more: tuple[str, ...] = field(default_factory=tuple)

    @property
    def double(self) -> int:
        return 2 * self.count


@dataclass(slots=True)
class Open:
    names: list[str] = field(default_factory=list)
    count: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    at: float
    name: str
    count: int = 3
    more: tuple[str, ...] = ()


def test_a_record_is_made_as_its_fields_say() -> None:
    """By place or by name, with defaults; what is missing, too much or unknown is a TypeError."""
    made = Full(1.0, "a", more=("x",))
    assert (made.at, made.name, made.count, made.more, made.double) == (1.0, "a", 3, ("x",), 6)
    wrong: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((1.0,), {}),
        ((1.0, "a", 2, (), 5), {}),
        ((1.0, "a"), {"no": 1}),
    ]
    for words, named in wrong:
        with pytest.raises(TypeError):
            Full(*words, **named)


def test_each_has_its_own_of_what_a_factory_makes() -> None:
    """Nothing is shared."""
    first, second = Open(), Open()
    first.names.append("x")
    first.count += 1
    assert (second.names, second.count) == ([], 0)
    assert Open(["y"]).names == ["y"]


def test_equal_are_those_of_one_class_with_equal_fields() -> None:
    """And they have one hash; what can be changed has none."""
    assert Full(1.0, "a") == Full(1.0, "a", 3, ())
    assert Full(1.0, "a") != Full(1.0, "b")
    assert Base(1.0) != Full(1.0, "a")
    assert Base(1.0) != object()
    assert len({Full(1.0, "a"), Full(1.0, "a", 3, ()), Base(1.0)}) == 2
    assert Open(["a"]) == Open(["a"])
    with pytest.raises(TypeError, match="unhashable"):
        hash(Open())


def test_what_is_frozen_is_never_changed() -> None:
    """No field is set or taken away, and none is added."""
    made = Full(1.0, "a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "b"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del made.name
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.other = 1  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        Open().other = 1  # type: ignore[attr-defined]
    assert made == Full(1.0, "a")


def test_it_is_shown_as_the_standard_librarys_are() -> None:
    """With its name and every field."""
    assert repr(Full(1.0, "a")) == "Full(at=1.0, name='a', count=3, more=())"
    assert repr(Full(1.0, "a")).removeprefix("Full") == repr(Standard(1.0, "a")).removeprefix("Standard")
    assert Base.__doc__ == "Base"
    assert Full.__doc__ == "With a text of its own."


def test_what_knows_of_data_classes_knows_these() -> None:
    """Copies, replacements, patterns, signatures, types and decoders."""
    made = Full(1.0, "a", 4, ("x",))
    assert dataclasses.replace(made, name="b") == Full(1.0, "b", 4, ("x",))
    assert dataclasses.asdict(made) == {"at": 1.0, "name": "a", "count": 4, "more": ("x",)}
    assert copy.deepcopy(made) == copy.copy(made) == made
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301 - our own
    assert msgspec.json.decode(msgspec.json.encode(made), type=Full) == made
    assert msgspec.json.decode(b"{}", type=Open) == Open()
    assert list(inspect.signature(Full).parameters) == ["at", "name", "count", "more"]
    assert typing.get_type_hints(Full.__init__) == typing.get_type_hints(Full)
    match made:
        case Full(at, name):
            assert (at, name) == (1.0, "a")
        case _:
            pytest.fail("no match")
