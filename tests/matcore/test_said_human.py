"""`notify-user`: telling and asking the human."""

from __future__ import annotations

import pytest

from tests.matcore.conftest import Say
from tests.matcore.said_scene import Scene


def test_a_message_is_noted(scene: Scene, say: Say) -> None:
    """Words are joined, `--action` is passed on; without a supervisor a second line says that it waits."""
    with scene.supervisor():
        assert say("notify-user", "The", "build is green") == (0, "noted for the human\n", "")
    code, out, _ = say("notify-user", "--action", "Please log in")
    assert (code, out.splitlines()[1]) == (0, "no supervisor is running now; the message waits for it")
    told = scene.said("notify-user")
    assert [(record["action"], record["text"]) for record in told] == [
        (False, "The build is green"),
        (True, "Please log in"),
    ]


def test_a_question_has_a_name_of_its_own(scene: Scene, say: Say) -> None:
    """Each `--ask` is a fact of the role with an id that is said back."""
    outs = [say("notify-user", "--ask", "A or B?")[1] for _ in range(2)]
    asked = scene.said("question.asked")
    assert [(q["role"], q["text"]) for q in asked] == [("dev", "A or B?")] * 2
    assert asked[0]["question"] != asked[1]["question"]
    assert all(str(q["question"]) in out for q, out in zip(asked, outs, strict=True))


def test_a_dash_reads_stdin(scene: Scene) -> None:
    """A body need not go through argv."""
    assert scene.run("notify-user", "-", stdin="größer\n".encode())[0] == 0
    (told,) = scene.said("notify-user")
    assert told["text"] == "größer\n"


@pytest.mark.parametrize(
    ("stdin", "why"), [(b"", "empty"), (b" \n", "empty"), (b"\xff", "not UTF-8"), (b"x" * 20_000, "16 KiB")]
)
def test_what_is_no_message_is_refused(stdin: bytes, why: str, scene: Scene) -> None:
    """Empty, endless and undecodable messages are refused with a reason."""
    code, out, err = scene.run("notify-user", "-", stdin=stdin)
    assert (code, out) == (1, "")
    assert why in err
    assert err.endswith("nothing sent\n")
    assert scene.spooled() == []


@pytest.mark.parametrize("words", [(), ("--ask",), ("--ask", "--action", "x"), ("--loud", "x")])
def test_wrong_words_show_the_usage(words: tuple[str, ...], scene: Scene, say: Say) -> None:
    """Exit 2, and nothing is sent."""
    code, out, err = say("notify-user", *words)
    assert (code, out) == (2, "")
    assert "usage: notify-user" in err
    assert err.endswith("nothing sent\n")
    assert scene.spooled() == []


def test_help_and_outside(scene: Scene, say: Say) -> None:
    """`--help` explains; outside of a session the sentence says how to name it."""
    assert say("notify-user", "-h")[1].startswith("usage: notify-user")
    code, _, err = scene.run("notify-user", "x", environ={})
    assert code == 2
    assert "notify-user speaks for a role" in err
