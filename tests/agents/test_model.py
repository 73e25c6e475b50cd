"""The scripted model: what its rules answer, what its log holds, and the dialects that agent programs speak."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.lab import REPOSITORY
from tests.agents.model import ModelServer, arrivals, requests, submissions
from tests.agents.script import Script, sha
from tests.waiting import wait_for

BASH = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": BASH}}]
RULES = [
    {
        "name": "review",
        "system": "You are (?P<role>review)",
        "user": r"\[relay (?P<relay>r-\d+) from (?P<peer>\w+)\]",
        "times": 1,
        "say": "{{role}} reads {{relay}}.",
        "run": "send-relay {{peer}} REVIEW.md && printf 'a\\n'",
    },
    {"name": "sent", "result": r"^sent (r-\d+) to (\w+)", "say": "{{1}} went to {{2}}; {{3}} is no group."},
    {"name": "broken", "user": "break", "status": 500},
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ModelServer]:
    with ModelServer(tmp_path / "model.log", Script.of(RULES)) as server:
        yield server


def post(port: int, path: str, body: dict[str, Any]) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("POST", path, json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def chat(port: int, *messages: tuple[str, str], system: str = "") -> dict[str, Any]:
    said = [{"role": role, "content": text} for role, text in (("system", system), *messages)]
    status, text = post(port, "/v1/chat/completions", {"model": "m", "messages": said, "tools": TOOLS})
    assert status == 200, text
    message: dict[str, Any] = json.loads(text)["choices"][0]["message"]
    return message


def command(message: dict[str, Any]) -> str:
    return str(json.loads(message["tool_calls"][0]["function"]["arguments"])["command"])


def test_a_rule_answers_with_the_groups_that_its_expressions_found(server: ModelServer) -> None:
    """Named groups of the system prompt and the message fill both the text and the command; backslashes stay."""
    message = chat(server.port, ("user", "[relay r-000012 from dev]\nRead it."), system="You are review.")
    assert message["content"] == "review reads r-000012."
    assert command(message) == "send-relay dev REVIEW.md && printf 'a\\n'"


def test_a_rule_for_results_answers_a_tool_and_never_a_message(server: ModelServer) -> None:
    """`result` looks at the last tool result; what is no group stays as it is written."""
    message = chat(server.port, ("user", "go"), ("tool", "sent r-000013 to dev (#13)"))
    assert message["content"] == "r-000013 went to dev; {{3}} is no group."
    assert chat(server.port, ("user", "sent r-000013 to dev"))["content"].startswith("OK chars=20")


def test_a_rule_answers_no_more_often_than_it_says(server: ModelServer) -> None:
    """After `times` answers the request falls through to the next rule, here to the echo."""
    for expected in ("review reads r-1.", "OK chars=22"):
        content = chat(server.port, ("user", "[relay r-1 from dev] x"), system="You are review.")["content"]
        assert content.startswith(expected)


def test_a_rule_can_answer_with_an_error(server: ModelServer) -> None:
    """`status` is the HTTP status of the answer, with an error object that programs understand."""
    body = {"messages": [{"role": "user", "content": "break"}], "tools": TOOLS}
    status, text = post(server.port, "/v1/chat/completions", body)
    assert (status, json.loads(text)["error"]["message"]) == (500, "scripted error 500")


def test_a_request_without_tools_meets_no_rule(server: ModelServer) -> None:
    """A program that summarises a conversation quotes it: no rule may take that for the message itself."""
    body = {"messages": [{"role": "user", "content": "Summarise: break"}]}
    status, text = post(server.port, "/v1/chat/completions", body)
    assert (status, json.loads(text)["choices"][0]["message"]["content"]) == (200, "Scripted summary.")


def test_the_log_counts_how_often_a_text_arrived(server: ModelServer) -> None:
    """A text that was submitted twice stands twice in one conversation; being sent along again counts for nothing."""
    for _ in range(2):
        chat(server.port, ("user", "hello"), ("user", "other"), system="one")
    chat(server.port, ("user", "hello"), ("user", "hello"), system="two")
    log = requests(server.log.path)
    assert [user["sha"] for user in log[0]["users"]] == [sha("hello"), sha("other")]
    assert [arrivals(log, "^hello$", system=system) for system in ("one", "two", "")] == [1, 2, 2]


def test_submissions_are_summed_over_conversations(server: ModelServer) -> None:
    """Two roles that were told once each were told twice; a request that only grew longer is no second telling."""
    chat(server.port, ("user", "I am dev"), ("user", "nudge"))
    chat(server.port, ("user", "I am dev"), ("user", "nudge"), ("user", "go on"))
    chat(server.port, ("user", "I am review"), ("user", "nudge"))
    assert submissions(requests(server.log.path), "^nudge$") == 2


def test_markers_need_no_rule(server: ModelServer) -> None:
    """A marker in the message runs a command, and the result comes back as text."""
    assert command(chat(server.port, ("user", "SCRIPT:tool[ls [a-z]*]"))) == "ls [a-z]*"
    message = chat(server.port, ("user", "SCRIPT:tool[ls]"), ("tool", "a b"))
    assert message["content"] == "TOOL-DONE result: a b"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "SCRIPT:tool[ls]"}], "tools": TOOLS}),
        ("/v1/responses", {"input": "SCRIPT:tool[ls]", "tools": [{"name": "shell", "parameters": BASH}]}),
        (
            "/v1/messages",
            {
                "messages": [{"role": "user", "content": "SCRIPT:tool[ls]"}],
                "tools": [{"name": "Bash", "input_schema": BASH}],
            },
        ),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_each_dialect_carries_text_and_a_shell_call(
    server: ModelServer, path: str, body: dict[str, Any], stream: bool
) -> None:
    """The three dialects say the same, streamed or whole."""
    status, text = post(server.port, path, {**body, "model": "m", "stream": stream})
    assert status == 200
    assert "Running it. " in text
    assert '\\"command\\": \\"ls\\"' in text or '"command": "ls"' in text


def test_a_cut_connection_is_no_answer(server: ModelServer) -> None:
    """`SCRIPT:dropnow` ends the connection before the first byte."""
    body = {"messages": [{"role": "user", "content": "SCRIPT:dropnow"}], "tools": TOOLS}
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        post(server.port, "/v1/chat/completions", body)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({}, "is a list of rules"),
        (["x"], "rule 1 is not a mapping"),
        ([{"sey": "x"}], "rule 1 has unknown keys: sey"),
        ([{}, {"user": "("}], "rule 2: user is not a regular expression"),
    ],
)
def test_a_wrong_reply_script_is_refused(rules: object, words: str) -> None:
    """The error names the rule and the key."""
    with pytest.raises(ValueError, match=words):
        Script.of(rules)


def test_a_reply_script_may_be_yaml(tmp_path: Path) -> None:
    """Both spellings give the same rules."""
    path = tmp_path / "replies.yaml"
    path.write_text("- user: hello\n  say: yes\n- times: 2\n", encoding="utf-8")
    assert [rule.name for rule in Script.load(path).rules] == ["1", "2"]


def test_the_server_prints_the_port_that_it_got(tmp_path: Path) -> None:
    """Run by its path with port 0, from any folder, it answers on the port that it printed."""
    path = REPOSITORY / "tests" / "agents" / "model.py"
    argv = [sys.executable, str(path), "0", str(tmp_path / "log")]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            assert chat(port, ("user", "SCRIPT:text"))["content"] == "Scripted answer: TEXT-DONE."
            wait_for(lambda: requests(tmp_path / "log"), what="the request in the log")
        finally:
            process.terminate()
