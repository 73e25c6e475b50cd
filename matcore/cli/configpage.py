"""`docs/duo-yaml.md`, drawn from the types that a configuration is read with: no key can be missing there or be wrong.

`python -m matcore.cli.configpage` prints the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from inspect import getdoc
from pathlib import Path
from typing import Annotated, get_args, get_origin, get_type_hints

import msgspec

from baton import runtimes
from matcore.engine import configtypes as types
from matcore.engine import drivers
from matcore.errors import BadConfig
from matcore.words import handoff
from matcore.words.figures import duration
from matcore.words.prompts import shipped_agents
from tmuxdriver import profile

_HEAD = """\
# Every key of `duo.yaml`

`mat init` writes a commented one, `mat up --dry-run` checks it: all faults at once, each with its line. Whatever is \
left out has its default; only `roles`, each with a `backend`, is needed. A key that is not here is refused, and so \
are anchors, tags and keys that come twice.

- **duration**: `45s`, `10m`, `1h30m`, `2d`, or a number of seconds.
- **size**: `8MiB`, `500kB`, or a number of bytes.
- **list**: `[a, b]`, or a line with `- ` for each.
- Words such as `no` and `on` are text here, as they were written. A key without a value (`goal:`) counts as left out.

A running session keeps what it began with: `mat up` says which keys have changed since. `mat down`, then `mat up` \
begins a new session with them: fresh agents, and the goal of the file is opened again.

```yaml
session: shop-duo
driver: tmux
roles:
  dev:    {backend: claude, prompt: duo-dev, kick: "Work on TASK.md"}
  review: {backend: codex, prompt: duo-review, permissions: default, env: [OPENAI_API_KEY]}
goal: "TASK.md is done and reviewed"
recovery: {window: 10m, gate_settle: 30s, progress_deadline: 6h}
handoff: {require: [issue], max_blocks: 3, gates: [], commands: []}
tmux: {socket: mat}
cycle: {max_rounds: 30}
notify: ["ntfy://my-topic", {command: [notify-send, mat]}]
heartbeat: https://example.org/ping/my-host
```
"""
_SECTIONS: tuple[tuple[str, type[msgspec.Struct]], ...] = (
    ("roles.NAME", types.Role),
    ("recovery", types.Recovery),
    ("handoff", types.Handoff),
    ("notify[]", types.NotifyCommand),
    ("cycle", types.Cycle),
    ("tmux", types.Tmux),
    ("baton", types.Baton),
)
_MIB = 1024 * 1024


def page() -> str:
    """The whole page but its first line."""
    known = _known()
    text = [_HEAD, "## At the top", "", *_table(types.SessionConfig)]
    for path, kind in _SECTIONS:
        text += ["", f"## `{path}`", "", " ".join((getdoc(kind) or "").split()), "", *_table(kind)]
    whole = "\n".join(text) + "\n"
    for name, said in known.items():
        whole = whole.replace(f"{{{name}}}", said)
    return whole


def _table(kind: type[msgspec.Struct]) -> Iterator[str]:
    yield "| key | value | default | what |"
    yield "| --- | --- | --- | --- |"
    for field, meta in fields(kind):
        title = str(meta.title)
        what = meta.description or f"See [below](#{field.name})."
        example = f" Example: `{field.name}: {meta.examples[0]}`" if meta.examples else ""
        yield f"| `{field.name}` | {title} | {_default(field, meta)} | {what}{example} |"


def fields(kind: type[msgspec.Struct]) -> Iterator[tuple[msgspec.structs.FieldInfo, msgspec.Meta]]:
    """Each key with what is said of it. Raises `KeyError` for a key of which nothing is."""
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        hint = hints[field.name]
        said = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        metas = [each for each in said if isinstance(each, msgspec.Meta)]
        if not metas:
            raise KeyError(f"{kind.__name__}.{field.name} has no Meta")
        yield field, metas[0]


def _default(field: msgspec.structs.FieldInfo, meta: msgspec.Meta) -> str:
    told = (meta.extra or {}).get("default")
    if told is not None:
        return str(told)
    if field.required:
        return "needed"
    if meta.title == types.SECTION:
        return "those below"
    return f"`{_written(field.default, str(meta.title))}`"


def _written(value: object, title: str) -> str:
    """As a person writes it."""
    if title == types.DURATION and isinstance(value, float):
        return duration(value)
    return f"{value // _MIB}MiB" if title == types.SIZE and isinstance(value, int) else str(value)


def _known() -> dict[str, str]:
    """What the text names without knowing it: profiles, prompts, checks, drivers, words for permissions."""
    folder = shipped_agents()
    backends = sorted(path.stem for path in folder.glob("backends/*.yaml"))
    return {
        "backends": _listed(backends),
        "prompts": _listed(sorted(path.stem for path in folder.glob("*.md"))),
        "checks": _listed(check.name for check in handoff.checks([])),
        "drivers": " or ".join(f"`{name}`" for name in drivers.names()),
        "permissions": "; ".join(said for backend in backends if (said := _permissions(folder, backend))),
    }


def _permissions(folder: Path, backend: str) -> str:
    """The words that a program has beside `default`, and those that it has in headless turns alone."""
    panes = set(profile.read(folder / "backends" / f"{backend}.yaml").launch.permissions) - {"default"}
    try:
        turns = set(runtimes.load(backend, folder.parent).permissions) - {"default"}
    except BadConfig:
        turns = set()
    text = _listed(sorted(panes & turns))
    for where, only in (("tmux", panes - turns), ("baton", turns - panes)):
        if only:
            text = f"{text}{', ' if text else ''}{_listed(sorted(only))} ({where} only)"
    return f"{backend} {text}" if text else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    sys.stdout.write(page())
