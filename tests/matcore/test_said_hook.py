"""`mat hook`: small records, whatever stdin is, and never a word or an error to the program that calls it."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import socket
import subprocess
import time
from pathlib import Path

import pytest

from matcore.said_hook import KEPT, MAX_BYTES, WAIT_S, boot_s, small
from tests.matcore.said_scene import ROOT, Scene

STOP = {"session_id": "abc", "hook_event_name": "Stop", "last_assistant_message": "secret", "transcript_path": "/t"}


def hook(scene: Scene, stdin: object, *words: str) -> tuple[int, bytes, float]:
    """Run the hook with a stdin of any kind. Returns its exit code, all that it printed, and its seconds."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("MAT_")}
    begun = time.monotonic()
    done = subprocess.run(
        scene.argv("mat", "hook", *(words or ("claude", "Stop"))),
        cwd=scene.work,
        env={**environ, "PYTHONPATH": str(ROOT), **scene.environ()},
        stdin=stdin,  # type: ignore[call-overload]
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stdout, time.monotonic() - begun


def test_a_hook_becomes_a_small_record(scene: Scene) -> None:
    """It goes to the supervisor's spool with the time since boot; no text of the conversation is kept."""
    before = boot_s()
    assert scene.run("mat", "hook", "claude", "Stop", stdin=json.dumps(STOP).encode()) == (0, "", "")
    (record,) = scene.said("hook", "human")
    expected = {"session": "s1", "role": "dev", "backend": "claude", "event": "Stop"}
    assert {key: record[key] for key in expected} == expected
    assert before <= float(str(record["boot_s"])) <= boot_s()
    assert record["data"] == {"session_id": "abc", "hook_event_name": "Stop"}


def test_programs_that_say_it_in_argv_are_heard_too(scene: Scene) -> None:
    """A third word is the JSON."""
    said = json.dumps({"type": "agent-turn-complete", "turn-id": "t1", "input-messages": ["x"]})
    assert scene.run("mat", "hook", "codex", "notify", said)[0] == 0
    (record,) = scene.said("hook", "human")
    assert record["data"] == {"type": "agent-turn-complete", "turn-id": "t1"}


def test_stdin_may_be_a_socket(scene: Scene) -> None:
    """Some programs give their hooks one end of a socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(json.dumps(STOP).encode())
        ours.shutdown(socket.SHUT_WR)
        assert hook(scene, theirs)[:2] == (0, b"")
    assert scene.said("hook", "human")[0]["data"] == {"session_id": "abc", "hook_event_name": "Stop"}


def test_stdin_may_never_end(scene: Scene) -> None:
    """A pipe that stays open is read for a second and no longer; what came is used."""
    read, write = os.pipe()
    try:
        os.write(write, json.dumps(STOP).encode())
        code, said, took_s = hook(scene, read)
    finally:
        os.close(read)
        os.close(write)
    assert (code, said) == (0, b"")
    assert took_s >= WAIT_S
    assert scene.said("hook", "human")[0]["data"] == {"session_id": "abc", "hook_event_name": "Stop"}


def test_stdin_may_be_a_terminal(scene: Scene) -> None:
    """Nobody is asked to type."""
    ours, theirs = pty.openpty()
    try:
        assert hook(scene, theirs)[:2] == (0, b"")
    finally:
        os.close(ours)
        os.close(theirs)
    assert scene.said("hook", "human")[0]["data"] == {}


def test_stdin_may_be_closed(scene: Scene) -> None:
    """A program without a stdin is no error."""
    argv = scene.argv("mat", "hook", "claude", "Stop")
    environ = {**os.environ, "PYTHONPATH": str(ROOT), **scene.environ()}
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *argv], env=environ, capture_output=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(scene.said("hook", "human")) == 1


@pytest.mark.parametrize("stdin", [b"", b"garbage", b"[1]", b"\xff\xfe", b"[" * 100_000])
def test_garbage_is_an_event_without_data(stdin: bytes, scene: Scene) -> None:
    """That the hook fired is worth knowing even when what it said is not."""
    assert scene.run("mat", "hook", "claude", "Stop", stdin=stdin) == (0, "", "")
    assert [record["data"] for record in scene.said("hook", "human")] == [{}]


def test_more_than_is_read_gives_what_is_certain(scene: Scene) -> None:
    """Fields before the cut are kept, one inside of a text is not taken for one, and the writer is not cut off."""
    quoted = json.dumps('"turn_id": "false"')
    data = b'{"session_id": "abc", "prompt": ' + quoted[:-1].encode() + b"x" * (2 * MAX_BYTES) + b'"}'
    assert scene.run("mat", "hook", "claude", "UserPromptSubmit", stdin=data) == (0, "", "")
    assert scene.said("hook", "human")[0]["data"] == {"session_id": "abc", "cut": True}


def test_a_prompt_is_known_by_its_digest(scene: Scene) -> None:
    """Of a prompt the first line is kept, with length and digest of the whole."""
    prompt = "[relay r-000001 from dev]\nRead /x.md\n"
    scene.run("mat", "hook", "claude", "UserPromptSubmit", stdin=json.dumps({"prompt": prompt}).encode())
    assert scene.said("hook", "human")[0]["data"] == {
        "prompt": "[relay r-000001 from dev]",
        "prompt_sha256": hashlib.sha256(prompt.encode()).hexdigest(),
        "prompt_length": len(prompt),
    }


def test_fields_are_few_and_short() -> None:
    """Strings are cut, numbers and flags kept, an error's message taken out of its object, all else dropped."""
    data = {
        "message": "m" * 500,
        "error": {"type": "overloaded", "message": "try later", "body": "b" * 999},
        "reason": ["x"],
        "source": 3,
        "trigger": True,
        "tool_input": {"command": "secret"},
    }
    assert small(json.dumps(data).encode()) == {
        "message": "m" * 200,
        "error": "try later",
        "source": 3,
        "trigger": True,
    }
    assert {"prompt", "last_assistant_message", "transcript_path", "tool_input"} & set(KEPT) == set()


@pytest.mark.parametrize("environ", [{}, {"MAT_SESSION": "s1", "MAT_ROLE": "dev"}])
def test_outside_of_a_session_a_hook_does_nothing(environ: dict[str, str], scene: Scene) -> None:
    """A program started by hand in the same folder is none of ours."""
    assert scene.run("mat", "hook", "claude", "Stop", environ=environ) == (0, "", "")
    assert scene.said("hook", "human") == []


def test_a_hook_that_can_t_write_is_silent(scene: Scene) -> None:
    """The program that runs it sees no error."""
    scene.state.spool.write_text("no folder")
    assert scene.run("mat", "hook", "claude", "Stop") == (0, "", "")
    assert scene.run("mat", "hook") == (0, "", "")


def test_without_session_json_the_environment_says_where(scene: Scene, tmp_path: Path) -> None:
    """The user's state folder is found by `$XDG_STATE_HOME`, as the supervisor finds it."""
    scene.places.about.unlink()
    environ = {**scene.environ(), "XDG_STATE_HOME": str(tmp_path / "state")}
    assert scene.run("mat", "hook", "claude", "Stop", environ=environ) == (0, "", "")
    assert len(scene.said("hook", "human")) == 1
