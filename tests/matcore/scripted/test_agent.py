"""How the program behaves at its keys: submitting, queueing, dialogs, interrupts, traps included."""

from __future__ import annotations

from pathlib import Path

import pytest

from matcore.scripted.keys import Paste
from tests.matcore.scripted.acted import Acted

WORK = "rules: [{when: slow, steps: [{work: 5}, {print: finished}]}]\n"
ASK = """default:
  - ask: {permission: touch granted, then: [{print: did it}], denied: [{print: did not}]}
  - print: after
"""


def test_a_message_is_typed_and_submitted_once(tmp_path: Path) -> None:
    """Enter takes the draft, the transcript shows it, the default steps answer."""
    acted = Acted("default: [{print: 'for {{role}} in turn {{turn}} of {{session}}'}]", tmp_path)
    acted.press("hello", "<enter>", "<enter>")
    assert acted.submitted() == [("hello", "turn")]
    assert "you: hello\nanswer: for dev in turn 1 of s-1" in acted.transcript
    assert acted.endings() == [("done", None)]
    assert "> \x1b[2mAsk me" in acted.screen


def test_a_blank_draft_is_not_submitted(tmp_path: Path) -> None:
    """Enter in an empty composer does nothing."""
    acted = Acted("", tmp_path)
    acted.press("<enter>", "  ", "<enter>")
    assert acted.submitted() == []


def test_an_enter_right_after_a_paste_is_swallowed(tmp_path: Path) -> None:
    """The text stays in the composer; a later Enter submits it, whole and once."""
    acted = Acted("swallow_enter_ms: 150", tmp_path)
    acted.press(Paste("pasted"), "<enter>")
    assert acted.submitted() == []
    assert "> pasted" in acted.screen
    acted.wait(0.2)
    acted.press("<enter>")
    assert acted.submitted() == [("pasted", "turn")]
    assert [record["draft"] for record in acted.logged("swallowed-enter")] == ["pasted"]


def test_a_paste_is_merged_with_a_draft(tmp_path: Path) -> None:
    """As in real agents: whoever pastes without looking submits both."""
    acted = Acted("", tmp_path)
    acted.press("do not mer")
    acted.say("[relay r-000001]")
    assert acted.submitted() == [("do not mer[relay r-000001]", "turn")]


def test_a_collapsed_paste_is_submitted_whole(tmp_path: Path) -> None:
    """The composer shows its label only."""
    acted = Acted("", tmp_path)
    text = "line\n" * 13
    acted.press(Paste(text))
    assert "[Pasted text #1 +13 lines]" in acted.screen
    acted.wait(0.2)
    acted.press("<enter>")
    assert acted.submitted() == [(text, "turn")]


def test_work_is_busy_for_its_time(tmp_path: Path) -> None:
    """The seconds are counted; afterwards it is idle and the answer stands there."""
    acted = Acted(WORK, tmp_path)
    acted.press("slow", "<enter>")
    acted.wait(3.2)
    assert "Working (3s - esc to interrupt)" in acted.screen
    acted.wait(2)
    assert not acted.busy
    assert "answer: finished\nnote: Worked for 5s" in acted.transcript


def test_a_gap_looks_idle_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    """For 200 ms there is no mark at all, and the turn has not ended."""
    acted = Acted("default: [{work: 3, gaps: [[1.0, 0.2]]}]", tmp_path)
    acted.press("go", "<enter>")
    seen = []
    for _ in range(32):
        seen.append(acted.busy)
        acted.wait(0.1)
    assert seen[:10] == [True] * 10
    assert seen.count(False) in (3, 4)  # the gap, and the end
    assert not any(seen[-1:])
    assert len(acted.endings()) == 1


def test_messages_wait_while_busy(tmp_path: Path) -> None:
    """`queue: after`: each becomes a turn of its own, in order."""
    acted = Acted(WORK, tmp_path)
    acted.press("slow", "<enter>", "second", "<enter>", "third", "<enter>")
    assert "Queued: second" in acted.screen
    acted.wait(6)
    assert [text for text, _ in acted.submitted()] == ["slow", "second", "third"]
    assert [how for _, how in acted.submitted()] == ["turn", "queued", "queued"]
    assert len(acted.endings()) == 3
    assert acted.transcript.index("you: second") > acted.transcript.index("answer: finished")


