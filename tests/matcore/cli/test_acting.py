"""Commands that do something, where no supervisor is needed to see what they do."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from matcore.cli import common, cycle, down, restart
from matcore.engine import guard, heartbeat
from matcore.engine.config import load, to_json
from matcore.places import StatePlaces
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import Told, supervised
from tmuxdriver.driver import TmuxDriver


def spooled(state: StatePlaces) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((state.spool / "new").glob("*.json"))]


@pytest.mark.parametrize(
    ("words", "record"),
    [
        (("pause", "duo"), {"fact": "human.paused"}),
        (("pause", "duo", "--for", "2h"), {"fact": "human.paused", "for_s": 7200.0}),
        (("resume", "duo"), {"fact": "human.resumed"}),
        (("cycle", "open", "--session", "duo", "--goal", "more"), {"fact": "cycle.opened", "goal": "more"}),
        (("cycle", "complete", "--session", "duo"), {"fact": "cycle.completed", "cycle": "c1"}),
        (("cycle", "blocked", "--session", "duo", "--reason", "x"), {"fact": "cycle.blocked", "reason": "x"}),
    ],
)
def test_what_is_said_waits_for_a_supervisor(
    mat: Mat, tell: Tell, state: StatePlaces, words: tuple[str, ...], record: dict[str, Any]
) -> None:
    """Exit 0: it is noted, and the answer says that nobody takes it up yet."""
    tell().working()
    code, out, err = mat(*words)
    assert code == 0, err
    assert "supervisor" in out
    [said] = spooled(state)
    assert record.items() <= said.items()
    assert said["session"] == "duo"


@pytest.mark.parametrize("age_s", [0.5, 60.0])
@pytest.mark.parametrize("words", [("resume", "duo"), ("pause", "duo")])
def test_what_a_supervisor_does_not_take_up_waits_for_it(
    mat: Mat, tell: Tell, state: StatePlaces, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], age_s: float
) -> None:
    """One that runs and does not answer is not to be started: `mat doctor` says what is wrong with it."""
    tell().working()
    monkeypatch.setattr(common, "TAKE_UP_S", 0.1)
    with supervised(state, "duo", age_s=age_s):
        code, out, err = mat(*words)
    assert code == 0, err
    assert "noted; a supervisor runs and has not taken it up yet, see: mat doctor" in out
    assert "mat supervise" not in out


def test_a_goal_is_said_to_whoever_has_to_begin(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """The role that holds the baton, else the first one, else the one that is named; told on stdout as data."""
    tell("owed").working()
    tell("done").working().fact("cycle.completed", cycle="c1", by="human")
    for session, more, told in (
        ("owed", (), "review"),
        ("done", (), "dev"),
        ("owed", ("--to", "dev"), "dev"),
        ("done", ("--to", "review"), "review"),
    ):
        code, out, err = mat("cycle", "open", "--session", session, "--goal", "more", *more)
        assert code == 0, err
        said = {"event": "cycle.opened", "by": "human", "goal": "more", "told": told, "waits_for": "supervisor"}
        assert json.loads(out) == said | ({"replaced": "c1"} if session == "owed" else {})
        assert spooled(state)[-1]["tell"] == told


def test_without_a_goal_nobody_is_told_and_that_is_said(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """On stderr, with the command that says it; stdout stays one JSON object, asked for or not."""
    tell().working()
    code, out, err = mat("cycle", "open", "--session", "duo", "--json")
    assert code == 0
    said = {"event": "cycle.opened", "by": "human", "replaced": "c1", "waits_for": "supervisor"}
    assert json.loads(out) == said
    assert "nobody is told what to do; say it: mat send duo review TEXT" in err
    assert "tell" not in spooled(state)[-1]


@pytest.mark.parametrize(("is_open", "supervisor"), [(True, True), (True, False), (False, True)])
def test_the_cycle_that_an_opening_replaces_is_named(
    mat: Mat, tell: Tell, monkeypatch: pytest.MonkeyPatch, is_open: bool, supervisor: bool
) -> None:
    """Both as data and in words, with the new one where it is there already; where none was open nothing is said."""
    session = tell().working()
    if not is_open:
        session.fact("cycle.completed", cycle="c1", by="human")

    def take_up(_state: StatePlaces, record: dict[str, Any]) -> bool:
        if supervisor:
            session.fact("cycle.opened", cycle="c2", goal=record["goal"], by="human")
        return supervisor

    monkeypatch.setattr(cycle, "say", take_up)
    code, out, err = mat("cycle", "open", "--session", "duo", "--goal", "more")
    assert code == 0
    said = json.loads(out)
    assert said.get("replaced") == ("c1" if is_open else None)
    assert said.get("cycle") == ("c2" if supervisor else None)
    assert ("c1 was replaced by c2" in err) == (is_open and supervisor)
    assert ("c1 is replaced as soon as this is taken up" in err) == (is_open and not supervisor)
    assert err or not is_open


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--goal", " "), 2, "--goal is empty"),
        (("--to", "dev"), 2, "say the goal: --goal TEXT"),
        (("--to", "nobody", "--goal", "x"), 1, "its roles: dev, review"),
    ],
)
def test_a_cycle_that_is_not_opened(
    mat: Mat, tell: Tell, state: StatePlaces, words: tuple[str, ...], code: int, said: str
) -> None:
    """Nothing is in the spool then."""
    tell().working()
    got, out, err = mat("cycle", "open", "--session", "duo", *words)
    assert (got, out) == (code, "")
    assert said in err
    assert not state.spool.exists()


def test_a_duration_that_is_none_changes_nothing(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Exit 2, and nothing is in the spool."""
    tell().working()
    assert mat("pause", "duo", "--for", "a while")[0] == 2
    assert not state.spool.exists()


