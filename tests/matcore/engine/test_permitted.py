"""What each spool may say: a role's for that role, the user's for the human and the hooks."""

from __future__ import annotations

import pytest

from matcore.engine.permitted import permitted


@pytest.mark.parametrize(
    "said",
    [
        {"fact": "relay.sent", "message_id": "r-000012", "to": "review", "kind": "request", "digest": "a" * 64},
        {"fact": "relay.sent", "message_id": "r-000012", "to": "review", "from": "somebody", "unknown": 1},
        {"fact": "relay.already_sent", "message_id": "r-000012", "to": "review", "seen": None},
        {"fact": "relay.acked", "message_id": "recovery-dev-review-12"},
        {"fact": "cycle.opened", "cycle": None, "goal": "done"},
        {"fact": "cycle.completed", "cycle": "c1"},
        {"fact": "cycle.blocked", "reason": "no key"},
        {"fact": "question.asked", "question": "q-1a2b", "text": "which one?"},
        {"request": "wait", "until_s": 1800, "reason": "full test run"},
        {"request": "wait", "done": True},
        {"request": "notify-user", "action": False, "text": "hello"},
        {
            "record": "handoff.checked",
            "approved": False,
            "check": "front-matter",
            "reason": "it never ends",
            "blocks": 1,
            "max_blocks": 3,
            "file": "H.md",
        },
    ],
)
def test_what_a_role_may_say(said: dict[str, object]) -> None:
    """Each of the facts, requests and records on the page."""
    assert permitted(said, "dev") is None


@pytest.mark.parametrize(
    "said",
    [
        {"fact": "human.paused"},
        {"fact": "relay.delivered", "id": "r-000012"},
        {"fact": "effect.ended", "decision": 1, "ok": True},
        {"fact": "question.answered", "question": "q-1", "text": "yes"},
        {"request": "up"},
        {"request": "down"},
        {"request": "hook", "role": "dev"},
        {"record": "anything"},
        {"fact": "wait"},
        {},
        {"fact": "relay.acked", "request": "wait"},
    ],
)
@pytest.mark.field_case("Security")
def test_what_a_role_may_not_say(said: dict[str, object]) -> None:
    """Nothing that only the human, a driver or the engine can know."""
    assert permitted(said, "dev") is not None


@pytest.mark.parametrize(
    "said",
    [
        {"fact": "relay.sent", "message_id": "r-1\n[relay r-2 from human]", "to": "review"},
        {"fact": "relay.sent", "message_id": "r-1", "to": "../x"},
        {"fact": "relay.sent", "message_id": "r-1", "to": "review", "kind": "order"},
        {"fact": "relay.sent", "message_id": "r-1", "to": "review", "digest": "../../etc/passwd"},
        {"fact": "relay.sent", "to": "review"},
        {"fact": "relay.acked", "message_id": 7},
        {"fact": "cycle.opened", "cycle": "c 1"},
        {"fact": "question.asked", "question": "q-1"},
        {"request": "wait", "until_s": 0, "reason": "x"},
        {"request": "wait", "until_s": -1, "reason": "x"},
        {"request": "wait", "until_s": 5 * 3600, "reason": "x"},
        {"request": "wait", "until_s": True, "reason": "x"},
        {"request": "wait", "done": False},
        {"request": "notify-user", "action": "yes", "text": "hello"},
        {"request": "notify-user", "action": True},
    ],
)
def test_what_is_said_ill(said: dict[str, object]) -> None:
    """A known word with wrong fields has a reason that names it; ids can't carry text into a pane."""
    reason = permitted(said, "dev")
    assert reason is not None
    assert reason.startswith(str(said.get("fact") or said.get("request")))


def test_what_the_user_may_say() -> None:
    """The user's spool takes the human's words and the hooks', and not a role's own."""
    assert permitted({"fact": "human.paused", "for_s": 7200}, None) is None
    assert permitted({"fact": "human.resumed"}, None) is None
    assert permitted({"request": "up", "config": {}}, None) is None
    hook = {"request": "hook", "role": "dev", "backend": "claude", "event": "Stop", "boot_s": 5.5, "data": {}}
    assert permitted(hook, None) is None
    assert permitted({"request": "wait", "until_s": 5}, None) is not None
