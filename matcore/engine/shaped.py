"""From a tree of a hand-written file to typed values, with every fault found in one pass.

A typed decoder stops at the first fault; a person who mends a file wants all of them. So each field of a `msgspec`
struct carries the reader that makes its value, `Annotated[T, reader]`, and readers note what is wrong and go on. A
reader returns whatever it likes where it noted a fault: nothing is used of a file that has one.

No sentence here repeats a value that is not a name: values may be secrets.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from matcore.engine.yamltree import Faults, Tree, quoted

Reader = Callable[[Tree, str, Faults], Any]
SHOWN_NAMES = 12
CLOSE_NAMES = 2


def suggestion(word: str, known: Collection[str]) -> str:
    """What else may have been meant: one close name, or all of them."""
    close = difflib.get_close_matches(word, known, n=1)
    return f'did you mean "{close[0]}"?' if close else f"there {_listed(known)}"


def choice(word: str, known: Collection[str]) -> str:
    """The same where people choose from a few names that they need not know: the close ones, and all of them."""
    close = difflib.get_close_matches(word, known, n=CLOSE_NAMES)
    meant = " or ".join(f'"{name}"' for name in close)
    return f"did you mean {meant}? There {_listed(known)}" if close else f"there {_listed(known)}"


def _listed(known: Collection[str]) -> str:
    names = sorted(known)
    more = ", …" if len(names) > SHOWN_NAMES else ""
    return f"are: {', '.join(names[:SHOWN_NAMES])}{more}" if names else "are none"


def text(check: Callable[[str], str] = str) -> Reader:
    """Text as it was written, `check`ed: returns it, or raises ValueError with what is wrong in a sentence."""

    def read(tree: Tree, path: str, faults: Faults) -> object:
        if isinstance(tree.value, list | dict):
            return faults.add(tree.line, path, f"must be text, not {tree.kind}")
        if tree.value is None or not tree.raw.strip():
            return faults.add(tree.line, path, "is empty; write a text, or leave the key out")
        return _checked(check, tree.raw, tree, path, faults)

    return read


def number(check: Callable[[Any], Any]) -> Reader:
    """A scalar as it was meant, `check`ed as in `text`."""

    def read(tree: Tree, path: str, faults: Faults) -> object:
        return _checked(check, tree.value, tree, path, faults)

    return read


def _checked(check: Callable[[Any], Any], value: object, tree: Tree, path: str, faults: Faults) -> object:
    try:
        return check(value)
    except ValueError as error:
        return faults.add(tree.line, path, str(error))


def several(reader: Reader, example: str) -> Reader:
    """A list of them, as a tuple without repetitions."""

    def read(tree: Tree, path: str, faults: Faults) -> object:
        if not isinstance(tree.value, list):
            return faults.add(tree.line, path, f"must be a list such as {example}, not {tree.kind}")
        return tuple(dict.fromkeys(reader(item, f"{path}[{n}]", faults) for n, item in enumerate(tree.value)))

    return read


def in_order(reader: Reader, example: str) -> Reader:
    """A list that is not empty, as a tuple."""

    def read(tree: Tree, path: str, faults: Faults) -> object:
        if not isinstance(tree.value, list) or not tree.value:
            return faults.add(tree.line, path, f"must be a list such as {example}, not {tree.kind}")
        return tuple(reader(item, f"{path}[{n}]", faults) for n, item in enumerate(tree.value))

    return read


def by_name(key: Callable[[str], str], reader: Reader, example: str) -> Reader:
    """A mapping of names that the file's author chose, in its order."""

    def read(tree: Tree, path: str, faults: Faults) -> object:
        if not isinstance(tree.value, dict) or not tree.value:
            return faults.add(tree.line, path, f"must be a mapping such as {example}, not {tree.kind}")
        found = {}
        for name, value in tree.value.items():
            try:
                key(name)
            except ValueError as error:
                faults.add(tree.key_lines[name], path, str(error))
            found[name] = reader(value, f"{path}.{name}", faults)
        return found

    return read


def struct(kind: type[msgspec.Struct], elsewhere: Mapping[str, str] | None = None) -> Reader:
    """A mapping with the keys that `kind` has. `elsewhere`: keys that people look for here, and where they are."""
    readers, examples = {}, {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Annotated:
            said = get_args(hint)[1:]
            readers[name] = next(extra for extra in said if callable(extra))
            examples[name] = next((e.examples[0] for e in said if isinstance(e, msgspec.Meta) and e.examples), "…")
    needed = {f.name for f in msgspec.structs.fields(kind) if f.required}

    def read(tree: Tree, path: str, faults: Faults) -> object:
        if not isinstance(tree.value, dict):
            return faults.add(tree.line, path, f"must be a mapping with {', '.join(readers)}; it is {tree.kind}")
        values = {}
        for name, value in tree.value.items():
            inner = f"{path}.{name}" if path else name
            if name not in readers:
                hint = (elsewhere or {}).get(name) or suggestion(name, readers)
                faults.add(tree.key_lines[name], path, f"no key {quoted(name)} here; {hint}")
            elif value.value is not None or name in needed:
                values[name] = readers[name](value, inner, faults)
        for name in needed & readers.keys() - tree.value.keys():
            faults.add(tree.line, path, f"has no {name}; add for example `{name}: {examples[name]}`")
        return None if faults.found else kind(**values)

    return read
