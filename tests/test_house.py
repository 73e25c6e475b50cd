"""The house itself: which room may import which, what lies at the top, what is in the wheel, what no file may say."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("matcore", "baton", "tmuxdriver")

# What agents start, and what that stands on: quick, so the standard library only.
QUICK = ("matcore.places", "matcore.spoolfile", "matcore.said", "matcore.fast")

_BELOW_ENGINE = {"ground", "rules", "words"}
_BELOW_SHOW = _BELOW_ENGINE | {"engine"}

# Who may import whom, besides itself. `cli → {tmuxdriver, baton, show} → engine → words → rules`. `ground` is what
# stands beside the rooms and below them all: errors, places, spoolfile.
ARROWS = {
    "ground": set[str](),
    "rules": set[str](),
    "words": {"ground", "rules"},
    "engine": _BELOW_ENGINE | {"said"},  # what agents write is read by the code that writes it
    "show": _BELOW_SHOW,
    "tmuxdriver": _BELOW_SHOW,
    "baton": _BELOW_SHOW,
    "cli": _BELOW_SHOW | {"show", "tmuxdriver", "baton", "said", "fast", "scripted"},
    "said": {"ground", "words"},
    "fast": {"ground", "said", "cli"},
    "scripted": set[str](),  # the scripted agent is a program of its own, as a real one is
}

# What the repository's top folder may hold. Anything else needs a place in a room.
TOP = {
    *PACKAGES,
    *("agents", "benchmarks", "bin", "docs", "tests"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "pyproject.toml"),
    *(".ci", ".editorconfig", ".gitattributes", ".gitignore"),
}

# The machine of somebody, as opposed to a path that every machine has; these five are nobody.
_PRIVATE = re.compile(r"/(?:home|Users)/(?!(?:you|user|dev|u|me)\b)[a-z]\w*/|/root/|/work/(?:main|shared)")


def module_name(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def sources() -> list[Path]:
    return [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]


def imports(file: Path) -> Iterator[str]:
    """Every module that a file names in an import, however deep in a function."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # `from matcore.engine import spool` names a module too.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(module: str) -> str | None:
    """The room of one of our modules; None for those of others."""
    package, *rest = module.split(".")
    if package not in PACKAGES:
        return None
    if package != "matcore":
        return package
    place = rest[0].split("_")[0] if rest else "ground"  # `said_file` is a part of `said`
    return place if place in ARROWS else "ground"


def tracked() -> list[Path]:
    """The files of the repository, those included that are not committed yet."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if not (ROOT / ".git").exists():
        pytest.skip("not a git working tree: nobody knows which files belong to it")
    names = subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


@pytest.mark.parametrize("file", sources(), ids=module_name)
def test_a_room_imports_only_from_rooms_below_it(file: Path) -> None:
    """The arrows of the house hold; a driver is reached through its entry point alone."""
    here = room(module_name(file))
    assert here is not None
    wrong = {name for name in imports(file) if (there := room(name)) and there != here and there not in ARROWS[here]}
    assert not wrong, f"{here} may import from {sorted(ARROWS[here]) or 'no other room'}, but imports {sorted(wrong)}"


@pytest.mark.parametrize(
    "file", [file for file in sources() if room(module_name(file)) in {"rules", "words"}], ids=module_name
)
def test_rules_and_words_import_only_the_standard_library(file: Path) -> None:
    """What decides and what speaks depends on nobody's release."""
    foreign = {name for name in imports(file) if name.split(".")[0] not in {*sys.stdlib_module_names, *PACKAGES}}
    assert not foreign


@pytest.mark.parametrize(
    "module", [name for name in QUICK if (ROOT / name.replace(".", "/")).with_suffix(".py").exists()]
)
def test_what_agents_start_loads_only_the_standard_library(module: str) -> None:
    """`send-relay` and the hooks start hundreds of times a day: no third-party module is loaded, even indirectly."""
    code = f"import sys; before = set(sys.modules); import {module}; print(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    foreign = {
        name for name in loaded.stdout.split() if name.split(".")[0] not in {*sys.stdlib_module_names, "matcore"}
    }
    assert not foreign


def test_the_top_folder_holds_only_what_is_allowed() -> None:
    """A new thing goes into a room; CONTRIBUTING.md says which."""
    assert {file.relative_to(ROOT).parts[0] for file in tracked()} - TOP == set()


def test_no_file_names_a_private_path() -> None:
    """Nothing in the repository knows whose machine it was written on."""
    found = []
    for file in tracked():
        text = file.read_bytes().decode(errors="replace")
        found += [
            f"{file.relative_to(ROOT)}: {match[0]}" for match in _PRIVATE.finditer(text) if file != Path(__file__)
        ]
    assert not found


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    """The wheel as it would be published, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(argv, cwd=ROOT, check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        yield archive


def test_the_wheel_installs_no_module_named_agents(wheel: zipfile.ZipFile) -> None:
    """The import name `agents` belongs to another package; tests and benchmarks stay at home as well."""
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_the_wheel_carries_profiles_and_prompts(wheel: zipfile.ZipFile) -> None:
    """Whoever installs mat has each profile and each prompt that a source checkout has."""
    data = {str(file.relative_to(ROOT / "agents")) for file in tracked() if file.is_relative_to(ROOT / "agents")}
    shipped = {
        name.removeprefix("matcore/_agents/") for name in wheel.namelist() if name.startswith("matcore/_agents/")
    }
    assert data <= shipped


def test_the_wheel_carries_its_licence_and_commands(wheel: zipfile.ZipFile) -> None:
    """The three commands are installed, and the licence comes along."""
    names = wheel.namelist()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    entries = wheel.read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
    assert {"mat = matcore.fast:main", "send-relay = matcore.said:send_relay_main"} <= set(entries.splitlines())
