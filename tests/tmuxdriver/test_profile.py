"""Profiles are data: whatever is wrong with one is said at once, with the place and what was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from matcore.errors import BadConfig
from tmuxdriver.profile import load, read, shipped_folder

LEAST: dict[str, Any] = {
    "name": "mine",
    "recorded": "1",
    "process": ["mine"],
    "launch": {"argv": ["mine"]},
    "composer": {"mark": "^> "},
}


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump({**LEAST, **changes}), encoding="utf-8")
    return path


@pytest.mark.parametrize("path", sorted(shipped_folder().glob("*.yaml")), ids=lambda path: path.stem)
def test_each_shipped_profile_can_be_read(path: Path) -> None:
    """And bears the name of its file."""
    assert read(path).name == path.stem


def test_all_unknown_keys_are_named_with_the_nearest(tmp_path: Path) -> None:
    """At every depth, all of them, each with what was meant."""
    path = written(tmp_path, compser={}, busy=[{"match": "x", "wher": "footer"}])
    with pytest.raises(BadConfig) as caught:
        read(path)
    assert set(caught.value.faults) == {
        f'{path}: unknown key `compser`; did you mean "composer"?',
        f'{path}: unknown key `busy[0].wher`; did you mean "where"?',
    }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"busy": [{"match": "("}]}, r"`busy\[0\].match` is not a regular expression"),
        ({"title": {"busy": "["}}, r"`title.busy` is not a regular expression"),
        ({"composer": {"mark": "^> ", "placeholders": ["("]}}, r"`composer.placeholders\[0\]`"),
        ({"busy": [{"match": "x", "where": "somewhere"}]}, r"\$\.busy\[0\]\.where"),
        ({"name": "other"}, "must be 'mine'"),
        ({"launch": {"argv": "mine"}}, "array"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    """A pattern that does not compile, a word that is none of those, a name that is not the file's."""
    with pytest.raises(BadConfig, match=said):
        read(written(tmp_path, **changes))


def test_a_profile_that_is_not_there_is_guessed_at(tmp_path: Path) -> None:
    """With the nearest that is."""
    with pytest.raises(BadConfig, match='did you mean "claude"'):
        load("cluade", folders=(tmp_path,))


def test_ones_own_profile_comes_first(tmp_path: Path) -> None:
    """A profile in the project takes the place of a shipped one."""
    written(tmp_path, name="claude").rename(tmp_path / "claude.yaml")
    assert load("claude", folders=(tmp_path,)).recorded == "1"
    assert load("claude", folders=(tmp_path,)).folder == str(tmp_path)


def test_broken_yaml_is_a_fault_of_the_file(tmp_path: Path) -> None:
    """Not a traceback."""
    path = tmp_path / "mine.yaml"
    path.write_text("a: [", encoding="utf-8")
    with pytest.raises(BadConfig, match="mine"):
        read(path)


def test_a_file_is_read_once_until_it_is_another(tmp_path: Path) -> None:
    """A hundred sessions with one program read its profile once; what a person changes in it counts from then on."""
    path = written(tmp_path)
    first = read(path)
    assert read(path) is first
    written(tmp_path, recorded="2.0")
    assert read(path).recorded == "2.0"
