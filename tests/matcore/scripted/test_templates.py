"""Values taken from the message: which match, which group, where a regex ends, and what is a fault."""

from __future__ import annotations

import pytest

from matcore.scripted.templates import TemplateError, fill


def filled(text: str, request: str = "") -> str:
    return fill(text, {"role": "dev", "turn": "2"}, request)


def test_names_are_filled_in_wherever_they_stand() -> None:
    """Every `{{name}}` is replaced, text around it stays."""
    assert filled("a {{role}}{{ turn }} b") == "a dev2 b"


@pytest.mark.parametrize("text", ["", "no braces", "one { or } two", '{"a": {"b": 1}}', "}} alone"])
def test_text_without_templates_stays_as_it_is(text: str) -> None:
    """Single braces and JSON need no escaping."""
    assert filled(text) == text


def test_the_last_match_counts() -> None:
    """A message that quotes an older id first names its own last."""
    assert filled(r"{{fromRequest:r-\d+}}", "r-1 answers r-2, see r-33.") == "r-33"


@pytest.mark.parametrize(
    ("pattern", "request_text", "value"),
    [
        (r"id=(\w+)", "id=abc", "abc"),
        (r"(?:a=(\d+)|b=(\d+))", "b=7", "7"),
        (r"(a)(b)", "ab", "a"),
        (r"x(y)?", "x", "x"),
    ],
)
def test_the_first_group_that_took_part_is_preferred(pattern: str, request_text: str, value: str) -> None:
    """Groups that took no part are passed over; without any the whole match is taken."""
    assert filled(f"{{{{fromRequest:{pattern}}}}}", request_text) == value


def test_empty_matches_do_not_count() -> None:
    """A pattern that also matches nothing does not find nothing at the end of the message."""
    assert filled(r"{{fromRequest:\d*}}", "n 12 end") == "12"


@pytest.mark.parametrize(
    ("text", "request_text", "value"),
    [
        (r"{{fromRequest:\d{2}}}", "12", "12"),
        (r"<{{fromRequest:(\d{2,3})-x{1}}}>", "123-x", "<123>"),
        (r"{{fromRequest:[}]{2}}}", "a}}b", "}}"),
        (r"{{fromRequest:[]}]+}}", "a]}b", "]}"),
        (r"{{fromRequest:[^}]+}}", "ab}", "ab"),
        (r"{{fromRequest:\{(\w)\}}}", "{q}", "q"),
        (r"{{fromRequest:[\]}]x}}", "}x", "}x"),
        (r"{{fromRequest:a}}{{fromRequest:b}}", "ba", "ab"),
    ],
)
def test_the_end_of_a_regex_is_found_by_reading_it(text: str, request_text: str, value: str) -> None:
    """Counts in braces, classes and escapes belong to the regex, not to the template."""
    assert filled(text, request_text) == value


def test_what_is_filled_in_is_not_looked_at_again() -> None:
    """A message can't inject templates."""
    assert filled("{{fromRequest:.+}}", "{{role}}") == "{{role}}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{{fromRequest:(}}", "not a legal pattern"),
        (r"{{fromRequest:\d+}}", "finds nothing"),
        ("{{fromRequest:abc", "not closed"),
        ("{{fromRequest:a{2}", "not closed"),
        ("{{fromRequest:a} }}", "not closed"),
        ("{{role", "not closed"),
        ("{{roll}}", "{{roll}} is not known; there are {{role}}"),
    ],
)
def test_a_fault_says_what_it_is(text: str, sentence: str) -> None:
    """Illegal, unclosed, unknown and finding nothing are told apart."""
    with pytest.raises(TemplateError) as fault:
        filled(text, "only words")
    assert sentence in str(fault.value)