@pytest.mark.parametrize(
    ("before", "paused"),
    [
        (lambda told: told, False),
        (lambda told: told.fact("human.paused"), True),
        (lambda told: told.fact("human.paused").fact("human.resumed", 5), False),
        (lambda told: told.fact("human.paused", until=told.now + 7200), True),
        (lambda told: told.fact("human.paused", until=told.now + 60), False),  # told an hour ago
    ],
)
def test_whether_it_was_paused_is_said(mat: Mat, tell: Tell, before: Callable[[Told], Told], paused: bool) -> None:
    """By `pause` and `resume`, in words and as a key; a pause that named its end is over by itself."""
    before(tell().working())
    words = "duo goes on" if paused else "duo was not paused; it counts as your act"
    assert words in mat("resume", "duo")[1]
    assert json.loads(mat("resume", "duo", "--json")[1])["was_paused"] is paused
    words = "duo was paused already; it is now paused for 2h" if paused else "duo is paused for 2h"
    assert words in mat("pause", "duo", "--for", "2h")[1]
    assert json.loads(mat("pause", "duo", "--json")[1])["was_paused"] is paused


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("a-1", "a-1", "dev was restarted and goes on in its agent session a-1"),
        ("a-1", "a-2", "dev was restarted in a new agent session a-2, for there was nothing to resume"),
        (None, None, "dev was restarted in a new agent session, for there was nothing to resume"),
    ],
)
def test_restart_says_whether_the_agent_session_goes_on(
    mat: Mat, tell: Tell, monkeypatch: pytest.MonkeyPatch, before: str | None, after: str | None, words: str
) -> None:
    """A new one knows nothing of the work, so it says how to tell it."""
    told = tell().working().note("engine.seat", role="dev", seat={"started": True, "agent_session": before})

    def started(_state: StatePlaces, record: dict[str, Any]) -> bool:
        assert record == {"session": "duo", "request": "restart", "role": "dev"}
        told.note("engine.seat", role="dev", seat={"started": True, "agent_session": after})
        return True

    monkeypatch.setattr(guard, "start", lambda _state: None)
    monkeypatch.setattr(restart, "say", started)
    code, out, err = mat("restart", "duo", "dev")
    assert code == 0, err
    assert words in out
    resumed = before is not None and before == after
    assert resumed == ("mat send duo dev TEXT" not in out)
    said = json.loads(mat("restart", "duo", "dev", "--json")[1])
    assert said == {
        "session": "duo",
        "role": "dev",
        "restarted": True,
        "resumed": after is not None,
        "agent_session": after,
    }


