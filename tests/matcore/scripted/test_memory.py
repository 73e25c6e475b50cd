"""What a session remembers: rules used, limits, and which ids may be opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from matcore.scripted import memory
from matcore.scripted.memory import Memory, SessionError
from matcore.scripted.reading import parse
from matcore.scripted.steps import Print

SCRIPT = parse("rules: [{when: a, once: true, steps: [{print: first}]}]\ndefault: [{print: later}]")


def test_a_session_is_resumed_with_what_it_used(tmp_path: Path) -> None:
    """A rule that was used up stays so, limits hold, turns are counted on."""
    first = Memory.opened(tmp_path, "s-1")
    assert first.pick(SCRIPT, "a") == (0, (Print("first"),))
    first.turns, first.is_exhausted, first.limited_until = 3, True, 99.0
    first.save()
    again = Memory.resumed(tmp_path, "s-1")
    assert again == first
    assert again.pick(SCRIPT, "a") == (None, (Print("later"),))


def test_an_id_in_use_cannot_be_opened(tmp_path: Path) -> None:
    """The sentence says what to do."""
    Memory.opened(tmp_path, "s-1")
    with pytest.raises(SessionError, match=r"already in use. Use --resume s-1"):
        Memory.opened(tmp_path, "s-1")


def test_an_unknown_id_cannot_be_resumed(tmp_path: Path) -> None:
    """As with real agents."""
    with pytest.raises(SessionError, match="No conversation found"):
        Memory.resumed(tmp_path, "s-1")


@pytest.mark.parametrize("kept", ["", "[]", "{}", '{"used": 3}'])
def test_a_broken_file_is_named(kept: str, tmp_path: Path) -> None:
    """It is neither taken for a new session nor overwritten."""
    (tmp_path / "s-1.json").write_text(kept)
    with pytest.raises(SessionError, match=r"Remove .*s-1\.json"):
        Memory.resumed(tmp_path, "s-1")


@pytest.mark.parametrize("session", ["../x", "a/b", ".hidden", "x" * 200, "a b"])
def test_an_id_is_a_plain_name(session: str, tmp_path: Path) -> None:
    """It becomes a file's name."""
    with pytest.raises(SessionError, match="no session id"):
        Memory.opened(tmp_path, session)


def test_without_a_folder_nothing_is_kept() -> None:
    """A resumed session begins anew under its id."""
    assert Memory.resumed(None, "s-1") == Memory("s-1")
    assert Memory.opened(None, None).session != Memory.opened(None, None).session


def test_the_folder_comes_from_the_flag_or_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--state` first, then `$MAT_DIR/scripted`."""
    monkeypatch.setenv("MAT_DIR", "/x/.mat/duo")
    assert memory.folder("/y") == Path("/y")
    assert memory.folder(None) == Path("/x/.mat/duo/scripted")
    monkeypatch.delenv("MAT_DIR")
    assert memory.folder(None) is None
