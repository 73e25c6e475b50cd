"""The agent session of a program that tells its id to nobody, found where our text is."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

import msgspec
import pytest

from matcore.engine.clock import boot_s
from matcore.engine.driver import AGENT_NAMED, RoleSpec, SessionSpec
from tmuxdriver.driver import TmuxDriver
from tmuxdriver.found import agent_session
from tmuxdriver.profile import Finds, load
from tmuxdriver.submission import Submission

TEXT = '[relay r-000001 from dev]\nRead `x`; it\'s "done".'


def store(path: Path, *parts: tuple[str, str, int]) -> None:
    """opencode's file with these texts: session, text, time in ms."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE IF NOT EXISTS session (id TEXT, time_updated INTEGER)")
        made.execute("CREATE TABLE IF NOT EXISTS part (session_id TEXT, time_created INTEGER, data TEXT)")
        for session, text, at_ms in parts:
            made.execute("INSERT INTO session VALUES (?, ?)", (session, at_ms))
            made.execute("INSERT INTO part VALUES (?, ?, ?)", (session, at_ms, json.dumps({"text": text})))
    made.close()


@pytest.fixture
def finds() -> Finds:
    found = load("opencode").launch.finds
    assert found is not None
    return found


def test_the_session_that_holds_our_text_is_ours(finds: Finds, home: Path) -> None:
    """Its own last words don't count, nor another session's, nor the same text of an earlier run."""
    store(
        home / ".local/share/opencode/opencode.db",
        ("ses_old", TEXT, 1_000), ("ses_other", "hello", 9_000), ("ses_ours", TEXT, 9_000), ("ses_ours", "x", 9_001),
    )  # fmt: skip
    assert agent_session(finds, TEXT, 8.0) == "ses_ours"
    assert agent_session(finds, "something else", 8.0) is None
    assert agent_session(finds, TEXT, 9.5) is None


def test_of_two_that_hold_it_none_is_taken(finds: Finds, home: Path) -> None:
    """A wrong one would be resumed, and two agents would be on it."""
    store(home / ".local/share/opencode/opencode.db", ("ses_a", TEXT, 9_000), ("ses_b", TEXT, 9_000))
    assert agent_session(finds, TEXT, 8.0) is None


def test_a_file_that_is_not_there_or_not_what_it_was_gives_nothing(
    finds: Finds, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer version may keep them elsewhere: the agent begins anew then, and nothing breaks."""
    assert agent_session(finds, TEXT, 0.0) is None
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    path = home / "data/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    path.write_text("not a database, but long enough to be read as one\n" * 50)
    assert agent_session(finds, TEXT, 0.0) is None
    path.unlink()
    sqlite3.connect(path).close()
    assert agent_session(finds, TEXT, 0.0) is None
    store(path, ("ses_ours", TEXT, 9_000))
    assert agent_session(finds, TEXT, 8.0) == "ses_ours"


@pytest.mark.parametrize("file", ["~no-such-user/opencode.db", "/" + "x" * 300, "/locked/opencode.db"])
def test_a_file_that_is_out_of_reach_gives_nothing(
    finds: Finds, file: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another place may still have it."""
    is_file = Path.is_file

    def locked(path: Path) -> bool:
        if path.is_relative_to("/locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", locked)
    assert agent_session(msgspec.structs.replace(finds, file=(file,)), TEXT, 0.0) is None
    store(home / "opencode.db", ("ses_ours", TEXT, 9_000))
    both = msgspec.structs.replace(finds, file=(file, str(home / "opencode.db")))
    assert agent_session(both, TEXT, 8.0) == "ses_ours"


def test_a_program_that_is_slow_to_write_is_asked_again(home: Path) -> None:
    """Each look of the driver asks, until the text is there; then no more."""
    driver = TmuxDriver({"socket": str(home / "s")})
    role = RoleSpec("dev", "opencode", home, Path())
    driver.adopt(SessionSpec("duo", home, (role,), "/bin"), {})
    driver._seat("duo", "dev").sought = Submission(TEXT, boot_s())
    assert [s for s in driver.observe() if s.name == AGENT_NAMED] == []
    store(home / ".local/share/opencode/opencode.db", ("ses_ours", TEXT, int(time.time() * 1000)))
    named = [s.fields for s in driver.observe() if s.name == AGENT_NAMED]
    assert named == [{"role": "dev", "agent_session": "ses_ours"}]
    assert [s for s in driver.observe() if s.name == AGENT_NAMED] == []
