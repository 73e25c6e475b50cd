"""What the programs' real output says of a turn."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from baton import output, runtimes

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
    reading = output.read(runtimes.load(name, tmp_path), stdout, stderr, code)
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
    reading = output.read(runtime, "", text, 1)
    assert reading.error_class == "rate-limit"
    assert in_s is not None
    assert reading.until_s == pytest.approx(time.time() + in_s, abs=5)


def test_what_an_agent_said_is_no_error(tmp_path: Path) -> None:
    """A turn that succeeded is one, whatever its answer speaks of; a broken line of JSON is passed over."""
    runtime = runtimes.load("codex", tmp_path)
    said = json.dumps({"type": "item.completed", "item": {"type": "agent_message", "text": "429 rate limit"}})
    reading = output.read(runtime, f'{said}\n{{"type": "turn.fai\n{CODEX_OK}', "", 0)
    assert (reading.failed, reading.error_class) == (False, None)
