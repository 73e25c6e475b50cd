"""The command lines of the shipped profiles, and what the programs' real output says of a turn."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from baton import runtimes
from baton.runtimes import Asked, Headless
from matcore.errors import BadConfig, Unavailable

PROGRAMS = ("claude", "codex", "opencode", "pi", "scripted")
# What was printed, as it was recorded; shortened where nothing is read.
CLAUDE_429 = (
    '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"num_turns":1,'
    '"result":"API Error: Request rejected (429) · scripted error 429","session_id":"S","total_cost_usd":0,'
    '"usage":{"input_tokens":0,"output_tokens":0}}'
)
CLAUDE_OK = (
    '{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"S",'
    '"total_cost_usd":0.00525,"usage":{"input_tokens":1000,"cache_creation_input_tokens":0,'
    '"cache_read_input_tokens":5,"output_tokens":10}}'
)
CODEX_START = (
    '{"type":"thread.started","thread_id":"T"}\n'
    '{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found."}}\n'
)
CODEX_OK = CODEX_START + '{"type":"turn.completed","usage":{"input_tokens":1000,"output_tokens":10}}\n'
CODEX_429 = (
    CODEX_START + '{"type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests"}\n'
    '{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}\n'
)
OPENCODE_OK = (
    '{"type":"step_start","sessionID":"ses_1","part":{}}\n'
    '{"type":"step_finish","sessionID":"ses_1","part":{"tokens":{"total":1010},"cost":0}}\n'
)
OPENCODE_400 = (
    '{"type":"error","sessionID":"ses_1","error":{"name":"APIError","data":{"message":"scripted error 400",'
    '"statusCode":400}}}\n'
)


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """A folder on PATH in which every program is there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in (*PROGRAMS, "send-relay"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o700)
    return folder


def asked(tmp_path: Path, **changes: Any) -> Asked:
    values: dict[str, Any] = {
        "session_id": "S1", "opened": False, "prompt_file": tmp_path / "prompt.md",
        "mat_dir": tmp_path / ".mat" / "duo", "dir": tmp_path, "path": str(tmp_path / "bin"),
    }  # fmt: skip
    return Asked(**{**values, **changes})


def profile(**keys: Any) -> Headless:
    return Headless(**{"fresh": ("claude",), "resume": ("claude",), **keys})


@pytest.mark.usefixtures("bin_folder")
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_shipped_program_opens_and_resumes(name: str, tmp_path: Path) -> None:
    """By absolute path; the session is named where the program takes an id; text never goes into argv."""
    runtime = runtimes.load(name, tmp_path)
    fresh = runtimes.argv(runtime, asked(tmp_path, args=["--model", "{x}"]))
    resume = runtimes.argv(runtime, asked(tmp_path, opened=True))
    assert Path(fresh[0]).is_absolute()
    assert fresh[fresh.index("--model") + 1] == "{x}", "the user's words are taken as they are"
    assert any("S1" in word for word in fresh) == runtime.takes_id
    assert any("S1" in word for word in resume)
    assert runtime.by_stdin
    assert not [word for word in fresh + resume if word.startswith("{") and word != "{x}"]


@pytest.mark.usefixtures("bin_folder")
def test_what_opencode_is_told_by_a_variable_is_filled_in(tmp_path: Path) -> None:
    """The role's prompt and the permission for our own commands, as configuration that is added to the user's."""
    config = json.loads(runtimes.env(runtimes.load("opencode", tmp_path), asked(tmp_path))["OPENCODE_CONFIG_CONTENT"])
    assert config["instructions"] == [str(tmp_path / "prompt.md")]
    allowed = config["agent"]["build"]["permission"]["bash"]
    assert {f"{tmp_path}/bin/send-relay *", "mat cycle *"} < set(allowed)


@pytest.mark.usefixtures("bin_folder")
def test_claude_may_run_our_own_commands_and_nothing_else(tmp_path: Path) -> None:
    """By their bare names, and by the absolute path that the texts may name."""
    words = runtimes.argv(runtimes.load("claude", tmp_path), asked(tmp_path))
    allowed = [word for word in words if word.startswith("Bash(")]
    for command in ("send-relay", "notify-user", "mat cycle", "mat wait"):
        assert f"Bash({command}:*)" in allowed
        assert f"Bash({tmp_path}/bin/{command}:*)" in allowed
    assert len(allowed) == 8


@pytest.mark.usefixtures("bin_folder")
def test_permissions_and_a_folder_apart_are_words_of_the_profile(tmp_path: Path) -> None:
    """codex: a sandbox that may write by default, the session's folder where the role works elsewhere."""
    other = tmp_path / "other"
    other.mkdir()
    runtime = runtimes.load("codex", tmp_path)
    line = " ".join(runtimes.argv(runtime, asked(tmp_path, dir=other)))
    assert "--sandbox workspace-write" in line
    assert f"--add-dir {tmp_path}/.mat/duo" in line
    line = " ".join(runtimes.argv(runtime, asked(tmp_path, permissions="read-only")))
    assert "--sandbox read-only" in line
    assert "--add-dir" not in line
    with pytest.raises(BadConfig, match="can't be given a second folder"):
        runtimes.argv(profile(confined=True), asked(tmp_path, dir=other))
    with pytest.raises(BadConfig, match="there are default, read-only, full-access"):
        runtimes.argv(runtime, asked(tmp_path, permissions="everything"))
    with pytest.raises(Unavailable, match="no-such is not on PATH"):
        runtimes.argv(profile(fresh=("no-such",)), asked(tmp_path))