def test_a_message_may_steer(tmp_path: Path) -> None:
    """`queue: steer`: it takes over the turn at once, which ends once."""
    acted = Acted("queue: steer\n" + WORK, tmp_path)
    acted.press("slow", "<enter>")
    acted.wait(1)
    acted.press("rather this", "<enter>")
    acted.wait(0.1)
    assert not acted.busy
    assert "finished" not in acted.transcript
    assert acted.submitted()[1] == ("rather this", "steered")
    assert [event for event, _ in acted.hooks.fired].count("turn-ended") == 1
    assert [event for event, _ in acted.hooks.fired].count("prompt-submitted") == 2


def test_steering_waits_for_a_command(tmp_path: Path) -> None:
    """A command that runs is finished first, then the new message is answered instead."""
    run = f"until [ -e {tmp_path}/go ]; do sleep 0.01; done; echo ran"
    acted = Acted(f"queue: steer\nrules: [{{when: slow, steps: [{{run: '{run}'}}, {{print: never}}]}}]", tmp_path)
    acted.press("slow", "<enter>", "rather this", "<enter>")
    acted.wait(1)
    assert acted.busy
    (tmp_path / "go").touch()
    acted.until_idle()
    assert [record["output"] for record in acted.logged("ran")] == ["ran\n"]
    assert "never" not in acted.transcript
    assert "no rule for that" in acted.transcript


def test_a_message_may_be_lost(tmp_path: Path) -> None:
    """`queue: lose`: the composer empties and nothing ever comes of it."""
    acted = Acted("queue: lose\n" + WORK, tmp_path)
    acted.press("slow", "<enter>", "second", "<enter>")
    acted.wait(6)
    assert acted.submitted() == [("slow", "turn"), ("second", "lost")]
    assert "second" not in acted.transcript + acted.screen


def test_a_draft_survives_the_end_of_a_turn(tmp_path: Path) -> None:
    """What a human types while it is busy stays."""
    acted = Acted(WORK, tmp_path)
    acted.press("slow", "<enter>", "half a sen")
    acted.wait(6)
    assert "> half a sen" in acted.screen


def test_escape_interrupts_and_no_hook_tells(tmp_path: Path) -> None:
    """As with real agents the turn's end stays untold, unless the script says otherwise."""
    acted = Acted(WORK, tmp_path)
    acted.press("slow", "<enter>")
    acted.wait(1)
    acted.press("<escape>")
    assert not acted.busy
    assert acted.endings() == [("interrupted", "Interrupted by the user")]
    assert "turn-ended" not in [event for event, _ in acted.hooks.fired]
    told = Acted("silent_endings: []\n" + WORK, tmp_path)
    told.press("slow", "<enter>", "<escape>")
    assert told.hooks.fired[-1][0] == "turn-ended"
    assert told.hooks.fired[-1][1]["outcome"] == "interrupted"


def test_ctrl_c_twice_leaves(tmp_path: Path) -> None:
    """The first one clears and warns for two seconds."""
    acted = Acted("", tmp_path)
    acted.press("draft", "<ctrl-c>")
    assert acted.pane.leave is None
    assert "Press Ctrl-C again to exit" in acted.screen
    acted.wait(2.1)
    assert "? for shortcuts" in acted.screen
    assert acted.agent.wait_s() is None
    acted.press("<ctrl-c>", "<ctrl-c>")
    assert acted.pane.leave == 0


@pytest.mark.parametrize("word", ["/exit", "/quit"])
def test_a_command_leaves(word: str, tmp_path: Path) -> None:
    """In good order."""
    acted = Acted("", tmp_path)
    acted.press(word, "<enter>")
    assert acted.pane.leave == 0


def test_an_unknown_command_stays_in_the_composer(tmp_path: Path) -> None:
    """It is glued to what is pasted next."""
    acted = Acted("", tmp_path)
    acted.press("/frob x", "<enter>")
    assert acted.submitted() == []
    assert "error: Unrecognized command /frob" in acted.transcript
    assert "> /frob x" in acted.screen


def test_an_exclamation_mark_runs_a_command_and_asks_nobody(tmp_path: Path) -> None:
    """That is why no delivered text may start with one; it is no turn."""
    acted = Acted(ASK, tmp_path)
    acted.say("!echo $((6*7))")
    acted.until_idle()
    assert acted.submitted() == [("!echo $((6*7))", "shell")]
    assert "tool: Ran echo $((6*7))\n└ 42" in acted.transcript
    assert acted.endings() == []
    assert [event for event, _ in acted.hooks.fired] == ["session-start"]


