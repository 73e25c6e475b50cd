"""Protocol words stand in `messages` and `marks` of `matcore/words`, and nowhere else in the code."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
WORDS = (
    "IDLE RECOVERY",
    "relay-redelivery",
    "[relay r-",
    "[relay {",
    "goal_complete>",
    "goal_blocked>",
    "[mat]",
    "Answer to ",
    "Not accepted yet",
    "agent session is new",
    "Plain text reaches nobody",
)
HOLDERS = [ROOT / "matcore" / "words" / name for name in ("messages.py", "marks.py")]


def sources() -> list[Path]:
    """Every module but those that may, and the scripted agent, which has to know what agents know."""
    rooms = [ROOT / room for room in ("matcore", "baton", "tmuxdriver")]
    files = (file for room in rooms for file in room.rglob("*.py"))
    return [file for file in files if file not in HOLDERS and "scripted" not in file.relative_to(ROOT).parts]


def strings(tree: ast.Module) -> list[str]:
    """All string literals that are no docstrings: prose about the words is no use of them."""
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs)
    return [node.value for node in nodes if isinstance(node.value, str)]


@pytest.mark.parametrize("file", sources(), ids=lambda file: str(file.relative_to(ROOT)))
def test_no_other_module_has_protocol_words_of_its_own(file: Path) -> None:
    """Whoever needs a word of the protocol asks one of the two for it."""
    found = [word for word in WORDS for text in strings(ast.parse(file.read_text(encoding="utf-8"))) if word in text]
    assert found == []


def test_the_search_finds_them() -> None:
    """The test above can fail: the two themselves would."""
    text = "\n".join(word for file in HOLDERS for word in strings(ast.parse(file.read_text(encoding="utf-8"))))
    assert [word for word in WORDS if word not in text and not word.startswith(("[relay r-", "[relay {"))] == []
