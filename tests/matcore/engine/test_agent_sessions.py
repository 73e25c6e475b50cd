"""Ids of agent sessions are made in one place, and nobody builds one of anything else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from matcore.engine.driver import new_session

ROOT = Path(__file__).parents[3]
MAKER = ROOT / "matcore" / "engine" / "driver.py"


def sources() -> list[Path]:
    """All code but the scripted agent, which is an agent program and names its sessions itself."""
    files = (file for room in ("matcore", "baton", "tmuxdriver") for file in (ROOT / room).rglob("*.py"))
    return [file for file in files if "scripted" not in file.relative_to(ROOT).parts and file != MAKER]


def made(tree: ast.Module) -> list[str]:
    """Uses of `uuid` that are no name of a file (`.hex`), and strings put together for an agent session."""
    names_a_file = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "hex"}
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="uuid"))) if id(node) not in names_a_file:
                found.append(f"line {node.lineno}")
            case ast.ImportFrom(module="uuid"):
                found.append("import uuid")
            case ast.keyword(arg="agent_session" | "session_id", value=ast.JoinedStr() | ast.BinOp()):
                found.append(f"line {node.value.lineno}")
            case ast.Dict(keys=keys, values=values):
                named = zip(keys, values, strict=True)
                found += [
                    f"line {value.lineno}"
                    for key, value in named
                    if isinstance(key, ast.Constant)
                    and key.value in ("agent_session", "session_id")
                    and isinstance(value, ast.JoinedStr | ast.BinOp)
                ]
            case ast.Assign(targets=[ast.Name(id="agent_session")], value=ast.JoinedStr() | ast.BinOp()):
                found.append(f"line {node.lineno}")
            case _:
                pass
    return found


@pytest.mark.parametrize("file", sources(), ids=lambda file: str(file.relative_to(ROOT)))
def test_no_other_module_makes_one(file: Path) -> None:
    """Neither from a round number nor by another way."""
    assert made(ast.parse(file.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "code",
    [
        "import uuid; seat = str(uuid.uuid4())",
        "from uuid import uuid4",
        'agent_session = f"round-{n}"',
        'seat = {"agent_session": f"{role}-{n}"}',
        'resume(session_id="round" + str(n))',
    ],
)
def test_the_search_finds_them(code: str) -> None:
    """The test above can fail."""
    assert made(ast.parse(code)) != []


def test_each_is_another() -> None:
    """No two are alike, and each is what agent programs take for one."""
    assert len({new_session() for _ in range(100)}) == 100
    assert len(new_session()) == 36
