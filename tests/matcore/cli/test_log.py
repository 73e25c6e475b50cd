"""`mat log` and `mat episodes`: the journal, narrowed down."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from matcore.places import StatePlaces
from matcore.show.text import clock
from tests.matcore.cli.conftest import Mat, Tell
from tests.matcore.cli.told import WINDOW_S

MAT = str(Path(sys.executable).parent / "mat")


def entries(mat: Mat, *words: str) -> list[dict[str, Any]]:
    code, out, err = mat("log", *words, "--json")
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()]


def names(mat: Mat, *words: str) -> list[str]:
    return [each.get("fact") or each.get("event") or each["engine"] for each in entries(mat, *words)]


def test_one_line_an_entry_facts_and_decisions_told_apart(mat: Mat, tell: Tell) -> None:
    """Local time with offset, session, sign, name, and what it says."""
    told = tell(ago=3 * WINDOW_S)
    told.stalled()
    out = mat("log")[1].splitlines()
    assert len(out) == told.book.journal.last_seq
    [nudge] = [line for line in out if "▶ nudge" in line]
    assert nudge.endswith("duo ▶ nudge episode=1 rung=1 role=review redelivers=r-000001")
    assert sum(" · " in line for line in out) > sum(" ▶ " in line for line in out) > 0
    last = told.book.journal.last()
    assert last is not None
    assert out[-1].startswith(f"{clock(last.wall)} duo ")


def test_fixed_words_are_explained_to_people(mat: Mat, tell: Tell) -> None:
    """In brackets, behind what stands there; a script gets the words alone."""
    told = tell(ago=300).working()
    told.fact("relay.sent", id="r-000002", from_="human", to="dev", kind="request", seq=2)
    told.fact("relay.delivered", id="r-000002").fact("turn.ended", 5, role="dev", outcome="ok", evidence="hook")
    told.note("engine.inject", job="relay-2", kind="relay", role="dev", relay="r-000002", text="x", pointed=False)
    told.note("engine.inject", job="nudge-3", kind="nudge", role="dev", decision=77, text="y", pointed=False)
    out = mat("log")[1]
    assert "reason=signal_only status" not in out
    assert "reason=signal_only (nothing to answer)" in out
    assert "pointed" not in out
    assert "decision=77 (marked in the text as IDLE RECOVERY, by its episode and the number 77)" in out
    assert entries(mat, "--kind", "wake.closed")[0]["reason"] == "signal_only"
    assert entries(mat, "--kind", "engine.inject")[0]["pointed"] is False


def test_it_is_narrowed_down(mat: Mat, tell: Tell) -> None:
    """By number, kind, name, time and episode, and by several of them together."""
    told = tell(ago=10 * WINDOW_S)
    told.stalled()
    began = clock(told.now + 1)
    told.fact("relay.sent", 10, id="r-000002", from_="review", to="dev", kind="request", seq=2)
    told.fact("relay.delivered", 1, id="r-000002")
    assert len(entries(mat, "-n", "3")) == 3
    assert entries(mat, "-n", "0") == []
    assert set(names(mat, "--kind", "nudge")) == {"nudge"}
    assert {"event"} <= set(entries(mat, "--kind", "decision")[0])
    assert names(mat, "--kind", "engine", "--kind", "nudge") == ["engine.up", "nudge"]
    assert names(mat, "--since", began) == ["relay.sent", "episode.closed", "relay.delivered", "wake.opened"]
    episode = names(mat, "--episode", "1")
    assert (episode[0], episode[-1]) == ("episode.opened", "episode.closed")
    assert names(mat, "--episode", "1", "-n", "1") == ["episode.closed"]
    assert names(mat, "--episode", "1", "--kind", "fact", "--since", began) == ["relay.sent"]


def test_a_decision_says_what_became_of_it(mat: Mat, tell: Tell) -> None:
    """`ok` stands beside it, also when the outcome itself is not shown."""
    tell(ago=3 * WINDOW_S).stalled()
    [nudge] = entries(mat, "--kind", "nudge")
    assert nudge["ok"] is True


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--kind", "nuge"), 2, 'did you mean "nudge"?'),
        (("--episode", "7"), 1, "there is no episode 7"),
        (("--since", "whenever"), 2, "is no time"),
        (("-n", "9" * 20), 2, "is not in the range"),
        (("another",), 1, 'there is no session "another"'),
        (("dou",), 1, 'did you mean "duo"?'),
    ],
)
def test_what_is_not_there_is_refused(mat: Mat, tell: Tell, words: tuple[str, ...], code: int, said: str) -> None:
    """With the nearest thing that is."""
    tell().working()
    found, out, err = mat("log", *words)
    assert (found, out) == (code, "")
    assert said in err


def test_of_several_sessions_one_must_be_named(mat: Mat, tell: Tell) -> None:
    """Unless one alone has not ended."""
    tell("one").working()
    tell("two").working()
    code, _, err = mat("log")
    assert code == 2
    assert "one, two" in err
    tell("three").working().ended()
    assert mat("log")[0] == 2


def test_the_one_that_has_not_ended_need_not_be_named(mat: Mat, tell: Tell) -> None:
    """Put-aside ones of the same name are ended ones, too."""
    tell("one").working()
    tell("two").working().ended()
    tell("one@1").working().ended()
    assert mat("log", "-n", "1")[0] == 0


def test_following_shows_what_comes(tell: Tell, state: StatePlaces) -> None:
    """-f goes on after what is there; Ctrl-C ends it with exit code 0."""
    told = tell().working()
    env = {**os.environ, "XDG_STATE_HOME": str(state.root.parent)}
    with subprocess.Popen([MAT, "log", "-f", "-n", "1", "--json"], env=env, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert json.loads(run.stdout.readline())["fact"] == "role.busy"
        told.fact("role.idle", role="review")
        assert json.loads(run.stdout.readline())["fact"] == "role.idle"
        run.send_signal(2)
        assert run.wait(10) == 0


@pytest.mark.parametrize("words", [(), ("--kind", "nudge")])
def test_following_ends_with_the_session(tell: Tell, state: StatePlaces, words: tuple[str, ...]) -> None:
    """The end is shown where it is asked for, and said; a script that follows is not held up for ever."""
    told = tell().working()
    env = {**os.environ, "XDG_STATE_HOME": str(state.root.parent)}
    argv = [MAT, "log", "-f", *words]
    for _ in ("it ends meanwhile", "it has ended"):
        with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            if not told.book.ledger.ended:
                assert run.stdout is not None
                if not words:
                    run.stdout.readline()
                told.ended()
            out, err = run.communicate(timeout=20)
        assert (run.returncode, err) == (0, "duo has ended\n")
        assert ("engine.down" in out) == (not words)


@pytest.mark.parametrize("command", ["log", "status", "why", "episodes"])
def test_a_reader_that_leaves_early_is_no_fault(tell: Tell, state: StatePlaces, command: str) -> None:
    """`mat log | head`: exit code 0, and not a word on stderr."""
    told = tell()
    for number in range(400):
        told.fact("role.busy" if number % 2 else "role.idle", 1, role="dev")
    run = subprocess.Popen(
        [MAT, command], env={**os.environ, "XDG_STATE_HOME": str(state.root.parent)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert run.stdout is not None
    assert run.stderr is not None
    run.stdout.close()
    assert run.wait(20) == 0
    assert run.stderr.read() == b""
    run.stderr.close()


def test_episodes_are_rows(mat: Mat, tell: Tell) -> None:
    """Opened, owed, rungs, what closed it, how long; the newest N are read alone."""
    assert mat("episodes")[0] == 1
    told = tell(ago=20 * WINDOW_S)
    assert "no episode yet" in mat("episodes")[1]
    told.stalled(2)
    told.fact("relay.sent", 10, id="r-000002", from_="review", to="dev", kind="request", seq=2)
    told.fact("relay.delivered", id="r-000002")
    told.pass_time(WINDOW_S + 2)
    out = mat("episodes", "duo")[1]
    assert "review (r-000001)" in out
    assert "2 of 3" in out
    assert "handoff" in out
    assert "still open" in out
    rows = [json.loads(line) for line in mat("episodes", "--json")[1].splitlines()]
    assert [row["episode"] for row in rows] == [1, 2]
    assert rows[0]["by"] == "handoff"
    assert rows[0]["closed"] - rows[0]["opened"] == pytest.approx(WINDOW_S + 11)
    newest = [json.loads(line) for line in mat("episodes", "--json", "-n", "1")[1].splitlines()]
    assert newest == rows[1:]
    assert mat("episodes", "-n", "9" * 20)[0] == 2