def test_down_refuses_while_a_turn_runs(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Exit 1, who is busy, and how to end it all the same; nothing is asked of the supervisor."""
    tell().working()
    code, out, err = mat("down", "duo")
    assert (code, out) == (1, "")
    assert "review is in the middle of a turn; wait, or: mat down duo --now" in err
    assert not state.spool.exists()


def test_a_supervisor_that_is_being_started_again_is_not_to_be_started(
    mat: Mat, tell: Tell, state: StatePlaces
) -> None:
    """While a guard lives, nobody has to do anything for what was said to be taken up."""
    tell().working()
    assert "no supervisor runs that could take it up, start one" in mat("pause", "duo")[1]
    lock = heartbeat.take_lock(state.guard_lock, "guard")
    try:
        out = mat("resume", "duo")[1]
        seen = [" ".join(mat(command, "duo")[1].replace("│", " ").split()) for command in ("status", "why")]
    finally:
        os.close(lock)
    assert "the supervisor has ended and is being started again, and takes it up then" in out
    assert "start one" not in out
    for each in seen:
        assert "until the supervisor has been started again, which its guard is about to do" in each
        assert "mat up" not in each


def test_nothing_can_be_done_to_an_ended_session(mat: Mat, tell: Tell) -> None:
    """Exit 1 and how to start it again, from wherever that is typed."""
    told = tell().working().ended()
    for words in (("down", "duo"), ("pause", "duo"), ("send", "duo", "dev", "x"), ("attach", "duo")):
        code, _, err = mat(*words)
        assert code == 1
        assert f"has ended; start it again: cd {told.state.root} && mat up" in err


def test_down_says_what_it_leaves_open(mat: Mat, tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    """The goal, what was sent and did not arrive, and how it goes on; for a script, too."""
    told = tell().working()
    told.fact("relay.sent", 60, id="r-000002", from_="human", to="review", kind="request", seq=2)
    monkeypatch.setattr(down, "down", lambda _state, _session: told.ended())
    out = mat("down", "duo", "--now")[1]
    assert "Left open: c1, TASK.md is done" in out
    assert "Not delivered: r-000002 from human to review" in out
    assert f"Start anew, with fresh agents: cd {told.state.root} && mat up" in out


def test_down_says_to_a_script_what_it_leaves_open(mat: Mat, tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their names; nothing where nothing is left."""
    told = tell().working().fact("cycle.completed", cycle="c1", by="review")
    monkeypatch.setattr(down, "down", lambda _state, _session: told.ended())
    printed = json.loads(mat("down", "duo", "--now", "--json")[1])
    assert printed == {"session": "duo", "ended": True, "cycle": None, "not_delivered": []}


def test_a_role_that_is_not_there(mat: Mat, tell: Tell) -> None:
    """Exit 1 and which there are."""
    tell().working()
    for words in (("send", "duo", "nobody", "x"), ("restart", "duo", "nobody"), ("attach", "duo", "nobody")):
        code, _, err = mat(*words)
        assert code == 1
        assert "its roles: dev, review" in err


def test_an_empty_message_is_not_sent(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Exit 1, `nothing sent`."""
    tell().working()
    code, _, err = mat("send", "duo", "dev", " \n")
    assert code == 1
    assert err.strip().endswith("nothing sent")
    assert not state.spool.exists()


def test_a_record_that_was_set_aside_is_a_refusal(mat: Mat, tell: Tell, state: StatePlaces) -> None:
    """Its reason is what the user reads."""
    tell().working()
    (state.spool / "aside").mkdir(parents=True)
    from matcore import spoolfile

    def take_up(folder: str, record: dict[str, Any]) -> str:
        assert folder == str(state.spool)
        assert record["fact"] == "human.resumed"
        (state.spool / "aside" / "1-abc.json.reason").write_text("not now\x1b[31m")
        return "abc"

    with pytest.MonkeyPatch.context() as patch, supervised(state, "duo"):
        patch.setattr(spoolfile, "write", take_up)
        code, _, err = mat("resume", "duo")
    assert code == 1
    assert "not now\\x1b[31m" in err


def test_attach_where_no_tmux_server_runs(mat: Mat, tell: Tell, tmp_path: Path) -> None:
    """Exit 3, and where to look."""
    tell(tmux={"socket": str(tmp_path / "s")}).working()
    code, out, err = mat("attach", "--print")
    assert (code, out) == (3, "")
    assert "Try `mat status`" in err


def test_attach_without_a_terminal(mat: Mat, tell: Tell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows need one: exit 2, with what to do instead, before anything is started. Logs are shown anywhere."""
    became: list[list[str]] = []
    monkeypatch.setattr(os, "execvp", lambda _program, argv: became.append(argv))
    monkeypatch.setattr(TmuxDriver, "attach", lambda *_: ["tmux", "attach-session"])
    tell("windows", tmux={"socket": str(tmp_path / "s")}).working()
    tell("turns", driver="baton").working()
    code, out, err = mat("attach", "windows")
    assert (code, out) == (2, "")
    assert "mat attach windows --print; what happens: mat log windows -f" in err
    assert mat("attach", "windows", "--print") == (0, "tmux attach-session\n", "")
    Path("duo.yaml").write_text("session: new\nroles: {dev: {backend: scripted}}\n")
    assert "the windows of new are shown on a terminal" in mat("up", "--attach")[2]
    assert not Path(".mat").exists()
    assert mat("attach", "turns")[0] == 0
    assert mat("attach", "turns", "dev", "-f")[0] == 0
    assert became[0][-2:] == ["dev", "review"]
    assert became[1][-2:] == ["dev", "--follow"]
    assert mat("attach", "turns", "--print", "-f")[1].endswith("dev review --follow\n")


def test_notify_says_what_came_back(mat: Mat) -> None:
    """Exit 0 when one channel took it, 1 when none did or none is named."""
    roles = "roles: {dev: {backend: scripted}}\n"
    Path("duo.yaml").write_text(roles + "notify: [{command: [cat]}, {command: ['false']}]\n")
    code, out, _ = mat("notify", "--test")
    assert code == 0
    assert "command cat: took it" in out
    assert "command false: FAILED" in out
    Path("duo.yaml").write_text(roles + "notify: [{command: ['false']}]\n")
    assert mat("notify", "--test")[0] == 1
    Path("duo.yaml").write_text(roles)
    code, _, err = mat("notify", "--test")
    assert code == 1
    assert "names no channel" in err


def test_a_test_of_channels_that_the_session_does_not_have_yet(
    mat: Mat, tell: Tell, state: StatePlaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs with those that it began with, and that is said beside the answers."""
    state.root.mkdir(parents=True)
    monkeypatch.chdir(state.root)
    file = Path("duo.yaml")
    file.write_text("session: duo\nroles: {dev: {backend: scripted}}\n")
    tell(**to_json(load(file, backends=["scripted"])))
    assert mat("notify", "--test")[2].startswith("mat: duo.yaml names no channel")
    file.write_text(file.read_text() + "notify: [{command: [cat]}]\n")
    code, out, err = mat("notify", "--test")
    assert code == 0
    assert "command cat: took it" in out
    assert err.startswith("WARNING: duo is up with other channels than duo.yaml has now")
    assert "mat down duo, then mat up" in err