def test_a_dialog_drops_a_paste_and_enter_approves(tmp_path: Path) -> None:
    """The trap of all real agents."""
    acted = Acted(ASK, tmp_path)
    acted.press("go", "<enter>")
    assert "Would you like to run this command?" in acted.screen
    acted.press(Paste("a relay"), "letters", "<enter>")
    assert "answer: did it\nanswer: after" in acted.transcript
    assert acted.submitted() == [("go", "turn")]
    assert [record.get("text") for record in acted.logged("discarded")] == ["a relay", "letters"]
    assert acted.logged("answered")[0]["option"] == 1


@pytest.mark.parametrize(
    "keys", [("3",), ("<escape>",), ("<ctrl-c>",), ("<down>", "<down>", "<down>", "<enter>"), ("no 3",)]
)
def test_a_permission_can_be_denied(keys: tuple[str, ...], tmp_path: Path) -> None:
    """By digit, by Escape, by moving the mark; then the turn goes on."""
    acted = Acted(ASK, tmp_path)
    acted.press("go", "<enter>", *keys)
    assert "answer: did not\nanswer: after" in acted.transcript


def test_a_permission_runs_its_command_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Granted it really runs, denied the turn ends."""
    monkeypatch.chdir(tmp_path)
    script = "default: [{ask: {permission: touch granted}}, {print: after}]"
    acted = Acted(script, tmp_path)
    acted.press("go", "<enter>", "3")
    assert "answer: after" not in acted.transcript
    assert acted.endings() == [("done", None)]
    acted.press("go", "<enter>", "<up>", "2")
    acted.until_idle()
    assert (tmp_path / "granted").exists()
    assert "answer: after" in acted.transcript


def test_a_start_may_ask_for_trust(tmp_path: Path) -> None:
    """Before the first composer; accepted it starts, declined it leaves with 1."""
    acted = Acted("start: trust", tmp_path)
    assert "Do you trust the files in this folder?" in acted.screen
    acted.press(Paste("lost"), "<enter>")
    assert "> \x1b[2mAsk me" in acted.screen
    assert [event for event, _ in acted.hooks.fired] == ["session-start"]
    declined = Acted("start: trust", tmp_path)
    declined.press("2")
    assert declined.pane.leave == 1


def test_a_start_may_be_black_and_then_deaf(tmp_path: Path) -> None:
    """First nothing is painted, then a composer that loses what is typed, then it hears."""
    acted = Acted("start_delay_s: 2\nstart_deaf_s: 1", tmp_path)
    assert acted.agent.view(acted.now) is None
    acted.press("black")
    acted.wait(2.5)
    assert "Ask me" in acted.screen
    acted.press("deaf", "<enter>")
    acted.wait(1)
    acted.press("heard", "<enter>")
    assert acted.submitted() == [("heard", "turn")]
    assert len(acted.logged("discarded")) == 3


def test_rules_are_tried_in_order_within_their_budget(tmp_path: Path) -> None:
    """The first one that matches and is not used up."""
    acted = Acted(
        "rules: [{when: a, once: true, steps: [{print: first}]}, {when: 'a|b', times: 2, steps: [{print: second}]}]\n"
        "default: [{print: third}]",
        tmp_path,
    )
    for text in ("b", "a", "a", "a"):
        acted.press(text, "<enter>")
    answers = [block.text for block in acted.pane.blocks if block.kind == "answer"]
    assert answers == ["second", "first", "second", "third"]


def test_a_template_fault_ends_the_turn_and_says_so(tmp_path: Path) -> None:
    """In the transcript, in the log, for the hooks."""
    acted = Acted("default: [{print: '{{fromRequest:r-\\d{6}}}'}, {print: after}]", tmp_path)
    acted.press("no number", "<enter>")
    assert "error: script error: {{fromRequest:r-\\d{6}}} finds nothing in the message" in acted.transcript
    assert "after" not in acted.transcript
    assert acted.endings()[0][0] == "error"
    assert acted.hooks.fired[-1][1]["outcome"] == "error"


def test_hooks_are_told_of_a_turn(tmp_path: Path) -> None:
    """Submission, start, permission, compaction and end, each with who and what."""
    acted = Acted(
        "default: [{compact: true}, {ask: {permission: ls -l, then: []}}, {error: model error 529}]", tmp_path
    )
    acted.press("go", "<enter>")
    acted.wait(1)
    acted.press("1")
    assert [event for event, _ in acted.hooks.fired] == [
        "session-start",
        "prompt-submitted",
        "turn-started",
        "compaction",
        "permission-asked",
        "turn-ended",
    ]
    for event, facts in acted.hooks.fired[1:]:
        assert (facts["session_id"], facts["role"], facts["turn"], facts["prompt"]) == ("s-1", "dev", 1, "go"), event
    assert acted.hooks.fired[4][1]["command"] == "ls -l"
    assert acted.hooks.fired[5][1]["outcome"] == "error"
    assert acted.hooks.fired[5][1]["error"] == "model error 529"
    assert "error: model error 529" in acted.transcript


def test_a_rate_limit_refuses_turns_until_its_end(tmp_path: Path) -> None:
    """With the same notice each time; afterwards it works again."""
    acted = Acted("rules: [{when: limit, steps: [{rate-limited: {until_s: 60}}]}]", tmp_path)
    acted.press("limit", "<enter>")
    acted.press("again", "<enter>")
    acted.wait(1)
    assert acted.transcript.count("error: Usage limit reached, resets at ") == 2
    assert [outcome for outcome, _ in acted.endings()] == ["rate-limited"] * 2
    acted.wait(60)
    acted.press("again", "<enter>")
    assert acted.endings()[-1] == ("done", None)


def test_a_full_context_fails_every_further_turn(tmp_path: Path) -> None:
    """Until it is started afresh."""
    acted = Acted("rules: [{when: fill, steps: [{exhaust: true}]}]", tmp_path)
    acted.press("fill", "<enter>", "more", "<enter>")
    acted.wait(1)
    assert acted.endings() == [("exhausted", "Context window full")] * 2


def test_a_step_may_leave_a_human_draft(tmp_path: Path) -> None:
    """It stays in the composer after the turn."""
    acted = Acted("default: [{draft: do not mer}]", tmp_path)
    acted.press("go", "<enter>")
    assert "> do not mer" in acted.screen


def test_exit_and_hang_stop_everything(tmp_path: Path) -> None:
    """After `exit` the program is to leave; after `hang` it hears nothing more and its turn never ends."""
    acted = Acted("rules: [{when: leave, steps: [{exit: 4}]}]\ndefault: [{hang: true}]", tmp_path)
    acted.press("stay", "<enter>")
    acted.wait(1)
    assert acted.pane.hung
    acted.press("leave", "<enter>")
    assert acted.endings() == []
    left = Acted("default: [{exit: 4}]", tmp_path)
    left.press("go", "<enter>")
    assert left.pane.leave == 4


def test_a_relay_is_written_and_really_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file with its front matter, and the command as an agent would type it."""
    monkeypatch.chdir(tmp_path)
    tool = tmp_path / "bin" / "send-relay"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\necho "sent r-000012 to $1 (#12)"; cat "$2"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    acted = Acted(
        "default:\n  - send-relay: {to: review, file: 'out/{{turn}}.md', body: 'See {{fromRequest:r-\\d+}}.',"
        " front: {issue: 12, seen: '{{fromRequest:r-\\d+}}'}}\n  - print: 'exit {{exit}}'",
        tmp_path,
    )
    acted.press("[relay r-7 from review]", "<enter>")
    acted.until_idle()
    assert (tmp_path / "out/1.md").read_text() == "---\nissue: 12\nseen: r-7\n---\nSee r-7.\n"
    assert "tool: Ran send-relay review out/1.md\n└ sent r-000012 to review (#12)" in acted.transcript
    assert "answer: exit 0" in acted.transcript


def test_a_file_that_cannot_be_written_ends_the_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an error, not as a traceback."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    acted = Acted("default: [{send-relay: {file: taken/x.md, body: b}}]", tmp_path)
    acted.press("go", "<enter>")
    assert acted.endings()[0][0] == "error"


def test_an_interrupt_ends_the_command(tmp_path: Path) -> None:
    """And all that it started."""
    acted = Acted("default: [{run: 'sleep 60 & sleep 60'}]", tmp_path)
    acted.press("go", "<enter>")
    assert acted.busy
    acted.press("<escape>")
    assert acted.endings() == [("interrupted", "Interrupted by the user")]
    assert acted.agent.fds() == []
