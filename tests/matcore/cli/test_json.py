"""docs/json.md against what the commands print: nothing undocumented, nothing that is never there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from matcore.cli import main
from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S, supervised

PAGE = Path(__file__).parents[3] / "docs" / "json.md"
SCENARIO = Path(__file__).parents[2] / "scenarios" / "01-stall-36h.yaml"
SNAPSHOT = "A session's snapshot"
OPEN = {"next.decision", "then.decision", "last_decision", "labels", "expected", "found"}
"""Objects whose keys are those of a decision, or free."""
_KEY = re.compile(r"`([a-z_.\[\]]+)`")


def documented(heading: str) -> set[str]:
    """The keys of a section's table."""
    section = re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    [text] = [part for part in section if part.startswith(heading + "\n")]
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return {key.removesuffix("[]") for cell in cells for key in _KEY.findall(cell)}


def done(command: str) -> set[str]:
    """The keys of a command that does something."""
    [row] = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `mat {command}` |")]
    return set(_KEY.findall(row.split("|")[2]))


def paths(value: Any, path: str = "") -> Iterator[str]:
    """`baton`, `baton.role`, `gates[].gate`: every key that stands there, but those below an open object."""
    if path in OPEN or path.endswith(("snapshot", "sessions[]", "supervisor.sessions")):
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            here = f"{path}.{key}" if path else key
            if not isinstance(inner, list) or not any(isinstance(each, dict) for each in inner):
                yield here
            yield from paths(inner, here)
    elif isinstance(value, list):
        for each in value:
            yield from paths(each, f"{path}[]")


def printed(mat: Mat, *words: str) -> list[Any]:
    return [json.loads(line) for line in mat(*words, "--json")[1].splitlines()]


@pytest.fixture
def world(tell: Tell, state: StatePlaces) -> Iterator[StatePlaces]:
    """Two sessions in which everything that a snapshot can hold is there, and one that has ended."""
    told = tell("full", ago=WINDOW_S + 100)
    told.stalled()
    told.fact("relay.sent", id="r-000002", from_="dev", to="review", kind="fyi", seq=2)
    told.fact("gate.raised", gate="copy-mode", role="dev")
    told.fact("question.asked", question="q-1", role="dev", text="which?")
    told.note("engine.telling", notice="n1", kind="notify-user", action=True, text="look")
    told.note("engine.told", notice="n1", ok=False, said="timeout")
    told.note("engine.trouble", what="folder", reason="Permission denied")
    between = tell("between", ago=60).working().fact("turn.ended", role="review", outcome="ok")
    between.fact("cycle.blocked", cycle="c1", by="human", reason="no key")
    between.fact("relay.sent", id="r-000003", from_="human", to="dev", kind="request", seq=3)
    between.fact("relay.delivered", id="r-000003").fact("turn.ended", role="dev", outcome="error")
    tell("old", ago=90 * 86_400).working().ended()
    with supervised(state, "full", "between"):
        yield state


@pytest.mark.usefixtures("world")
def test_snapshots(mat: Mat) -> None:
    """Every key of a snapshot, and of the supervisor beside it."""
    [seen] = printed(mat, "status")
    keys = {path for shot in seen["sessions"] for path in paths(shot)}
    supervisor = {f"supervisor.{key}" for key in seen["supervisor"]}
    empty = {key for key in keys if isinstance(seen["sessions"][0].get(key), list)}
    assert keys - supervisor - empty == documented(SNAPSHOT) - {"roles", "gates"}
    assert supervisor | {"sessions"} == documented("`mat status`")


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("why", ("full",)), ("episodes", ("full",)), ("verify", ("full",)), ("doctor", ()), ("metrics", ()),
        ("prune", ("--dry-run",)), ("explain", ()), ("simulate --check", (str(SCENARIO),)),
    ],
)  # fmt: skip
def test_what_is_shown(mat: Mat, command: str, words: tuple[str, ...]) -> None:
    """Every key, of every line."""
    lines = printed(mat, *command.split(), *words)
    assert lines
    for line in lines:
        assert {path for path in paths(line) if "." not in path} == documented(f"`mat {command}`")


@pytest.mark.usefixtures("world")
def test_the_log(mat: Mat) -> None:
    """The keys that each entry has, beside those of its fact or decision."""
    entries = printed(mat, "log", "full")
    names = {"fact", "event", "engine"}
    for entry in entries:
        assert documented("`mat log`") - names - {"ok"} <= set(entry)
        assert len(names & set(entry)) >= 1
    assert any("ok" in entry and "event" in entry for entry in entries)


def test_what_is_done(mat: Mat, tell: Tell) -> None:
    """Those that write into the spool, without a supervisor; and `mat init`."""
    tell().working()
    for command, words in {"pause": ("--for", "2h"), "resume": ()}.items():
        assert set(printed(mat, command, "duo", *words)[0]) == done(command)
    assert set(printed(mat, "init")[0]) == done("init")
    tell("turns", driver="baton").working()
    assert set(printed(mat, "attach", "turns", "--print")[0]) == done("attach --print")
    opened = printed(mat, "cycle", "open", "--session", "duo", "--goal", "x")[0]
    ended = printed(mat, "cycle", "complete", "--session", "duo", "--reason", "x")[0]
    assert {*opened, *ended} == done("cycle …")
    Path("duo.yaml").write_text("roles: {dev: {backend: scripted}}\nnotify: [{command: [cat]}]\n")
    assert set(printed(mat, "notify", "--test")[0]) == done("notify --test")


def test_a_plan(mat: Mat) -> None:
    """The keys of `mat up --dry-run`, which stand in a sentence."""
    Path("duo.yaml").write_text("roles: {dev: {backend: scripted}}\n")
    [line] = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("With `--dry-run`")]
    assert set(printed(mat, "up", "--dry-run")[0]) <= set(_KEY.findall(line)) <= {
        *printed(mat, "up", "--dry-run")[0], "env:", "notify:"
    }  # fmt: skip


def test_every_command_that_shows_something_has_json() -> None:
    """But for those that become another program, or whose words are an agent's."""
    without = {"wait", "hook", "supervise", "worker"}
    context = click.Context(main.mat)
    for name in main.mat.list_commands(context):
        command = main.mat.get_command(context, name)
        assert command is not None
        for each in command.commands.values() if isinstance(command, click.Group) else [command]:
            options = {option for parameter in each.params for option in parameter.opts}
            assert ("--json" in options) == (name not in without), name


@pytest.mark.parametrize("text", ["\x1b[31m", "\x9b31m", "\u202e", "\x00", "\ud800", "ünïcode", '"\\'])
def test_json_is_harmless_and_comes_back_whole(text: str) -> None:
    """What can't be printed is escaped, as JSON has it."""
    from matcore.show.text import json_line

    line = json_line({"text": text})
    assert line.isprintable()
    assert json.loads(line) == {"text": text}
