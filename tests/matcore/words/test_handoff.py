"""Front matter, dates and the structural checks of the send gate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matcore.words import handoff as h


def front(*lines: str, body: str = "what was done\n") -> h.Handoff:
    return h.read("\n".join(("---", *lines, "---", body)))


def test_a_plain_file_is_a_request() -> None:
    """Without front matter a handoff is a request, whole as it is."""
    read = h.read("# Done\n\nall of it\n")
    assert (read.kind, read.seen, read.fields, read.warnings) == ("request", None, {}, [])
    assert read.text == read.body == "# Done\n\nall of it\n"


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("issue: 17", "issue", "17"),
        ("Issue:   17  ", "issue", "17"),
        ('issue: "17 # no comment"  # a comment', "issue", "17 # no comment"),
        ("issue: '17'", "issue", "17"),
        ("issue: '17", "issue", "'17"),
        ("issue: '17' and more", "issue", "'17' and more"),
        ("issue: 17 # a comment", "issue", "17"),
        ("issue: #17", "issue", ""),
        ("issue:", "issue", ""),
        ("labels: [a, b]", "labels", "[a, b]"),
        ("see: http://x/y", "see", "http://x/y"),
    ],
)
def test_values_are_read_as_people_write_them(line: str, key: str, value: str) -> None:
    """Quotes, comments, lists as text and keys in any case are understood."""
    assert front(line).fields == {key: value}


def test_form_is_forgiven() -> None:
    """A BOM, CRLF, blank lines, comments and `...` as the end change nothing, and the text is sent as it was."""
    text = "\ufeff---\r\nissue: 17\r\n\r\n# a note\r\nkind: FYI\r\n...\r\nbody\r\n"
    read = h.read(text)
    assert read.fields == {"issue": "17", "kind": "FYI"}
    assert (read.kind, read.body, read.text, read.warnings) == ("fyi", "body\r\n", text, [])


def test_what_is_no_pair_is_warned_of() -> None:
    """A line that means nothing is named; the other lines count. The last of two equal keys counts."""
    read = front("issue: 1", "  - nested", "issue: 2")
    assert read.fields == {"issue": "2"}
    assert [warning.split(" ")[0] for warning in read.warnings] == ["line", "`issue`"]
    assert "line 3" in read.warnings[0]


def test_rules_around_prose_are_markdown() -> None:
    """Two horizontal rules are no front matter, and neither is one that nothing follows."""
    text = "---\nSome prose.\n---\nmore\n"
    assert h.read(text).fields == {}
    assert h.read(text).body == text
    assert not h.read("---\nSome prose.\n").unclosed
    assert not h.read("---\n").unclosed


@pytest.mark.parametrize(
    ("line", "sent", "words"),
    [
        ("due: 2025-09-31", "due: 2025-09-30", ("2025-09-31", "2025-09-30")),
        ("due: 2024-02-30", "due: 2024-02-29", ("2024-02-30", "2024-02-29")),
        ("due: 2025-02-29", "due: 2025-02-28", ("2025-02-29", "2025-02-28")),
        ("due: 1900-02-29", "due: 1900-02-28", ("1900-02-29", "1900-02-28")),
        ("any: '2025-06-31T10:00'", "any: '2025-06-30T10:00'", ("2025-06-31", "2025-06-30")),
        ("due: 2025-13-01", "due: 2025-13-01", ("2025-13-01", "as it is")),
        ("due: 2025-00-31", "due: 2025-00-31", ("2025-00-31", "as it is")),
        ("due: 2025-01-32", "due: 2025-01-32", ("2025-01-32", "as it is")),
        ("due: 0000-01-01", "due: 0000-01-01", ("0000-01-01", "as it is")),
        ("due: soon", "due: soon", ("soon", "as it is")),
        ("due_at: later", "due_at: later", ("later", "as it is")),
        ("review-date: tomorrow", "review-date: tomorrow", ("tomorrow", "as it is")),
    ],
)
def test_a_date_is_put_right_or_kept(line: str, sent: str, words: tuple[str, ...]) -> None:
    """An overflowing day becomes the month's last, with a warning that names both; anything else is kept, warned of."""
    read = front("issue: 1", line)
    assert read.text == f"---\nissue: 1\n{sent}\n---\nwhat was done\n"
    assert len(read.warnings) == 1
    assert all(word in read.warnings[0] for word in words)


