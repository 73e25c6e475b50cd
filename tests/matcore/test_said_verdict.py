"""A reviewer's verdict on its way through `send-relay`, and the checks that a session leaves to its agents."""

from __future__ import annotations

from pathlib import Path

from tests.matcore.conftest import Say
from tests.matcore.said_scene import Scene

AWAIT = '{"verdict": "await_human_input", "human_question": "Is 0 an error?"}\n'


def test_ok_and_retry_are_handed_over(scene: Scene, say: Say) -> None:
    """The content goes as it is; the supervisor reads the verdict from what was sent."""
    text = 'Read it.\n```json\n{"verdict": "retry", "hint": "add a test"}\n```\n'
    scene.file("v.md", text)
    with scene.supervisor():
        assert say("send-relay", "v.md") == (0, "sent r-000001 to review (#1)\n", "")
    (record,) = scene.said("relay.sent")
    assert record["body"] == text


def test_what_awaits_the_human_is_a_question_and_no_relay(scene: Scene, say: Say) -> None:
    """Nothing is numbered and nothing is handed over; the whole handoff is kept for the human."""
    scene.file("v.md", AWAIT)
    with scene.supervisor():
        code, out, err = say("send-relay", "dev", "v.md", role="review")
    (asked,) = scene.said("question.asked", "review")
    assert (code, err) == (0, "")
    assert out == (
        f"asked the human ({asked['question']}); nothing was handed over, the baton stays with you; "
        "the answer comes to you as a message, end your turn\n"
    )
    assert (asked["role"], asked["text"]) == ("review", "Is 0 an error?")
    assert Path(str(asked["path"])).read_text() == AWAIT
    assert scene.index() == []
    assert scene.said("relay.sent", "review") == []


def test_the_same_question_has_one_name(scene: Scene, say: Say) -> None:
    """An agent that asks again is not a second question; another text is."""
    scene.file("v.md", AWAIT)
    say("send-relay", "v.md")
    say("send-relay", "v.md")
    scene.file("v.md", AWAIT.replace("0", "1"))
    say("send-relay", "v.md")
    first, again, other = [record["question"] for record in scene.said("question.asked")]
    assert first == again != other
    say("send-relay", "v.md", role="review")
    assert scene.said("question.asked", "review")[0]["question"] not in (first, other)


def test_a_wrong_verdict_is_refused_with_its_rule(scene: Scene, say: Say) -> None:
    """Nothing is sent, the refusal names the rule, and it is on record."""
    scene.file("v.md", '{"verdict": "approved"}\n')
    code, out, err = say("send-relay", "v.md")
    assert (code, out, scene.index()) == (1, "", [])
    assert "`verdict: approved` is none of `ok`, `retry`, `await_human_input`" in err
    assert err.endswith("; nothing sent\n")
    refused = [record for record in scene.said("handoff.checked") if not record["approved"]]
    assert [(record["check"], record["blocks"]) for record in refused] == [("verdict", 1)]


def test_a_verdict_in_single_quotes_is_refused_and_no_plain_handoff(scene: Scene, say: Say) -> None:
    """Code would have acted on none of it, and the developer would have waited for a hint that never came."""
    scene.file("v.md", "Not yet.\n\n{'verdict': 'retry', 'hint': 'add a test'}\n")
    code, out, err = say("send-relay", "dev", "v.md", role="review")
    assert (code, out, scene.index()) == (1, "", [])
    assert "double quotes" in err
    assert err.endswith("; nothing sent\n")


def test_the_same_verdict_in_two_rounds_arrives_twice(scene: Scene, say: Say) -> None:
    """What the developer handed back in between makes it a new word."""
    scene.file("v.md", '{"verdict": "retry", "hint": "it still fails"}\n')
    scene.file("h.md", "mended\n")
    for number in (1, 3):
        assert say("send-relay", "v.md", role="review")[1].startswith(f"sent r-{number:06d}")
        assert say("send-relay", "v.md", role="review")[1].startswith(f"already sent as r-{number:06d}")
        scene.file("h.md", f"mended, {number}\n")
        say("send-relay", "h.md")
    assert len(scene.said("relay.sent", "review")) == 2


def test_a_check_that_agents_run_is_no_gate(scene: Scene, say: Say) -> None:
    """`--check` runs it, leaves its record and sends nothing; sending runs the others."""
    scene.tell(commands=["verdict", "front-matter"])
    scene.file("v.md", '---\nkind: ask\n---\n{"verdict": "approved"}\n')
    code, _, err = say("send-relay", "--check", "v.md")
    assert code == 1
    assert "`kind: ask`" in err
    assert say("send-relay", "v.md")[:2] == (
        0,
        "sent r-000001 to review (#1)\nno supervisor is running now; the relay waits for it\n",
    )
    (record,) = scene.said("relay.sent")
    assert record["kind"] == "request"
    scene.file("v.md", '{"verdict": "ok"}\n')
    assert say("send-relay", "--check", "v.md")[:2] == (
        0,
        "checked v.md (front-matter, verdict): all well, not sent yet\n",
    )
    assert len(scene.index()) == 1


def test_where_no_check_is_left_to_agents_there_is_none_to_run(scene: Scene, say: Say) -> None:
    """The refusal says that sending runs them all; a second word is no use either."""
    scene.file("v.md")
    assert "`send-relay` runs them all" in say("send-relay", "--check", "v.md")[2]
    assert say("send-relay", "--check", "--ack", "v.md")[0] == 2
    assert say("send-relay", "--check")[0] == 2
