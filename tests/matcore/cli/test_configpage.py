"""docs/duo-yaml.md is drawn from the types, so what has to be held is that they say enough, and what is right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from matcore.cli import configpage
from matcore.engine import config, configtypes

ROOT = Path(__file__).parents[3]
SECTIONS: tuple[tuple[str, type[msgspec.Struct]], ...] = (("", configtypes.SessionConfig), *configpage._SECTIONS)


def keys() -> Iterator[tuple[str, msgspec.structs.FieldInfo, msgspec.Meta]]:
    for path, kind in SECTIONS:
        for field, meta in configpage.fields(kind):
            yield path, field, meta


def within(path: str, key: str, value: str) -> str:
    """A whole configuration in which that key has that value."""
    roles = "" if (path, key) == ("", "roles") else "roles: {dev: {backend: claude}}\n"
    match path:
        case "":
            return f"{roles}{key}: {value}\n"
        case "roles.NAME":
            backend = "" if key == "backend" else "backend: claude, "
            return f"roles: {{dev: {{{backend}{key}: {value}}}}}\n"
        case "notify[]":
            return f"{roles}notify: [{{{key}: {value}}}]\n"
        case _:
            return f"{roles}{path}: {{{key}: {value}}}\n"


def at(loaded: Any, path: str, key: str) -> Any:
    holder = {"": loaded, "roles.NAME": loaded.roles["dev"], "notify[]": loaded.notify and loaded.notify[0]}
    return getattr(holder[path] if path in holder else getattr(loaded, path), key)


@pytest.mark.parametrize(("path", "field", "meta"), list(keys()), ids=lambda each: getattr(each, "name", None))
def test_every_key_is_explained(
    path: str, field: msgspec.structs.FieldInfo, meta: msgspec.Meta, tmp_path: Path
) -> None:
    """What kind of value it takes, what it is for, and an example that is read as something else than the default."""
    assert meta.title
    if meta.title == configtypes.SECTION:
        return
    assert meta.description
    assert meta.description.endswith(".")
    [example] = meta.examples or []
    (tmp_path / "work").mkdir()
    (tmp_path / "shop-review").mkdir()
    file = tmp_path / "work" / "duo.yaml"
    file.write_text(within(path, field.name, str(example)))
    value = at(config.load(file, backends={"claude", "codex"}), path, field.name)
    assert value not in (None, "", ())
    assert yaml.safe_load(str(example)) is not None


def test_every_default_is_there() -> None:
    """Either as a person writes it, or in words where it is not a value."""
    for _, field, meta in keys():
        said = configpage._default(field, meta)
        assert said
        assert "None" not in said
        assert said not in ("``", "`()`")


def test_the_page_names_all_keys_and_nothing_is_left_to_fill_in() -> None:
    """And README leads to it."""
    page = configpage.page()
    for path, field, _ in keys():
        section = page.partition(f"## `{path}`" if path else "## At the top")[2].partition("\n## ")[0]
        assert f"| `{field.name}` |" in section
    for name in configpage._known():
        assert f"{{{name}}}" not in page
    assert "| duration | `10m` |" in page
    assert "| size | `8MiB` |" in page
    assert "(docs/duo-yaml.md)" in (ROOT / "README.md").read_text()