@pytest.mark.usefixtures("bin_folder")
def test_a_program_that_reads_no_stdin_gets_an_argument_or_a_file(tmp_path: Path) -> None:
    """As its profile says."""
    runtime = profile(fresh=("claude", "--message", "{text}"))
    assert not runtime.by_stdin
    assert runtimes.argv(runtime, asked(tmp_path, text="{dir} hello"))[-1] == "{dir} hello"
    runtime = profile(fresh=("claude", "--file={text_file}"))
    assert not runtime.by_stdin
    assert runtimes.argv(runtime, asked(tmp_path, text_file=Path("/t.txt")))[-1] == "--file=/t.txt"


@pytest.mark.parametrize(
    ("name", "stdout", "stderr", "code", "expected"),
    [
        ("claude", CLAUDE_OK, "", 0, {"session_id": "S", "failed": False, "tokens": 1015, "cost": 0.00525}),
        ("claude", CLAUDE_429, "", 1, {"error_class": "rate-limit", "session_id": "S", "until_s": None}),
        ("claude", CLAUDE_429, "", 0, {"failed": True}),
        ("claude", CLAUDE_429.replace("(429)", "529 Overloaded").replace("429", "529"), "", 1,
         {"error_class": "overloaded"}),
        ("claude", CLAUDE_429.replace("Request rejected (429)", "401 x").replace("429", "401"), "", 1,
         {"error_class": "auth"}),
        ("claude", CLAUDE_429.replace("Request rejected (429)", "Prompt is too long"), "", 1,
         {"error_class": "context-full"}),
        ("claude", "", "No conversation found with session ID: X", 1,
         {"error_class": "session-lost", "error": "No conversation found with session ID: X", "session_id": None}),
        ("codex", CODEX_OK, "", 0, {"session_id": "T", "failed": False, "tokens": 1010, "error": None}),
        ("codex", CODEX_429, "", 1, {"session_id": "T", "error_class": "rate-limit",
         "error": "exceeded retry limit, last status: 429 Too Many Requests"}),
        ("codex", CODEX_429, "", 0, {"failed": True}),
        ("codex", "", "Error: thread/resume failed: no rollout found for thread id 0", 1,
         {"error_class": "session-lost"}),
        ("opencode", OPENCODE_OK, "", 0, {"session_id": "ses_1", "tokens": 1010, "failed": False}),
        ("opencode", OPENCODE_400, "", 0, {"failed": True, "error": "scripted error 400", "error_class": "error"}),
        ("opencode", "", "\x1b[91mError: \x1b[0mSession not found", 1, {"error_class": "session-lost"}),
        ("pi", "Scripted answer.\n", "", 0, {"failed": False, "error": None, "error_class": None}),
        ("pi", "", "429 scripted error 429", 1, {"error_class": "rate-limit", "error": "429 scripted error 429"}),
        ("pi", "half an ans", "", -9, {"error_class": "crash"}),
        ("pi", "", "", 137, {"error_class": "crash", "error": "exit code 137"}),
        ("pi", "", "", None, {"failed": True}),
    ],
)  # fmt: skip
def test_what_a_turn_printed_is_read(
    name: str, stdout: str, stderr: str, code: int | None, expected: dict[str, Any], tmp_path: Path
) -> None:
    """Session, outcome, error and its class, tokens and cost; the exit code is not trusted alone."""
    reading = runtimes.read(runtimes.load(name, tmp_path), stdout, stderr, code)
    assert {key: getattr(reading, key) for key in expected} == expected


@pytest.mark.parametrize(
    ("name", "text", "in_s"),
    [("codex", "You've hit your usage limit. Try again in 2 hours 5 minutes.", 7500), ("claude", "at {}", None)],
)
def test_a_rate_limit_says_when_it_ends(name: str, text: str, in_s: float | None, tmp_path: Path) -> None:
    """As a time of the wall clock."""
    runtime = runtimes.load(name, tmp_path)
    if name == "claude":
        text, in_s = f"Claude AI usage limit reached|{int(time.time()) + 600}", 600
    reading = runtimes.read(runtime, "", text, 1)
    assert reading.error_class == "rate-limit"
    assert in_s is not None
    assert reading.until_s == pytest.approx(time.time() + in_s, abs=5)


def test_what_an_agent_said_is_no_error(tmp_path: Path) -> None:
    """A turn that succeeded is one, whatever its answer speaks of; a broken line of JSON is passed over."""
    runtime = runtimes.load("codex", tmp_path)
    said = json.dumps({"type": "item.completed", "item": {"type": "agent_message", "text": "429 rate limit"}})
    reading = runtimes.read(runtime, f'{said}\n{{"type": "turn.fai\n{CODEX_OK}', "", 0)
    assert (reading.failed, reading.error_class) == (False, None)


@pytest.mark.parametrize(
    ("headless", "fault"),
    [
        ({"fresh": ["x"]}, "resume"),
        ({"fresh": ["x"], "resume": ["x"], "clases": {}}, "clases"),
        ({"fresh": ["x"], "resume": ["x"], "classes": {"tired": "x"}}, r"classes\.tired: there is no such class"),
        ({"fresh": ["x"], "resume": ["x"], "classes": {"auth": "("}}, "auth is not a regular expression"),
        (None, "has no `headless:`"),
    ],
)
def test_a_broken_profile_is_refused_with_its_key(headless: object, fault: str, tmp_path: Path) -> None:
    """Before anything is started."""
    folder = tmp_path / ".mat" / "agents" / "backends"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(json.dumps({"name": "mine", "headless": headless}))
    with pytest.raises(BadConfig, match=fault):
        runtimes.load("mine", tmp_path)
    with pytest.raises(BadConfig, match='no backend "other"'):
        runtimes.load("other", tmp_path)
    (folder / "mine.yaml").write_text("{")
    with pytest.raises(BadConfig, match=r"mine\.yaml"):
        runtimes.load("mine", tmp_path)
