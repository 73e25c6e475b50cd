"""What `mat hook` keeps of a prompt is enough to know a text of ours by."""

from __future__ import annotations

import json

import pytest

from matcore.said_hook import small
from tmuxdriver.submission import Submission

OURS = "[relay r-000012 from dev]\nRead /w/.mat/s/handoffs/0123.md\nPlain text reaches nobody."


def reported(prompt: str) -> dict[str, object]:
    return small(json.dumps({"prompt": prompt}).encode())


@pytest.mark.parametrize(
    "prompt",
    [OURS, OURS + "\n", "\n  " + OURS, "a draft " + OURS, OURS.replace("\n", "\r\n")],
    ids=["exact", "newline", "trimmed", "merged", "crlf"],
)
def test_a_text_of_ours_is_known_again(prompt: str) -> None:
    """Also when the program trimmed it, or merged it with a draft."""
    assert Submission(OURS, 0.0).is_in(reported(prompt))


@pytest.mark.parametrize("prompt", ["", "fix the parser", "[relay r-000013 from dev]\nRead /x", "d"])
def test_what_a_person_typed_is_not_ours(prompt: str) -> None:
    """It is `human.acted`, which no delivery of ours may ever be."""
    assert not Submission(OURS, 0.0).is_in(reported(prompt))


def test_a_long_first_line_is_known_by_its_beginning() -> None:
    """`mat hook` cuts a line; what is left is enough."""
    text = "IDLE RECOVERY 1.1 " + "words " * 100
    assert Submission(text, 0.0).is_in({"prompt": text[:200]})
