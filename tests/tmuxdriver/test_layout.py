"""How an agent is launched: the words, by profile and by what there is to take up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matcore.engine.driver import RoleSpec, SessionSpec
from tmuxdriver import layout
from tmuxdriver.layout import plan
from tmuxdriver.panes import Identity, Pane
from tmuxdriver.profile import Composer, Launch, Profile, load
from tmuxdriver.server import Tmux

NAME = "4542b1ec-039a-471c-95ac-10bf73bfb1f3"


def words(tmp_path: Path, *saved: str, holds: str = "") -> tuple[tuple[str, ...], str | None]:
    """What a role's agent is started with that is to take up the session NAME, and the session's id."""
    launch = Launch(
        ("/bin/cat",),
        fresh=("new", "{session_id}"),
        resume=("again", "{session_id}"),
        saved=saved,
        saved_holds=holds,
    )
    profile = Profile(name="p", recorded="1", process=("cat",), launch=launch, composer=Composer(mark="^> "))
    role = RoleSpec("dev", "p", tmp_path, Path())
    start = plan(SessionSpec("s", tmp_path, (role,), "/bin"), role, profile, resume=NAME)
    return start.argv[1:], start.agent_session


def test_a_session_that_was_saved_is_taken_up(tmp_path: Path, home: Path) -> None:
    """Wherever the program keeps it: one pattern that matches is enough."""
    (home / "kept" / "here").mkdir(parents=True)
    (home / "kept" / "here" / f"{NAME}.jsonl").write_text("{}\n{user}\n", encoding="utf-8")
    nowhere, kept = "$NOT_SET_AT_ALL/*/{session_id}.jsonl", "~/kept/*/{session_id}.jsonl"
    assert words(tmp_path, nowhere, kept) == (("again", NAME), NAME)
    assert words(tmp_path, nowhere, kept, holds="user") == (("again", NAME), NAME)


@pytest.mark.parametrize("has_file", [False, True])
def test_a_session_in_which_nothing_was_said_is_not_taken_up(tmp_path: Path, home: Path, has_file: bool) -> None:
    """Claude Code ends at once when it is to resume such a session, or to begin one under the same id."""
    (home / "kept").mkdir()
    if has_file:
        (home / "kept" / f"{NAME}.jsonl").write_text("{mode}\n", encoding="utf-8")
    argv, session = words(tmp_path, "~/kept/{session_id}.jsonl", holds="user")
    assert argv == ("new", session)
    assert session not in (None, NAME)


def test_a_program_that_takes_up_any_session_is_not_looked_behind(tmp_path: Path) -> None:
    """A profile that names no place says so."""
    assert words(tmp_path) == (("again", NAME), NAME)


def test_configuration_of_the_launch_hands_the_role_prompt_over(tmp_path: Path) -> None:
    """opencode takes no prompt as an argument: what it is told by a variable need not be told by the first text."""
    role = RoleSpec("dev", "opencode", tmp_path, tmp_path / "dev.md")
    (tmp_path / "opencode").write_text("#!/bin/sh\n")
    (tmp_path / "opencode").chmod(0o755)
    start = plan(SessionSpec("s", tmp_path, (role,), str(tmp_path)), role, load("opencode"), resume=None)
    config = json.loads(start.env["OPENCODE_CONFIG_CONTENT"])
    assert (config["instructions"], start.needs_prompt) == ([str(tmp_path / "dev.md")], False)
    rules = config["agent"]["build"]["permission"]
    assert rules["bash"]["send-relay *"] == "allow"
    assert "*" not in rules["bash"], "whatever else asks goes on asking"
    assert set(rules["external_directory"]) == {f"{tmp_path}/.mat/s/*"}


@pytest.mark.parametrize("nested", [True, False])
def test_inside_of_a_tmux_it_is_said_how_to_leave(monkeypatch: pytest.MonkeyPatch, nested: bool) -> None:
    """The bar's keys would be taken by the outer one; elsewhere the bar is right, and nothing covers it."""
    monkeypatch.setattr(layout, "find", lambda *_: {"dev": Pane(Identity("1", "2", "%3", "4"), {})})
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0" if nested else "")
    argv = layout.attach_argv(Tmux("mat-t"), "duo", "dev")
    assert argv[argv.index("-t") + 1] == "%3", "whatever its window is called"
    assert any("C-b C-b d" in word for word in argv) == nested
    assert ("display-message" in argv) == nested
