"""`docs/field-cases.md`: what goes wrong in the field with tools like this one, and the tests that keep it from here.

A test says which group it is of: `@pytest.mark.field_case("Submitting")`. The page is drawn from those markers and the
tests' own sentences; `tests/test_field_cases.py` fails when a group has no test.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parent
MARKER = "field_case"
GROUPS = {
    "Submitting": 'A text is pasted, its Enter is lost, and the tool says "sent". Here a delivery succeeds on '
    "positive evidence alone; what nobody can know is `unconfirmed`, and is never typed again.",
    "Idle and busy": "Footers, old spinners, quotes and short pauses are taken for a state. Here idle is proven, busy "
    "is believed at once, and status, ladder and delivery ask one predicate.",
    "Nudges": 'The same nudge comes hundreds of times, an "ok" refills its budget, a restart brings a burst. Here an '
    "episode has two nudges and one notification, and only progress closes it.",
    "Silence": "A lost event, a changed title, one session's error, and nobody hears of it for days. Here every source "
    "has a sweep, every gate that names no end is told after three windows, and an error stops its own session alone.",
    "Notifications": "Hundreds of reminders, announced anew after each restart, into a channel that refuses them. Here "
    "a cause is told once, through the next channel where one fails, and `NOT DELIVERED` stands until it was.",
    "Lost or twice": "A timeout is read as a loss and the text sent again; half a file is read. Here what is said is a "
    "file, renamed into place, taken up once by its id, and a text is typed once.",
    "Restarts": "A second population of agents, two supervisors, `%0` after a reboot taken for a friend. Here nothing "
    "starts twice, a pane is known by server and process, and a journal is taken up where it ends.",
    "People": "Half-typed words are merged into a message and submitted. Here a person's draft, scrolling and dialog "
    "are gates that get not one byte, and none of them holds for ever.",
    "tmux": "Names match prefixes, separators turn into `_`, a paste ends the server. Here each trap that was measured "
    "has its test on a real server.",
    "Load": "Polling eats the machine, logs eat the disk. Here a tick is one list, outputs are cut off, and what was "
    "missed is coalesced.",
    "Security": "A paste-end sequence in a message runs what follows; names become commands. Here text stays text, "
    "bodies go through stdin and files, and what a role may say is checked.",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One test of a group; `promise` is its first sentence, or all of its text."""

    group: str
    promise: str
    where: str


def cases(folder: Path = TESTS) -> Iterator[Case]:
    """The tests that carry the marker, in order of their places."""
    for path in sorted(folder.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if MARKER not in text:
            continue
        for node in sorted(ast.walk(ast.parse(text)), key=lambda each: getattr(each, "lineno", 0)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                promise = " ".join((ast.get_docstring(node) or "").split())
                where = f"{path.relative_to(folder.parent).as_posix()}::{node.name}"
                yield from (Case(group, promise, where) for group in _groups(node))


def _groups(node: ast.FunctionDef) -> Iterator[str]:
    for each in node.decorator_list:
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == MARKER:
            yield from (str(word.value) for word in each.args if isinstance(word, ast.Constant))


def page() -> str:
    """The page without its first line."""
    found = list(cases())
    lines = ["# What goes wrong in the field, and what keeps it from here", ""]
    lines += [
        "Gathered from the public trackers of tools that do parts of this job. Each sentence is a test's own.",
        "",
    ]
    for group, here in GROUPS.items():
        rows = [f"| {_cell(case.promise)} | `{case.where}` |" for case in found if case.group == group]
        lines += [f"## {group}", "", here, "", "| what is promised | test |", "| --- | --- |", *rows, ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.stdout.write(page())
