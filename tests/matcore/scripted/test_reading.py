"""Scripts from YAML: every step is understood, and every fault is named, all at once."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import yaml

from matcore.scripted import reading_steps, steps
from matcore.scripted.reading import ScriptError, load, parse
from matcore.scripted.script import Collapse, Options
from matcore.scripted.stage import Choice
from matcore.scripted.steps import Step

DOCS = Path(__file__).parents[3] / "docs" / "scripted-agent.md"


def only(step: str) -> Step:
    return parse(f"default:\n  - {step}\n").default[0]


def faults(text: str) -> list[str]:
    with pytest.raises(ScriptError) as error:
        parse(text)
    return error.value.faults


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("work: 3", steps.Work(3.0)),
        ("{work: 3, gaps: [[1.0, 0.2], [2, 1]]}", steps.Work(3.0, ((1.0, 0.2), (2.0, 1.0)))),
        ("print: hello", steps.Print("hello")),
        ("print: 5", steps.Print("5")),
        ("run: make check", steps.Run("make check")),
        ("send-relay: {body: text}", steps.SendRelay("text")),
        (
            "send-relay: {to: review, file: h.md, body: b, again: true, front: {issue: 3, fyi: true, due: 2025-09-30}}",
            steps.SendRelay("b", "review", "h.md", (("issue", "3"), ("fyi", "true"), ("due", "2025-09-30")), True),
        ),
        ("end: true", steps.End()),
        ("error: model error 529", steps.Fail("model error 529")),
        ("ask: {permission: ls}", steps.Ask("ls", (steps.Run("ls"),), (steps.End(),))),
        (
            "ask: {permission: ls, then: [{print: a}], denied: []}",
            steps.Ask("ls", (steps.Print("a"),), ()),
        ),
        ("dialog: {kind: menu, options: [a, b]}", steps.Dialog(Choice("menu", "Select a model:", ("a", "b")))),
        ("crash: {code: 3}", steps.Crash(3)),
        ("crash: {signal: KILL}", steps.Crash(None, signal.SIGKILL)),
        ("crash: {signal: sigterm}", steps.Crash(None, signal.SIGTERM)),
        ("exit: 0", steps.Exit(0)),
        ("hang: true", steps.Hang()),
        ("rate-limited: {until_s: 60}", steps.RateLimited(60.0)),
        ("exhaust: true", steps.Exhaust()),
        ("compact: true", steps.Compact()),
        ("draft: do not mer", steps.Draft("do not mer")),
        ("flood: {lines: 9}", steps.Flood(9)),
    ],
)
def test_each_step_is_understood(text: str, step: Step) -> None:
    """What stands in the page is what is played."""
    assert only(text) == step


def test_an_empty_script_has_the_usual_options() -> None:
    """Nothing is required."""
    assert parse("").options == Options()
    assert parse("{}").rules == ()


def test_options_are_taken() -> None:
    """Each by its own name."""
    script = parse(
        "screen: alternate\nqueue: lose\nstart: trust\nbusy_style: footer\ncomposer: bordered\n"
        "collapse_paste: {lines: 2}\nsilent_endings: [error]\nhooks: {turn-ended: [mat, hook]}\n"
    )
    assert (script.options.screen, script.options.queue, script.options.composer) == ("alternate", "lose", "bordered")
    assert script.options.start is not None
    assert script.options.start.options == ("Yes, proceed", "No, exit")
    assert script.options.collapse_paste == Collapse(1000, 2)
    assert script.options.hooks == {"turn-ended": ("mat", "hook")}
    assert parse("collapse_paste: false").options.collapse_paste is None


def test_rules_have_a_budget() -> None:
    """`once`, `times`, or without end."""
    rules = parse(
        "rules: [{when: a, once: true, steps: []}, {when: b, times: 3, steps: []}, {when: c, steps: []},"
        " {when: d, once: false, steps: []}]"
    ).rules
    assert [rule.times for rule in rules] == [1, 3, None, None]


def test_all_faults_are_told_at_once() -> None:
    """Each with its path and what would be right."""
    told = faults(
        "scren: inline\nqueue: never\nhooks: {turn-endet: [a]}\nrules:\n"
        "  - {when: '(', times: 0, steps: [{wrok: 3}, {work: -1}, {print: [a]}, {run: a, end: true}, text]}\n"
        "  - {once: true, times: 2, when: a}\n"
        "default: 3\n"
    )
    for fault in (
        "scren: unknown key; did you mean screen?",
        "queue: needs one of after, steer, lose, not 'never'",
        "hooks.turn-endet: unknown key; did you mean turn-ended?",
        "rules[0].when: is not a legal pattern",
        "rules[0].times: needs a whole number from 1",
        "rules[0].steps[0].wrok: unknown key; did you mean work?",
        "rules[0].steps[1].work: needs a number from 0",
        "rules[0].steps[2].print: needs a text, not a list",
        "rules[0].steps[3]: is run and end in one",
        "rules[0].steps[4]: needs a step",
        "rules[1]: needs the key steps",
        "rules[1]: has both once and times",
        "default: needs a list, not 3",
    ):
        assert any(each.startswith(fault) for each in told), (fault, told)


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("{work: 1, gap: []}", "default[0].gap: unknown key"),
        ("{work: 1, gaps: [[1]]}", "default[0].gaps[0]: needs two numbers"),
        ("send-relay: {to: a}", "default[0].send-relay: needs the key body"),
        ("send-relay: {body: a, front: {x: [1]}}", "default[0].send-relay.front.x: needs a text"),
        ("crash: {}", "default[0].crash: needs one of code and signal"),
        ("crash: {signal: NONE}", "default[0].crash.signal: there is no signal NONE"),
        ("end: false", "default[0].end: can only be true"),
        ("dialog: {kind: popup}", "default[0].dialog.kind: needs one of trust, login, menu"),
        ("dialog: {kind: menu, options: []}", "default[0].dialog.options: needs one to nine"),
        ("flood: {lines: 0}", "default[0].flood.lines: needs a whole number"),
        ("{}", "default[0]: needs a step"),
        ("exit: true", "default[0].exit: needs a whole number"),
    ],
)
def test_a_fault_in_a_step_is_named(step: str, fault: str) -> None:
    """With the path to it."""
    assert any(told.startswith(fault) for told in faults(f"default: [{step}]"))


@pytest.mark.parametrize("text", ["a: [", "- list", "text", 'title: "\\e[31m"', "rules: {}", "when: \t- x"])
def test_what_is_no_script_is_refused(text: str) -> None:
    """With a sentence, never a traceback."""
    assert faults(text)


def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    """It is named, like each fault in it."""
    with pytest.raises(ScriptError, match=r"nothing\.yaml: can't be read"):
        load(tmp_path / "nothing.yaml")
    bad = tmp_path / "bad.yaml"
    bad.write_text("queue: x")
    with pytest.raises(ScriptError, match=r"bad\.yaml: queue"):
        load(bad)


def test_the_page_for_users_is_complete() -> None:
    """Its example can be played, and it names every step and every option."""
    page = DOCS.read_text()
    example = page.split("```yaml\n")[1].split("```")[0]
    assert len(parse(example).rules) == len(yaml.safe_load(example)["rules"])
    for name in (*reading_steps.STEPS, *Options.__dataclass_fields__):
        assert f"`{name}" in page, name
