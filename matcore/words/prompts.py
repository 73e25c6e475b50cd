"""Renders the role prompts: Markdown with `{{include shared/x.md}}` and `{{variables}}`, and nothing cleverer.

A prompt or an include is looked up in the project (`<workdir>/.mat/agents/`), then in the user's configuration
(`$XDG_CONFIG_HOME/mat/agents/`), then among the shipped ones; the first that is there counts, so that one shared rule
can be replaced without copying the prompts around it.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import matcore
from matcore.errors import BadConfig

_TAG = re.compile(r"\{\{\s*(?:include\s+(?P<include>[^{}]*?)|(?P<variable>[^{}]*?))\s*\}\}")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")


def shipped_agents() -> Path:
    """The prompts and profiles that come with mat: inside the wheel, or the repository's `agents/`."""
    package = Path(matcore.__file__).parent
    inside = package / "_agents"
    return inside if inside.is_dir() else package.parent / "agents"


def own_agents() -> Path:
    """The user's own prompts and profiles."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return config / "mat" / "agents"


def folders(workdir: Path) -> tuple[Path, ...]:
    """Where prompts, and profiles (below `backends/`), are looked up, first one first."""
    return (workdir / ".mat" / "agents", own_agents(), shipped_agents())


def render(name: str, *, workdir: Path, variables: Mapping[str, str]) -> str:
    """The prompt `name` (with or without `.md`) with its includes and variables filled in.

    Values are put in as they are: a tag inside of one stays text. Raises `BadConfig` with every fault: a prompt or
    include that is nowhere, one that includes itself, an unknown variable, a tag that is not closed.
    """
    faults: list[str] = []
    text = _filled(name if name.endswith(".md") else f"{name}.md", variables, folders(workdir), (), faults)
    if faults:
        raise BadConfig(dict.fromkeys(faults))
    return text.strip("\n") + "\n"


def _filled(
    name: str, variables: Mapping[str, str], where: Sequence[Path], above: tuple[str, ...], faults: list[str]
) -> str:
    by = f"{above[-1]}: " if above else ""
    if name in above:
        faults.append(f"{by}{{{{include {name}}}}} goes in a circle: {' > '.join((*above, name))}")
        return ""
    text = _found(name, where)
    if text is None:
        looked = ", ".join(str(folder) for folder in where)
        faults.append(f"{by}there is no prompt {name!r} (looked in {looked}){_meant(name, where)}")
        return ""

    def put(tag: re.Match[str]) -> str:
        if tag["include"] is not None:
            return _filled(tag["include"], variables, where, (*above, name), faults).strip("\n")
        if tag["variable"] not in variables:
            known = ", ".join(sorted(variables))
            faults.append(f"{name}: unknown variable {{{{{tag['variable']}}}}}; known are {known}, and include FILE")
            return ""
        return variables[tag["variable"]]

    if "{{" in _TAG.sub("", text):
        faults.append(f"{name}: a `{{{{` is never closed")
    return _TAG.sub(put, text)


def _meant(name: str, where: Sequence[Path]) -> str:
    """What else may have been meant."""
    known = {
        str(path.relative_to(folder)) for folder in where for path in (*folder.glob("*.md"), *folder.glob("*/*.md"))
    }
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f'; did you mean "{close[0].removesuffix(".md")}"?' if close else ""


def _found(name: str, where: Sequence[Path]) -> str | None:
    """The text of the first file of that name; None also for a name that leads out of the folders."""
    if not _NAME.fullmatch(name):
        return None
    path = next((folder / name for folder in where if (folder / name).is_file()), None)
    return None if path is None else path.read_text(encoding="utf-8")
