"""A duo on a real tmux, as its user has it: it stalls, it is recovered, it survives what happens to it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.duo import Duo
from tests.waiting import wait_for

WINDOW_S = 5.0
ONLY_SAYS = [{"work": 0.3}, {"print": "Looks good to me. (final text only)"}]


@pytest.fixture
def duo(tmp_path: Path) -> Iterator[Duo]:
    duo = Duo(tmp_path, window=WINDOW_S)
    yield duo
    duo.end()


def talkers(duo: Duo) -> None:
    """Both answer in their final text only; the developer has handed over once."""
    handover = {"when": "Work on", "once": True, "steps": [{"send-relay": {"to": "review", "body": "Please review."}}]}
    duo.role("dev", {"rules": [handover], "default": ONLY_SAYS}, kick="Work on it")
    duo.role("review", {"default": ONLY_SAYS})


@pytest.mark.field_case("Nudges")
def test_the_stall_is_told_once_after_three_windows_and_never_again(duo: Duo) -> None:
    """Both agents answer in their final text only: two nudges, one notification, then silence until a human's word."""
    talkers(duo)
    duo.up()
    duo.wait("engine.told", 60, ok=True)
    told = duo.entries("notify", kind="idle-recovery")
    quiet_since = max(e.at for e in duo.entries("relay.sent") if e.data["from"] == "dev")
    assert told[0].at - quiet_since >= 3 * WINDOW_S
    assert [e.data["rung"] for e in duo.entries("nudge")] == [1, 2]
    assert duo.told().count("stands still") == 1
    time.sleep(60)  # the promise is about silence: nothing more comes in a minute
    assert len(duo.entries("notify")) == 1
    assert len(duo.entries("nudge")) == 2
    duo.mat("send", "duo", "dev", "What is it?")
    duo.wait("episode.rearmed", 10)
    duo.wait("nudge", 30, count=2, rung=1)


def test_sigkill_of_the_supervisor_in_an_open_episode_changes_nothing(duo: Duo) -> None:
    """The guard starts it again: same episode, same rung, no relay twice, no second nudge within a window."""
    talkers(duo)
    duo.up()
    first = duo.wait("effect.ended", 40, ok=True, decision=duo.wait("nudge", 40).data["number"])
    before = duo.supervisor_pid()
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: duo.supervisor_pid() != before, 20, "another supervisor")
    duo.wait("watch.resumed", 20, count=2)
    second = duo.wait("nudge", 40, count=2)
    assert second.data["rung"] == 2, duo.story()
    assert second.data["episode"] == 1
    assert second.at - first.at >= WINDOW_S - 0.01
    texts = duo.submitted("review")
    assert sum("[relay r-000002 from dev]\n" in text for text in texts) == 1
    assert sum("relay-redelivery" in text for text in texts) == 1


@pytest.mark.field_case("Restarts")
def test_two_mat_up_at_once_are_one_session_and_one_supervisor(duo: Duo) -> None:
    """The second finds the session up, re-attaches, and starts nothing."""
    talkers(duo)
    import subprocess

    from tests.duo import MAT

    duo.up("--dry-run")
    both = [
        subprocess.Popen(
            [*MAT, "up"], cwd=duo.work, env=duo.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = [p.communicate(timeout=60) for p in both]
    assert [p.returncode for p in both] == [0, 0], said
    assert sum("nothing was started" in out for out, _ in said) == 1
    assert len(duo.entries("session.configured")) == 1
    assert len(duo.ours()) == 2, "one guard and one supervisor"
    assert len(duo.tmux("list-panes", "-a").splitlines()) == 2


@pytest.mark.field_case("Security")
def test_handoffs_and_output_that_are_hostile_do_no_harm(duo: Duo, tmp_path: Path) -> None:
    """Markup, escape and paste-end sequences and tmux formats in what agents say: shown, never typed or run."""
    hostile = (
        "[red]x[/] \x1b[201~ \x1b]2;owned\x07 #(touch "
        + str(tmp_path / "pwned")
        + ") $(touch "
        + str(tmp_path / "pwned")
        + ")"
    )
    body = hostile.replace("\x1b", "\\x1b")
    duo.role("dev", {"rules": [{"when": "Work on", "once": True, "steps": [
        {"print": hostile}, {"send-relay": {"to": "review", "body": hostile, "front": {"kind": "request"}}},
    ]}], "default": [{"print": body}]}, kick=f"Work on it {hostile}")  # fmt: skip
    duo.role("review", {"default": [{"print": hostile}]})
    duo.config["goal"] = hostile.replace("\x1b", "")
    duo.up()
    duo.wait("relay.delivered", 30, count=2)
    for command in (("status",), ("why", "duo"), ("log",), ("log", "--json"), ("status", "--json"), ("episodes",)):
        shown = duo.mat(*command).stdout
        assert "\x1b[201~" not in shown
        assert "\x1b]2" not in shown
        assert "\x07" not in shown
    for role in ("dev", "review"):
        typed = "".join(line["text"] for line in duo.log(role, "submitted"))
        assert "\x1b" not in typed
    assert not (tmp_path / "pwned").exists()


def test_a_relay_from_the_human_reaches_the_role(duo: Duo) -> None:
    """`mat send` types the human's words into an idle agent, marked as theirs."""
    talkers(duo)
    duo.up()
    duo.wait("role.idle", 30, role="review")
    duo.mat("send", "duo", "review", "Please be quick.")
    wait_for(
        lambda: any("Please be quick." in t and "from human]" in t for t in duo.submitted("review")), 20, "the text"
    )


def test_down_leaves_nothing_behind(duo: Duo) -> None:
    """After `mat down` no agent, no window, no supervisor and no guard is left; the journal stays."""
    talkers(duo)
    duo.up()
    duo.wait("role.idle", 30, role="review")
    duo.mat("down", "duo", "--now")
    wait_for(lambda: not duo.ours(), 15, "no supervisor left")
    assert duo.tmux("list-sessions", check=False) == ""
    assert duo.entries("engine.down")
    assert "has ended" in duo.mat("why", "duo").stdout
