"""YAML as a tree that remembers its lines, for configurations that people write by hand.

A safe subset: no aliases (a few lines of them fill the memory), no tags, no merge keys, one document. A key that comes
twice is a fault, which plain YAML hides. Only `true`, `false`, `null` and numbers are anything but text, so that `no`,
`on`, `0123` and `10:30` stay what was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from matcore.places import CONFIG_FILE

MAX_BYTES = 256 * 1024
MAX_DEPTH = 16
SHOWN_CHARACTERS = 60

Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Tree:
    """A value at its line (from 1). `raw` is a scalar as it was written, `key_lines` where each key of a mapping is."""

    value: Plain | list[Tree] | dict[str, Tree]
    line: int
    raw: str = ""
    key_lines: dict[str, int] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """What it is, in words, without saying what it holds: values may be secrets."""
        match self.value:
            case None:
                return "nothing"
            case bool():
                return "true or false"
            case int() | float():
                return "a number"
            case str():
                return "text"
            case list():
                return "a list" if self.value else "an empty list"
            case dict():
                return "a mapping" if self.value else "an empty mapping"


@dataclass(slots=True)
class Faults:
    """All that is wrong with one file, each with its line and the path of its key where there are some."""

    file: Path
    found: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: int, path: str, what: str) -> object:
        """Note a fault. Returns None: what a reader has to return instead of a value."""
        where = f"{self.file}:{line}" if line else f"{self.file}"
        self.found.append((line, f"{where}: {printable(path)}: {what}" if path else f"{where}: {what}"))
        return None

    def sentences(self) -> list[str]:
        """In order of the lines."""
        return [sentence for _, sentence in sorted(self.found, key=lambda fault: fault[0])]


def printable(text: str) -> str:
    """Without control characters."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def quoted(text: str) -> str:
    """A name from a file as it may be shown: in quotes, short, without control characters."""
    return f'"{printable(text[:SHOWN_CHARACTERS])}{"…" if len(text) > SHOWN_CHARACTERS else ""}"'


def read(file: Path, faults: Faults) -> Tree | None:
    """The file's mapping, or None with the faults why there is none."""
    text = _text(file, faults)
    if text is None:
        return None
    try:
        node = _compose(text, faults)
    except yaml.YAMLError as error:
        line, problem = _problem(error)
        faults.add(line, "", problem)
        return None
    if faults.found:
        return None
    if node is None:
        faults.add(0, "", _without_keys(file, text))
        return None
    tree = _tree(node, "", faults)
    if not isinstance(tree.value, dict):
        faults.add(tree.line, "", f"must be a mapping of keys such as `roles:`, not {tree.kind}")
        return None
    return tree


def _without_keys(file: Path, text: str) -> str:
    """What to do about a file that holds nothing, or comments alone, which `mat init` does not write over."""
    if not text.strip():
        return f"is empty; `mat init` writes {_begun(file)}"
    return f"holds no keys; write at least `roles:`, or have {_begun(file)} written: `mat init --force`"


def _begun(file: Path) -> str:
    return "one" if file.name == CONFIG_FILE else f"a {CONFIG_FILE}"


def _text(file: Path, faults: Faults) -> str | None:
    try:
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        faults.add(0, "", f"there is no such file; `mat init` writes {_begun(file)}")
        return None
    except IsADirectoryError:
        faults.add(0, "", f"is a directory; name a file, such as {file / CONFIG_FILE}")
        return None
    except OSError as error:
        faults.add(0, "", f"can't be read ({error.strerror}); see to that, or name another file")
        return None
    if len(raw) > MAX_BYTES:
        faults.add(0, "", f"is larger than {MAX_BYTES // 1024} KiB, so it is no configuration")
        return None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        faults.add(0, "", "is not a text in UTF-8")
        return None
    return text


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's way


for _tag, _pattern in (
    ("bool", r"true|True|TRUE|false|False|FALSE"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)"),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]+)?"),
    ("null", r"~|null|Null|NULL|"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), None)


def _compose(text: str, faults: Faults) -> yaml.Node | None:
    """The document's node. What is refused is refused before anything is built of it."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            faults.add(line, "", "anchors and aliases (& and *) are not read here; write the value out")
            return None
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            faults.add(line, "", f"is nested more than {MAX_DEPTH} levels deep")
            return None
        if getattr(event, "tag", None) is not None:
            faults.add(line, "", "tags (!) are not read here; write the plain value")
            return None
    node: yaml.Node | None = yaml.compose(text, Loader=_Loader)
    return node


def _problem(error: yaml.YAMLError) -> tuple[int, str]:
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return 0, "is no YAML: it holds characters that YAML does not allow"
    line = error.problem_mark.line + 1
    if "'\\t'" in str(error.problem):
        return line, "a tab where YAML wants spaces"
    context = f"{error.context}: " if error.context else ""
    return line, f"is no YAML: {context}{error.problem}".replace("\n", " ")


def _tree(node: yaml.Node, path: str, faults: Faults) -> Tree:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        return Tree(_scalar(node), line, raw=node.value)
    if isinstance(node, yaml.SequenceNode):
        return Tree([_tree(item, f"{path}[{n}]", faults) for n, item in enumerate(node.value)], line)
    values: dict[str, Tree] = {}
    lines: dict[str, int] = {}
    for key_node, value_node in node.value:
        key, key_line = key_node.value, key_node.start_mark.line + 1
        if not isinstance(key, str):
            faults.add(key_line, path, "a key must be text")
        elif key in values:
            faults.add(key_line, path, f"{quoted(key)} is there twice, first on line {lines[key]}; keep one")
        else:
            inner = f"{path}.{key}" if path else key
            values[key], lines[key] = _tree(value_node, inner, faults), key_line
    return Tree(values, line, key_lines=lines)


def _scalar(node: yaml.ScalarNode) -> Plain:
    text = node.value
    match node.tag.rpartition(":")[2]:
        case "bool":
            return bool(text.lower() == "true")
        case "int" if len(text) < 20:
            return int(text)
        case "int" | "float":
            return float(text)
        case "null":
            return None
        case _:
            return str(text)
