"""Verdicts as models write them: `verdicts/*.md`, each with what it must be read as in `verdicts/expected.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcore.words import front, verdict
from matcore.words.verdict import NoVerdict, Verdict, VerdictError

TEXTS = Path(__file__).parent / "verdicts"
EXPECTED: dict[str, dict[str, Any]] = json.loads((TEXTS / "expected.json").read_text(encoding="utf-8"))


def test_every_text_has_its_answer() -> None:
    """No text lies there unread."""
    assert {path.stem for path in TEXTS.glob("*.md")} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_each_text_is_read_as_it_must_be(name: str) -> None:
    """Form is forgiven; what breaks a rule of meaning is refused in words that name it."""
    text = (TEXTS / f"{name}.md").read_bytes().decode()
    wanted = EXPECTED[name]
    if "refused" not in wanted:
        assert verdict.read(text) == Verdict(**wanted)
        return
    with pytest.raises(VerdictError) as refused:
        verdict.read(text)
    assert all(words in str(refused.value) for words in wanted["refused"]), refused.value


def test_a_handoff_without_a_verdict_is_a_plain_one() -> None:
    """`of` tells no verdict from a wrong one; `read` refuses both."""
    assert verdict.of(front.read("# Done\n")) is None
    with pytest.raises(NoVerdict):
        verdict.read("# Done\n")


def test_a_verdict_says_what_it_is() -> None:
    """Two that say the same are equal; it shows only what it has."""
    assert Verdict("ok", reason="good") == Verdict("ok", reason="good")
    assert Verdict("ok") != Verdict("retry", hint="x")
    assert Verdict("ok") != "ok"
    assert repr(Verdict("retry", hint="x")) == "Verdict(verdict='retry', hint='x')"


@pytest.mark.parametrize("deep", ['{"a":' * 100_000, '[{"a":' * 50_000])
def test_no_depth_and_no_length_stops_the_reading(deep: str) -> None:
    """What is nested beyond reason holds no verdict, and hides none on another line."""
    assert verdict.read(f'{deep}\n{{"verdict": "ok"}}') == Verdict("ok")
    with pytest.raises(NoVerdict):
        verdict.read(f'"verdict" {deep}')


def test_a_number_without_end_is_no_json() -> None:
    """Python reads no integer of that length; the refusal says so instead of failing."""
    with pytest.raises(VerdictError, match="a number is too long"):
        verdict.read(f'{{"verdict": {"9" * 10_000}}}')


@given(st.text(max_size=200), st.text(max_size=200), st.text(min_size=1, max_size=200).filter(str.strip))
def test_whatever_stands_around_it_the_last_one_is_read(before: str, after: str, hint: str) -> None:
    """Prose without an object of its own changes nothing, whatever characters it has."""
    before, after = (text.replace("{", "(") for text in (before, after))
    said = json.dumps({"verdict": "retry", "hint": hint})
    assert verdict.read(f"# Review\n{before}{said}{after}") == Verdict("retry", hint=hint)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["verdict", "hint", "reason", "a"]), inner),
)


@given(JSON)
def test_reading_raises_nothing_else(value: object) -> None:
    """Any JSON is a verdict or is refused with a sentence; `found` then takes it for a plain handoff."""
    text = json.dumps({"verdict": value})
    found = verdict.found(front.read(text))
    if found is None:
        with pytest.raises(VerdictError) as refused:
            verdict.read(text)
        assert len(str(refused.value)) < 400
    else:
        assert found == verdict.read(text)
