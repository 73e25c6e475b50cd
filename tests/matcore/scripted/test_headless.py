"""One turn without a terminal: what is printed where, exit codes, and a session that is kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.waiting import json_lines, wait_for


class Turns:
    """Plays a script, one process for each turn."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log.jsonl"

    def script(self, text: str) -> None:
        (self.folder / "script.yaml").write_text(text)

    def argv(self, *flags: str) -> list[str]:
        fixed = ["--print", "--script", "script.yaml", "--state", "kept", "--log", str(self.log)]
        return [sys.executable, "-m", "matcore.scripted", *fixed, *flags]

    def play(self, message: str, *flags: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.argv(*flags), cwd=self.folder, input=message, capture_output=True, text=True, timeout=60, check=False
        )

    def logged(self, what: str) -> list[dict[str, Any]]:
        records = json_lines(self.log)
        return [record for record in records if record["what"] == what]


@pytest.fixture
def turns(tmp_path: Path) -> Turns:
    return Turns(tmp_path)


def test_the_answer_goes_to_stdout_and_all_else_to_stderr(turns: Turns) -> None:
    """So that a caller reads the answer alone."""
    turns.script("default: [{run: echo from the shell}, {print: 'got {{fromRequest:\\w+$}}'}]")
    done = turns.play("some message")
    assert (done.returncode, done.stdout) == (0, "got message\n")
    assert "from the shell" in done.stderr
    assert turns.logged("submitted")[0]["text"] == "some message"


def test_a_session_is_kept_over_turns(turns: Turns) -> None:
    """Rules stay used, turns are counted on; ids that are in use or unknown are refused with 1."""
    turns.script("rules: [{when: a, once: true, steps: [{print: first}]}]\ndefault: [{print: 'turn {{turn}}'}]")
    assert turns.play("a", "--session-id", "s-1").stdout == "first\n"
    assert turns.play("a", "--resume", "s-1").stdout == "turn 2\n"
    assert turns.play("a", "--resume", "s-2").returncode == 1
    again = turns.play("a", "--session-id", "s-1")
    assert again.returncode == 1
    assert "already in use" in again.stderr


def test_json_is_one_object(turns: Turns) -> None:
    """With the outcome, for a driver to read."""
    turns.script("rules: [{when: bad, steps: [{error: model error 529}]}]\ndefault: [{print: ok}]")
    good = turns.play("x", "--json", "--session-id", "s-1")
    assert json.loads(good.stdout) == {
        "type": "result",
        "is_error": False,
        "outcome": "done",
        "error": None,
        "result": "ok",
        "session_id": "s-1",
        "turn": 1,
    }
    bad = turns.play("bad", "--json", "--resume", "s-1")
    assert bad.returncode == 1
    told = json.loads(bad.stdout)
    assert (told["is_error"], told["outcome"], told["error"]) == (True, "error", "model error 529")


def test_an_error_may_exit_0(turns: Turns) -> None:
    """Some programs do: `error_exit: 0`."""
    turns.script("error_exit: 0\ndefault: [{error: x}]")
    assert turns.play("x").returncode == 0


def test_a_permission_is_denied_and_other_dialogs_fail(turns: Turns) -> None:
    """Nobody is there to answer."""
    turns.script(
        "rules: [{when: menu, steps: [{dialog: {kind: menu}}]}]\n"
        "default: [{ask: {permission: touch granted, denied: [{print: denied}]}}]"
    )
    assert turns.play("x").stdout == "denied\n"
    assert not (turns.folder / "granted").exists()
    failed = turns.play("menu")
    assert failed.returncode == 1
    assert "nobody can answer a dialog here: Select a model:" in failed.stderr


def test_limits_hold_over_turns(turns: Turns) -> None:
    """A full context stays full in its session, and only there."""
    turns.script("rules: [{when: fill, steps: [{exhaust: true}]}]\ndefault: [{print: ok}]")
    assert turns.play("fill", "--session-id", "s-1").returncode == 1
    assert "Context window full" in turns.play("x", "--resume", "s-1").stderr
    assert turns.play("x", "--session-id", "s-2").stdout == "ok\n"


@pytest.mark.parametrize(
    ("step", "code"), [("exit: 4", 4), ("crash: {code: 3}", 3), ("crash: {signal: KILL}", -signal.SIGKILL)]
)
def test_it_ends_as_the_script_says(step: str, code: int, turns: Turns) -> None:
    """In good order or not."""
    turns.script(f"default: [{{{step}}}]")
    assert turns.play("x").returncode == code


def test_hooks_are_run_before_it_ends(turns: Turns) -> None:
    """In order, with the outcome."""
    turns.script("default: [{print: ok}]")
    turns.play("x", "--hooks", "sh -c 'cat >> told; echo >> told' {event}")
    told = json_lines(turns.folder / "told")
    assert [each["event"] for each in told] == ["prompt-submitted", "turn-started", "turn-ended"]
    assert told[-1]["outcome"] == "done"


@pytest.mark.parametrize("step", ["run: sleep 60 & echo $! > child; wait", "hang: true", "work: 60"])
def test_a_termination_ends_it_with_its_children(step: str, turns: Turns) -> None:
    """Whatever it is doing."""
    turns.script(f"default: [{{run: touch started}}, {{{step}}}]")
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(turns.argv(), cwd=turns.folder, stdin=quiet, stdout=quiet, stderr=quiet)
    child = turns.folder / "child"
    awaited = child if "child" in step else turns.folder / "started"
    wait_for(lambda: awaited.exists() and (awaited != child or child.read_text()))
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 128 + signal.SIGTERM
    if child.exists():
        pid = int(child.read_text())
        wait_for(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie")


@pytest.mark.parametrize(
    ("text", "flags", "sentence"),
    [
        ("queue: x\nscreen: y", (), "script.yaml: screen: needs one of"),
        ("", ("--hooks", "mat 'hook"), "No closing quotation"),
        ("", ("--prompt", "nowhere.md"), "nowhere.md"),
    ],
)
def test_wrong_usage_exits_2(text: str, flags: tuple[str, ...], sentence: str, turns: Turns) -> None:
    """Before anything is played, with every fault."""
    turns.script(text)
    done = turns.play("x", *flags)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_terminal_it_says_what_to_do(turns: Turns) -> None:
    """And exits 2."""
    turns.script("")
    argv = [sys.executable, "-m", "matcore.scripted", "--script", "script.yaml"]
    done = subprocess.run(argv, cwd=turns.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Use --print" in done.stderr


def test_the_role_prompt_is_read(turns: Turns) -> None:
    """Its digest is in the log; role and session come from the environment."""
    turns.script("default: [{print: '{{role}}'}]")
    (turns.folder / "prompt.md").write_text("You are dev.")
    env = {**os.environ, "MAT_ROLE": "dev", "MAT_DIR": str(turns.folder / "duo"), "MAT_SCRIPTED_LOG": str(turns.log)}
    argv = [sys.executable, "-m", "matcore.scripted", "--print", "--script", "script.yaml", "--prompt", "prompt.md"]
    done = subprocess.run(argv, cwd=turns.folder, env=env, input="x", capture_output=True, text=True, check=True)
    assert done.stdout == "dev\n"
    assert len(turns.logged("start")[0]["prompt_sha256"]) == 64
    assert len(list((turns.folder / "duo" / "scripted").glob("*.json"))) == 1