@pytest.mark.parametrize(
    "line", ["due: 2025-09-30", "due: 2000-02-29", "due:", "note: soon", "version: 2025-09-31b", "depends-on: 12"]
)
def test_what_is_right_is_not_warned_of(line: str) -> None:
    """Real dates, empty ones and values that are no dates pass in silence."""
    assert front("issue: 1", line).warnings == []


@given(st.dates())
def test_no_real_date_is_changed(day: object) -> None:
    """Every day of the calendar passes unchanged."""
    assert front(f"due: {day}").fields == {"due": str(day)}
    assert front(f"due: {day}").warnings == []


@given(st.text(max_size=300))
def test_reading_never_fails(text: str) -> None:
    """Whatever a model writes is read; without overflowing dates it is sent as it was."""
    read = h.read("---\n" + text)
    assert isinstance(read.kind, str)
    assert [check.refusal(read) for check in h.checks(["issue"])]


@pytest.mark.parametrize(("value", "seen"), [("12", 12), ("#12", 12), ("r-000012", 12), ("", None)])
def test_seen_is_a_number(value: str, seen: int | None) -> None:
    """`seen` is read as a number, as `#12` and as a relay's id; without a value it is not there."""
    read = front(f"seen: '{value}'", "issue: 1")
    assert read.seen == seen
    assert h.FrontMatter().refusal(read) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("---\nkind: ask\n---\nx", ("`kind: ask`", "`request`", "`fyi`")),
        ("---\nseen: later\n---\nx", ("`seen: later`", "seen: 12")),
        ("---\nseen: -3\n---\nx", ("`seen: -3`",)),
        ("---\nissue: 5\nx", ("never ends", "add a line `---`")),
    ],
)
def test_front_matter_that_can_t_be_followed_is_refused(text: str, words: tuple[str, ...]) -> None:
    """What decides where a relay goes is read strictly; the refusal says how to mend it."""
    refusal = h.FrontMatter().refusal(h.read(text)) or ""
    assert all(word in refusal for word in words)


def test_required_keys_are_named() -> None:
    """The refusal names each missing key and where it goes; an empty value is a missing one."""
    check = h.RequiredKeys(["issue", "Risk"])
    assert check.refusal(front("issue: 1", "risk: low")) is None
    assert "`issue`, `Risk`" in str(check.refusal(h.read("text")))
    assert "begin the file" in str(check.refusal(h.read("text")))
    assert "lacks `issue`: add `issue: …`" in str(check.refusal(front("issue:", "risk: low")))


def test_the_checks_of_the_gate_are_these() -> None:
    """The gate's checks, in their order, under the names of the journal."""
    assert [check.name for check in h.checks(["issue"])] == ["front-matter", "required-keys", "verdict"]


def test_each_check_runs_in_one_place() -> None:
    """What agents run themselves is no gate, and everything else is one."""
    assert [check.name for check in h.at_the_gate([], ["verdict"])] == ["front-matter", "required-keys"]
    assert [check.name for check in h.by_command([], ["verdict"])] == ["verdict"]


def test_a_wrong_verdict_is_refused_with_its_rule() -> None:
    """A handoff without one, or with a right one, passes."""
    check = h.VerdictRules()
    assert check.refusal(h.read("# Done\n")) is None
    assert check.refusal(h.read('{"verdict": "ok"}')) is None
    assert "none of `ok`" in str(check.refusal(h.read('{"verdict": "fine"}')))


def test_no_check_comes_from_outside() -> None:
    """A check made elsewhere is refused when its class is made, so that none can ever call a model."""
    with pytest.raises(TypeError, match="sealed"):
        type("AskAModel", (h.StructuralCheck,), {"__module__": __name__})
    with pytest.raises(TypeError, match="sealed"):

        class Narrower(h.FrontMatter):
            pass

    with pytest.raises(NotImplementedError):
        h.StructuralCheck().refusal(h.read("x"))


def test_emptiness_is_having_nothing_to_say() -> None:
    """White space, and front matter without values, say nothing; a field alone says something."""
    assert h.read(" \n\t\n").is_empty
    assert h.read("").is_empty
    assert h.read("---\nissue:\n---\n\n").is_empty
    assert not h.read("---\nissue: 1\n---\n").is_empty


def test_a_check_leaves_a_record_either_way() -> None:
    """A pass and a refusal have the same keys in the journal."""
    passed = h.checked("front-matter", None, blocks=0, max_blocks=3, file="/w/h.md")
    refused = h.checked("front-matter", "it never ends", blocks=1, max_blocks=3, file="/w/h.md")
    assert passed.keys() == refused.keys()
    assert (passed["approved"], refused["approved"], refused["reason"]) == (True, False, "it never ends")
