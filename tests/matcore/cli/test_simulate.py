"""`mat simulate`: scenarios in virtual time, printed or compared, with readable faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from matcore.cli.main import run
from matcore.errors import BadConfig, Refused

Write = Callable[..., str]
Lines = Callable[..., list[dict[str, object]]]
STALL = """
name: a stall
config: {window: 600, roles: [dev, review]}
facts:
  - {at: 0, fact: cycle.opened, cycle: c1}
  - {at: 0, fact: role.idle, role: dev}
  - {at: 0, fact: role.idle, role: review}
until: 1200
"""
HOLDS = """
expect:
  - {at: 600, event: episode.opened}
  - {at: 600, event: nudge, rung: 1, ok: true}
  - {at: 1200.0, event: nudge, rung: 2, redelivers: null}
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(text: str, name: str = "one.yaml") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return put


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    """What `mat simulate FILE...` prints, one object a line."""

    def simulate(*files: str) -> list[dict[str, object]]:
        code = run(["simulate", *files])
        out, err = capsys.readouterr()
        assert code == 0, err
        return [json.loads(line) for line in out.splitlines()]

    return simulate


def test_it_prints_each_decision(write: Write, lines: Lines) -> None:
    """One JSON object a line, effects with their outcome."""
    assert lines(write(STALL))[:2] == [
        {"at": 0.0 + 600, "event": "episode.opened", "episode": 1, "owed": None, "relay": None},
        {"at": 600.0, "event": "nudge", "episode": 1, "rung": 1, "role": "dev", "redelivers": None, "ok": True},
    ]


def test_with_several_files_each_line_names_its_own(write: Write, lines: Lines) -> None:
    """`file` is there only then."""
    one, two = write(STALL), write(STALL, "two.yaml")
    assert [line["file"] for line in lines(one, two)] == [one] * 3 + [two] * 3


def test_check_holds(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 0 when each object has the values that it names, in number and order."""
    assert run(["simulate", "--check", write(STALL + HOLDS)]) == 0
    assert "1 of 1 scenarios hold" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        (HOLDS.replace("rung: 2", "rung: 3"), "rung: expected 3, decided 2"),
        (HOLDS + "  - {at: 1300, event: notify}\n", "decided      nothing more"),
        ("\nexpect: []\n", "expected     nothing more"),
        (HOLDS.replace("1200.0", "1201"), "at: expected 1201, decided 1200.0"),
    ],
)
def test_check_differs(write: Write, capsys: pytest.CaptureFixture[str], expect: str, words: str) -> None:
    """Exit 1 with what was expected and what was decided."""
    assert run(["simulate", "--check", write(STALL + expect)]) == Refused.exit_code
    assert words in capsys.readouterr().out


def test_effects_fail_as_the_file_says(write: Write, lines: Lines) -> None:
    """By effect, role and time; a role that is not the effect's leaves it alone."""
    fails = (
        "fail: [{effect: nudge, role: dev, from: 0, to: 1200, detail: unconfirmed},"
        " {effect: notify, role: dev, from: 0, to: 99999}]"
    )
    text = STALL.replace("until: 1200", "until: 2400") + fails
    decided = [(line["at"], line["event"], line["ok"]) for line in lines(write(text)) if "ok" in line]
    assert decided == [(600, "nudge", False), (1200, "nudge", True), (1800, "nudge", True), (2400, "notify", True)]


def test_facts_and_deadlines_at_the_end_are_included(write: Write, lines: Lines) -> None:
    """What comes after it is not."""
    text = STALL.replace("until: 1200", "until: 600")
    assert [line["event"] for line in lines(write(text))] == ["episode.opened", "nudge"]
    text = text.replace("until: 600", "  - {at: 600, fact: role.busy, role: dev}\nuntil: 600")
    assert lines(write(text)) == []
    text = text.replace("{at: 600,", "{at: 601,")
    assert [line["event"] for line in lines(write(text))] == ["episode.opened", "nudge"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("facts: [", "is no YAML"),
        ("- 1", "(top): must be a mapping"),
        ("until: 3", "config: must be a mapping with roles"),
        (STALL + "untl: 3", "(top).untl: is no key here"),
        (STALL.replace("until: 1200", ""), "until: must be a number of seconds, not None"),
        (STALL.replace("window: 600", "windows: 600"), "config.windows: is no key here"),
        (STALL.replace("window: 600", "window: soon"), "config: session.configured: `policy` window must be a number"),
        (STALL.replace("role.idle, role: dev", "role.idle, rle: dev"), "facts[1]: role.idle needs `role`"),
        (STALL.replace("role.idle, role: dev", "role.sleepy"), "facts[1]: there is no fact 'role.sleepy'"),
        (STALL.replace("{at: 0, fact: cycle", "{at: 9, fact: cycle"), "facts[1].at: 0 is earlier"),
        (STALL + "fail: 3", "fail: must be a list"),
        (STALL + "fail: [3]", "fail[0]: must be a mapping, not 3"),
        (STALL + "fail: [{effect: nap, from: 0, to: 1}]", "fail[0].effect: must be one of nudge, notify"),
        (STALL + "fail: [{effect: nudge, from: x, to: 1}]", "fail[0].from: must be a number"),
        (STALL + "fail: [{effect: nudge, from: 0, to: 1, role: 3}]", "fail[0].role: must be a text, not 3"),
    ],
)
def test_a_malformed_scenario(write: Write, capsys: pytest.CaptureFixture[str], text: str, fault: str) -> None:
    """Exit 2, with the file and the path of the key."""
    file = write(text)
    assert run(["simulate", file]) == BadConfig.exit_code
    said = capsys.readouterr().err
    assert file in said
    assert fault in said


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2 and its name."""
    assert run(["simulate", "/nowhere/at/all.yaml"]) == BadConfig.exit_code
    assert "/nowhere/at/all.yaml" in capsys.readouterr().err


def test_check_needs_an_expectation(write: Write) -> None:
    """A file without `expect` can't hold."""
    assert run(["simulate", "--check", write(STALL)]) == BadConfig.exit_code


@pytest.mark.parametrize(
    ("content", "said"), [(None, "can't be read: No such file or directory\n"), (b"\xff", "it is no text in UTF-8\n")]
)
def test_a_file_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, said: str
) -> None:
    """Exit 2 and one sentence for people."""
    if content is not None:
        (tmp_path / "one.yaml").write_bytes(content)
    assert run(["simulate", str(tmp_path / "one.yaml")]) == BadConfig.exit_code
    err = capsys.readouterr().err
    assert err.endswith(said)
    assert "Errno" not in err
